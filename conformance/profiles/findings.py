"""The findings page of a released program: its violations, with their causes.

All evidence comes from the report; the profile's `knownDifferences` add the cause and the fault,
which no run can show. A violation that the profile does not explain is shown prominently, and a
difference that no longer shows is listed at the end.
"""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Final

from conformance import editions
from conformance.norm.verdict import Outcome
from conformance.profiles.profile import Difference, ImplementationProfile, Origin
from conformance.report.agreement import together
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.counted import counted
from conformance.report.run_result import Implementation
from vocabulary.clock import Micros, format_seconds
from vocabulary.durations import parse_duration
from vocabulary.history import read_history

FAULTS: Final = {
    "implementation": "the implementation",
    "text": "the text, which can be read in another way than Assay's decision",
    "suite": "the suite, which sees a violation where there is none",
}
SHOWN_ON: Final[Mapping[str, str]] = {
    "simulated": "virtual time",
    "control-plane": "control plane",
}
"""By cluster, as pages call it; others by their names."""
MOST_SCENARIOS: Final = 12
"""So many are named; the report has all."""


def violated(report: ConformanceReport) -> list[ClaimReport]:
    """The claims that the report says are violated, in its order."""
    return [claim for claim in report.claims if claim.outcome is Outcome.FAILED]


def unexplained(
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: Iterable[ConformanceReport] = (),
) -> list[str]:
    """The violations of which the profile does not say who is at fault: `AW-001 in SCENARIO`, and
    `AW-001 in SCENARIO on CLUSTER` of those in reports `beside` it."""
    found = [(report, "")]
    found += [(each, f" on {each.environment.cluster}") for each in by_cluster(beside).values()]
    return [
        f"{claim.id} in {test.scenario}{where}"
        for each, where in found
        for claim in violated(each)
        for test in _unexplained(claim, profile)
    ]


def another_implementation(report: ConformanceReport, profile: ImplementationProfile) -> str | None:
    """The report's implementation, if it is not the profile's."""
    told, made = report.implementation, profile.implementation
    if (told.organization, told.project, told.version) == (
        made.organization,
        made.project,
        made.version,
    ):
        return None
    return spelled(told)


def spelled(made: Implementation | Origin) -> str:
    """An implementation and its version: `organization/project v1.0.0`."""
    return f"{made.organization}/{made.project} {made.version}"


def slack_of_histories(report: ConformanceReport, folder: Path) -> dict[str, Micros]:
    """How slow the machine was in each stored run, by the history's path in the report."""
    named = {test.history for claim in report.claims for test in claim.tests} - {""}
    there = sorted(name for name in named if (folder / name).is_file())
    headers = ((name, read_history(folder / name).header) for name in there)
    return {name: header.facts.slack_us or 0 for name, header in headers}


def edition_of(report: ConformanceReport) -> str:
    """The edition that was asked for; empty: the default one."""
    words = shlex.split(report.reproduce.command)
    return words[words.index("--edition") + 1] if "--edition" in words else ""


def judged_by(report: ConformanceReport, profile: ImplementationProfile) -> str:
    """The edition of the profile's suite whose claims the report judged; empty if it has none."""
    return editions.edition_of(profile.suite, report.suite.editions)


def command_of(
    test: ClaimTest, *, cluster: str, release: str, edition: str, seed: int | None = None
) -> str:
    """The command that makes the same run of a release."""
    words = ["assay", "run", test.scenario]
    words += [] if cluster == "simulated" else ["--cluster", cluster]
    words += ["--implementation", release]
    words += ["--edition", edition] if edition else []
    words += [] if seed is None else ["--seed", str(seed)]
    return shlex.join(words)


def by_cluster(reports: Iterable[ConformanceReport]) -> dict[str, ConformanceReport]:
    """The reports of each cluster as one, by the word for the cluster. Later verdicts count."""
    found: dict[str, ConformanceReport] = {}
    for report in reports:
        word = _shown_on(report)
        found[word] = together(found[word], report) if word in found else report
    return found


