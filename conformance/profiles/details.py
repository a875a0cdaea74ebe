"""All evidence for the findings about a released program, claim by claim.

`assay profile findings … --details` prints it; the page with the causes is `findings`. A violation
that the profile does not explain is shown prominently.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Final

from conformance.norm.verdict import Outcome
from conformance.profiles.differences import (
    FAULTS,
    by_cluster,
    command_of,
    edition_of,
    evidence_of,
    failing_tests,
    in_one_line,
    reasons_of,
    unexplained_in,
    violated,
)
from conformance.profiles.findings import findings, opening
from conformance.profiles.profile import ImplementationProfile
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.counted import counted, first_few
from vocabulary.clock import Micros, format_seconds
from vocabulary.durations import parse_duration
from vocabulary.history import read_history

MOST_SCENARIOS: Final = 12
"""So many are named; the report has all."""


def slack_of_histories(report: ConformanceReport, folder: Path) -> dict[str, Micros]:
    """How slow the machine was in each stored run, by the history's path in the report."""
    named = {test.history for claim in report.claims for test in claim.tests} - {""}
    there = sorted(name for name in named if (folder / name).is_file())
    headers = ((name, read_history(folder / name).header) for name in there)
    return {name: header.facts.slack_us or 0 for name, header in headers}


def details_page(
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
    yield from opening(report, profile, beside, "--details")
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
        faults = [FAULTS[each.fault].split(",")[0] for each in reasons_of(claim, profile)]
        faults += ["unexplained"] if unexplained_in(claim, profile) else []
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
    yield from _not_seen(report, profile, list(beside.values()))


def _tests(report: ConformanceReport, claim: str) -> Sequence[ClaimTest]:
    return next((each.tests for each in report.claims if each.id == claim), ())


def _violation(report: ConformanceReport, claim: str) -> ClaimReport | None:
    return next((each for each in violated(report) if each.id == claim), None)


def _share(tests: Sequence[ClaimTest]) -> str:
    """`3 of 17`: scenarios in which a claim is violated, of those in which it was judged."""
    bad = sum(test.outcome is Outcome.FAILED for test in tests)
    return f"{bad} of {len(tests)}" if tests else "not judged"


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
    for each in reasons_of(claim, profile):
        link = f" ([source]({each.link}))" if each.link else ""
        yield f"- **At fault**: {FAULTS[each.fault]}. {in_one_line(each.because)}{link}"
    if missing := unexplained_in(claim, profile):
        yield f"- **At fault**: not decided yet, in {_names(missing)}"
    seen = evidence_of(simplest)
    late_us = slack.get(simplest.history)
    slow = "" if late_us is None else f" The machine was slow by {_seconds(late_us)}."
    yield f"- **Evidence**: {in_one_line(seen)}{slow}"
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
        causes = [in_one_line(each.because) for each in reasons_of(claim, profile)]
        causes += _not_explained_in(claim, profile) if causes else ["Not explained yet."]
        yield f"- {claim.id} ({claim.name}), in {_names(failing_tests(claim))} {' '.join(causes)}"


def _not_explained_in(claim: ClaimReport | None, profile: ImplementationProfile) -> list[str]:
    """A sentence that names scenarios whose violations the profile does not explain, if any."""
    missing = [] if claim is None else unexplained_in(claim, profile)
    return [f"Not explained yet in {_names(missing)}"] if missing else []


def _not_judged(report: ConformanceReport, profile: ImplementationProfile) -> Iterator[str]:
    inconclusive = [c for c in report.claims if c.outcome is Outcome.INCONCLUSIVE]
    if not (inconclusive or profile.lacks or report.errors):
        return
    yield ""
    yield "## What was not judged"
    yield ""
    for lack in profile.lacks:
        named = list(lack.claims)
        named += [counted(len(lack.scenarios), "scenario")] if lack.scenarios else []
        yield f"- {lack.feature} ({', '.join(named)}): {in_one_line(lack.because)}"
    for claim in inconclusive:
        yield f"- {claim.id} is inconclusive: {in_one_line(claim.reason)}"
    broke_off: defaultdict[str, list[str]] = defaultdict(list)
    for error in report.errors:
        broke_off[in_one_line(error.error)].append(f"`{error.name}`")
    for why, names in broke_off.items():
        yield f"- {first_few(names, MOST_SCENARIOS)} broke off: {why}"


def _not_seen(
    report: ConformanceReport, profile: ImplementationProfile, beside: Sequence[ConformanceReport]
) -> Iterator[str]:
    """The known differences that no report shows, of claims that were judged."""
    shown = {id(each.cause) for each in findings(report, profile, beside)}
    judged = {claim.id for claim in report.claims}
    stale = [
        known
        for known in profile.known_differences
        if id(known) not in shown and judged.intersection(known.claims)
    ]
    if not stale:
        return
    yield ""
    yield "## Known differences that no report shows"
    yield ""
    for known in stale:
        yield f"- {', '.join(known.claims)}: {in_one_line(known.because)}"


def _is_debatable(claim: ClaimReport, profile: ImplementationProfile) -> bool:
    """True if every violation of the claim is explained by a reading of the text alone."""
    reasons = reasons_of(claim, profile)
    is_known = bool(reasons) and not unexplained_in(claim, profile)
    return is_known and all(each.fault == "text" for each in reasons)


def _names(tests: Iterable[ClaimTest]) -> str:
    names = sorted({test.scenario.partition("/")[2] for test in tests})
    more = f" and {len(names) - MOST_SCENARIOS} more" if len(names) > MOST_SCENARIOS else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_SCENARIOS]) + more + "."


def _seconds(span_us: Micros) -> str:
    return format_seconds(round(span_us, -5))