def findings_page(
    report: ConformanceReport,
    profile: ImplementationProfile,
    slack: Mapping[str, Micros] = MappingProxyType({}),
    beside: Iterable[ConformanceReport] = (),
) -> str:
    """The page, in Markdown; `slack` is by history, of those that are there.

    Each finding tells what the reports `beside` it, of other clusters, say of the claim.
    """
    return "\n".join(_page(report, profile, slack, by_cluster(beside))) + "\n"


def _page(
    report: ConformanceReport,
    profile: ImplementationProfile,
    slack: Mapping[str, Micros],
    beside: Mapping[str, ConformanceReport],
) -> Iterator[str]:
    found = violated(report)
    outcomes = [claim.outcome for claim in report.claims]
    made = profile.implementation
    yield f"# Findings: {made.project} {made.version}"
    yield ""
    yield f"What Assay's claims say of [{made.organization}/{made.project}]({made.url})"
    yield f"{made.version}, {_where(report)}"
    yield f"(Kubernetes {report.environment.kubernetes_version}) with the profile `{profile.name}`."
    yield f"Generated by `assay profile findings {profile.name} REPORT` from the report of"
    yield ""
    yield "```sh"
    yield report.reproduce.command
    yield "```"
    yield ""
    yield _made(report)
    for word, other in beside.items():
        run = {test.scenario for claim in other.claims for test in claim.tests}
        yield ""
        yield f"The column *{word}* has the verdicts of {counted(len(run), 'scenario')} there."
    yield ""
    counts = ", ".join(f"{outcomes.count(o)} {o}" for o in reversed(Outcome) if o in outcomes)
    yield f"{len(report.claims)} claims: {counts}."
    debatable = [claim for claim in found if _is_debatable(claim, profile)]
    if debatable:
        named = ", ".join(claim.id for claim in debatable)
        yield ""
        yield "If the text is read in another way than Assay decided, these hold:"
        yield f"{named}. They are listed below the others."
    found = [claim for claim in found if claim not in debatable] + debatable
    yield from _allowances(profile, slack)
    yield ""
    yield "| " + " | ".join(("claim", "name", "at fault", "scenarios", *beside)) + " |"
    yield "|" + "---|" * (4 + len(beside))
    for claim in found:
        faults = [FAULTS[each.fault].split(",")[0] for each in _reasons(claim, profile)]
        faults += ["unexplained"] if _unexplained(claim, profile) else []
        fault = ", ".join(dict.fromkeys(faults))
        seen = [_share(claim.tests), *(_share(_tests(it, claim.id)) for it in beside.values())]
        cells = (f"[{claim.id}](#{claim.id.lower()})", claim.name, fault, *seen)
        yield f"| {' | '.join(cells)} |"
    for claim in found:
        if debatable and claim is debatable[0]:
            yield ""
            yield "# Where the text can be read in another way"
        yield ""
        yield from _finding(claim, report, profile, slack, beside)
    for word, other in beside.items():
        yield from _only_beside(word, other, profile, {claim.id for claim in found})
    yield from _not_judged(report, profile)
    of_others = [claim for other in beside.values() for claim in violated(other)]
    yield from _not_seen(profile, [*found, *of_others])


def _where(report: ConformanceReport) -> str:
    environment = report.environment
    if environment.cluster == "simulated":
        return "run as a process on the simulated cluster, in virtual time"
    run = "installed in" if environment.operator == "installed" else "run as a process on"
    return f"{run} the cluster {environment.cluster}"


def _shown_on(report: ConformanceReport) -> str:
    return SHOWN_ON.get(report.environment.cluster, report.environment.cluster)


def _tests(report: ConformanceReport, claim: str) -> Sequence[ClaimTest]:
    return next((each.tests for each in report.claims if each.id == claim), ())


def _violation(report: ConformanceReport, claim: str) -> ClaimReport | None:
    return next((each for each in violated(report) if each.id == claim), None)


def _share(tests: Sequence[ClaimTest]) -> str:
    """`3 of 17`: scenarios in which a claim is violated, of those in which it was judged."""
    bad = sum(test.outcome is Outcome.FAILED for test in tests)
    return f"{bad} of {len(tests)}" if tests else "not judged"


def _made(report: ConformanceReport) -> str:
    commit = f", commit {report.suite.commits}" if report.suite.commits else ""
    return f"made on {report.date[:10]} by Assay {report.suite.version}{commit}."


def _allowances(profile: ImplementationProfile, slack: Mapping[str, Micros]) -> Iterator[str]:
    told = profile.detection
    yield ""
    yield "Assay allows for delays of the operator and the machine:"
    yield ""
    if told.poke_every:
        yield f"- The operator polls. Assay edits what is tested every {told.poke_every}."
    if told.polls_every:
        yield (
            f"- Where a scenario edits nothing, the operator reconciles every {told.polls_every} "
            "by itself."
        )
    yield f"- It may react {told.latency} after that, and as much later as the machine was slow."
    if slack:
        usual_us, most_us = int(median(slack.values())), max(slack.values())
        yield (
            f"- In these runs the machine was slow by {_seconds(usual_us)} (median), at most "
            f"{_seconds(most_us)}."
        )
        spans = (told.latency, told.poke_every, told.clock_resolution)
        always_us = sum(parse_duration(span) for span in spans if span)
        yield (
            f"- Each reaction was allowed {_seconds(always_us + usual_us)} (median), at most "
            f"{_seconds(always_us + most_us)}. Each violation tells its own."
        )
    if told.clock_resolution:
        early = told.clock_resolution
        yield f"- Timers may expire {early} early, since they count from whole seconds."
    granted = [resource for grant in profile.manifests.grants for resource in grant.resources]
    if granted:
        yield f"- Assay grants {', '.join(granted)}, which scenarios wrap and its own roles lack."


def _finding(
    claim: ClaimReport,
    report: ConformanceReport,
    profile: ImplementationProfile,
    slack: Mapping[str, Micros],
    beside: Mapping[str, ConformanceReport],
) -> Iterator[str]:
    failing = failing_tests(claim)
    # Of equally simple ones that which least can be blamed on the machine.
    simplest = min(
        failing,
        key=lambda t: (len(t.faults), slack.get(t.history, 0), t.virtual_seconds, t.name),
    )
    yield f"## {claim.id}"
    yield ""
    yield f"**{claim.text}** ({claim.level}, {claim.name})"
    yield ""
    yield f"— {claim.source}"
    yield ""
    for each in _reasons(claim, profile):
        link = f" ([source]({each.link}))" if each.link else ""
        yield f"- **At fault**: {FAULTS[each.fault]}. {_line(each.because)}{link}"
    if missing := _unexplained(claim, profile):
        yield f"- **At fault**: not decided yet, in {_names(missing)}"
    seen = _evidence(simplest)
    late_us = slack.get(simplest.history)
    slow = "" if late_us is None else f" The machine was slow by {_seconds(late_us)}."
    yield f"- **Evidence**: {_line(seen)}{slow}"
    faults = "; ".join(simplest.faults) or "none"
    yield f"- **Smallest plan**: `{simplest.scenario}`, seed {simplest.seed}, faults: {faults}."
    command = command_of(
        simplest,
        cluster=report.environment.cluster,
        release=profile.name,
        edition=edition_of(report),
        seed=simplest.seed,
    )
    yield f"  `{command}` shows it."
    yield f"- **Seen in** {len(failing)} of {len(claim.tests)} scenarios: {_names(failing)}"
    for word, other in beside.items():
        there = _seen_beside(_tests(other, claim.id), failing)
        not_known = _not_explained_in(_violation(other, claim.id), profile)
        yield f"- **On the {word}**: {' '.join((there, *not_known))}"


def _seen_beside(tests: Sequence[ClaimTest], failing: Sequence[ClaimTest]) -> str:
    """The verdicts of another cluster on the claim, for those who ask if it is reproduced."""
    if not tests:
        return "not judged."
    also = [test for test in tests if test.outcome is Outcome.FAILED]
    if not also:
        return f"not reproduced, in {counted(len(tests), 'scenario')}."
    same = {test.scenario for test in also} & {test.scenario for test in failing}
    return f"violated in {_share(tests)} scenarios, of which {len(same)} are among these."


def _only_beside(
    word: str, other: ConformanceReport, profile: ImplementationProfile, found: Container[str]
) -> Iterator[str]:
    only = [claim for claim in violated(other) if claim.id not in found]
    if not only:
        return
    yield ""
    yield f"## Violated on the {word} alone"
    yield ""
    for claim in only:
        causes = [_line(each.because) for each in _reasons(claim, profile)]
        causes += _not_explained_in(claim, profile) if causes else ["Not explained yet."]
        yield f"- {claim.id} ({claim.name}), in {_names(failing_tests(claim))} {' '.join(causes)}"


def _not_explained_in(claim: ClaimReport | None, profile: ImplementationProfile) -> list[str]:
    """A sentence that names scenarios whose violations the profile does not explain, if any."""
    missing = [] if claim is None else _unexplained(claim, profile)
    return [f"Not explained yet in {_names(missing)}"] if missing else []


def _not_judged(report: ConformanceReport, profile: ImplementationProfile) -> Iterator[str]:
    inconclusive = [c for c in report.claims if c.outcome is Outcome.INCONCLUSIVE]
    if not (inconclusive or profile.lacks or report.errors):
        return
    yield ""
    yield "## What was not judged"
    yield ""
    for lack in profile.lacks:
        named = ", ".join((*lack.claims, *lack.scenarios))
        yield f"- {lack.feature} ({named}): {_line(lack.because)}"
    for claim in inconclusive:
        yield f"- {claim.id} is inconclusive: {_line(claim.reason)}"
    for error in report.errors:
        yield f"- `{error.name}` broke off: {_line(error.error)}"


def _not_seen(profile: ImplementationProfile, found: Sequence[ClaimReport]) -> Iterator[str]:
    seen = {(claim.id, id(known)) for claim in found for known in _reasons(claim, profile)}
    stale = [
        (missing, known.because)
        for known in profile.known_differences
        if (missing := [claim for claim in known.claims if (claim, id(known)) not in seen])
    ]
    if not stale:
        return
    yield ""
    yield "## Known differences that no report shows"
    yield ""
    for missing, because in stale:
        yield f"- {', '.join(missing)}: {_line(because)}"


def _reasons(claim: ClaimReport, profile: ImplementationProfile) -> list[Difference]:
    """Why it is violated where it is, in the profile's words; there may be several reasons."""
    failing = failing_tests(claim)
    return [
        known
        for known in profile.known_differences
        if any(explains(known, claim.id, test) for test in failing)
    ]


def _unexplained(claim: ClaimReport, profile: ImplementationProfile) -> list[ClaimTest]:
    """Where it is violated and no reason of the profile's is of that scenario."""
    return [
        test
        for test in failing_tests(claim)
        if not any(explains(known, claim.id, test) for known in profile.known_differences)
    ]


def explains(known: Difference, claim: str, test: ClaimTest) -> bool:
    """True if the profile names this reason for the claim in that run and the violation there
    shows it."""
    patterns = known.scenarios or (() if known.variants else ("*",))
    is_named = any(fnmatchcase(test.scenario, each) for each in patterns) or any(
        fnmatchcase(test.variant, each) for each in known.variants
    )
    if claim not in known.claims or not is_named:
        return False
    evidence = _evidence(test)
    return not known.shown_by or any(phrase in evidence for phrase in known.shown_by)


def _evidence(test: ClaimTest) -> str:
    """The text of the first violation of a test."""
    return test.because if test.first_violation is None else test.first_violation.because


def _is_debatable(claim: ClaimReport, profile: ImplementationProfile) -> bool:
    """True if every violation of the claim is explained by a reading of the text alone."""
    reasons = _reasons(claim, profile)
    is_known = bool(reasons) and not _unexplained(claim, profile)
    return is_known and all(each.fault == "text" for each in reasons)


def failing_tests(claim: ClaimReport) -> list[ClaimTest]:
    """The scenarios in which a claim is violated."""
    return [test for test in claim.tests if test.outcome is Outcome.FAILED]


def _names(tests: Iterable[ClaimTest]) -> str:
    names = sorted({test.scenario.partition("/")[2] for test in tests})
    more = f" and {len(names) - MOST_SCENARIOS} more" if len(names) > MOST_SCENARIOS else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_SCENARIOS]) + more + "."


def _seconds(span_us: Micros) -> str:
    return format_seconds(round(span_us, -5))


def _line(text: str) -> str:
    return " ".join(text.split())
