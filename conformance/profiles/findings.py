"""The findings page of a released program: a table of causes, and a section for each.

A cause is a known difference of the profile that reports show; its section has what was expected
and what happened, a run that shows it on all clusters where there is one, and a line of the source.
The same as a text for its maintainers is `issue_text`. Violations that the profile does not explain
stand above all others; those that a reading of the norm explains, below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from conformance.claims import load
from conformance.manifests.pod_templates import BEHAVIOUR
from conformance.norm.claim import Level
from conformance.norm.verdict import Outcome
from conformance.profiles.differences import (
    Sighting,
    by_cluster,
    evidence_of,
    in_one_line,
    judged_by,
    sightings,
    unexplained,
)
from conformance.profiles.profile import Difference, ImplementationProfile
from conformance.report.conformance_report import ConformanceReport
from conformance.report.counted import counted, first_few
from vocabulary.clock import format_seconds
from vocabulary.history import SUBMITTERS, Fault, Write, read_history
from vocabulary.objects import Object

_MOST_CLAIMS: Final = 4
_MOST_FAULTS: Final = 3
"""So many are named in a section; `--details` has all."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """One cause in the report of another cluster."""

    word: str
    """The cluster, as pages call it."""
    shown: frozenset[str]
    """The scenarios that show it there."""
    run: int
    """How many of the scenarios that show it here were run there."""

    def __str__(self) -> str:
        if self.shown:
            return str(len(self.shown))
        return f"not reproduced in {self.run}" if self.run else "not run there"


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, with where reports show it."""

    id: str
    cause: Difference
    seen: tuple[Sighting, ...]
    elsewhere: tuple[Elsewhere, ...]

    @property
    def claims(self) -> list[str]:
        """The claims that it violates."""
        return sorted({each.claim.id for each in self.seen})

    @property
    def scenarios(self) -> frozenset[str]:
        return frozenset(each.test.scenario for each in self.seen)

    @property
    def example(self) -> Sighting:
        """The simplest run that shows it, of those that show it on other clusters, too, if there
        are any; of its violations the first."""
        everywhere = self.scenarios.intersection(*(each.shown for each in self.elsewhere))
        among = [each for each in self.seen if each.test.scenario in everywhere] or self.seen
        run = min(among, key=lambda each: each.simplicity).test
        same = [each for each in self.seen if each.test.history_sha256 == run.history_sha256]
        return min(same, key=lambda each: each.position)

    @property
    def decisions(self) -> list[str]:
        """The ids of Assay's decisions, if all that it violates is Assay's reading of a silence."""
        of_id = {claim.id: claim for claim in load()}
        found = [of_id[claim] for claim in self.claims if claim in of_id]
        is_read = all(each.level in (Level.DERIVED, Level.PROVISIONAL) for each in found)
        return sorted({each.id for claim in found for each in claim.decisions if is_read})


def findings(
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: Iterable[ConformanceReport] = (),
) -> list[Finding]:
    """The causes that a report shows, or one beside it of another cluster, in the profile's order.

    The first that only others show have their runs instead.
    """
    others = by_cluster(beside)
    found = []
    for number, cause in enumerate(profile.known_differences, 1):
        there = {word: tuple(sightings(each, profile, cause)) for word, each in others.items()}
        seen = tuple(sightings(report, profile, cause))
        if not seen and not any(there.values()):
            continue
        scenarios = {each.test.scenario for each in seen}
        elsewhere = tuple(
            Elsewhere(
                word,
                frozenset(each.test.scenario for each in there[word]),
                len(scenarios & _scenarios(other)),
            )
            for word, other in others.items()
        )
        shown = seen or next(each for each in there.values() if each)
        found.append(Finding(cause.id or f"cause-{number}", cause, shown, elsewhere))
    return found


def _scenarios(report: ConformanceReport) -> frozenset[str]:
    return frozenset(test.scenario for claim in report.claims for test in claim.tests)


def findings_page(
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: Iterable[ConformanceReport] = (),
    literal: ConformanceReport | None = None,
) -> str:
    """The page, in Markdown. `literal` is a report of the same cluster by another edition: causes
    that it alone shows follow in a part of their own. Of the reports `beside` those of that edition
    belong to it."""
    edition, others = judged_by(report, profile), list(beside)
    same = [each for each in others if judged_by(each, profile) == edition]
    found = findings(report, profile, same)
    ids = {each.id for each in found}
    rest = [each for each in others if judged_by(each, profile) != edition]
    by_letter = [] if literal is None else findings(literal, profile, rest)
    more = [each for each in by_letter if each.id not in ids]
    return "\n".join(_page(report, profile, same, found, more)) + "\n"


def _page(
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: Sequence[ConformanceReport],
    found: Sequence[Finding],
    by_letter: Sequence[Finding],
) -> Iterator[str]:
    yield from opening(report, profile, by_cluster(beside))
    bugs = [each for each in found if each.cause.fault == "implementation"]
    readings = [each for each in found if each.cause.fault != "implementation"]
    decided = [each for each in bugs if each.decisions]
    yield ""
    told = f"{counted(len(bugs), 'cause')} in the program"
    if decided:
        told += f", {len(decided)} of them by decisions of Assay where the norm is silent"
    issue = f"assay profile findings {profile.name} REPORT --issue CAUSE"
    yield f"{told}. `assay run SCENARIO {_options(report, profile)}` shows a cause on its scenario,"
    yield f"`{issue}` prints it as an issue, with manifests and steps, and `--details` prints all"
    yield "evidence."
    if missing := unexplained(report, profile, beside):
        yield ""
        yield f"**Not explained yet**: {first_few(missing, 12)}."
    words = [each.word for each in found[0].elsewhere] if found else []
    yield ""
    yield "| " + " | ".join(("cause", "claims", "scenarios", *words)) + " |"
    yield "|" + "---|" * (3 + len(words))
    for each in bugs:
        cells = [f"[{each.id}](#{each.id})", first_few(each.claims, _MOST_CLAIMS)]
        cells += [str(len(each.scenarios)), *map(str, each.elsewhere)]
        yield f"| {' | '.join(cells)} |"
    for each in bugs:
        yield ""
        yield from _section(each)
    if readings:
        yield ""
        yield "## Where the text can be read in another way"
        for each in readings:
            yield ""
            yield f"- **{each.id}** ({', '.join(each.claims)}): {_because(each)}"
    if by_letter:
        yield ""
        yield "## By the letter of the norm, also"
        for each in by_letter:
            yield ""
            yield f"- **{each.id}** ({', '.join(each.claims)}): {_because(each)}"
            yield f"  `{each.example.command}`; {'; '.join(_clusters(each))}"
    inconclusive = [c.id for c in report.claims if c.outcome is Outcome.INCONCLUSIVE]
    left = [counted(len(report.errors), "run")] if report.errors else []
    left += [f"the claims {', '.join(inconclusive)}"] if inconclusive else []
    if left:
        yield ""
        yield f"Not judged to the end: {' and '.join(left)}; `--details` has the reasons."


def opening(
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: Mapping[str, ConformanceReport],
    option: str = "",
) -> Iterator[str]:
    """The title, and how the report was made."""
    made, environment = profile.implementation, report.environment
    outcomes = [claim.outcome for claim in report.claims]
    counts = ", ".join(f"{outcomes.count(o)} {o}" for o in reversed(Outcome) if o in outcomes)
    commit = f", commit {report.suite.commits[:12]}" if report.suite.commits else ""
    words = ["assay profile findings", profile.name, "REPORT", option]
    yield f"# Findings: {made.project} {made.version}"
    yield ""
    yield f"[{made.organization}/{made.project}]({made.url}) {made.version}, {_where(report)}"
    yield f"(Kubernetes {environment.kubernetes_version}), on {report.date[:10]} by Assay"
    yield f"{report.suite.version}{commit}: {len(report.claims)} claims, {counts}."
    for word, other in beside.items():
        run = counted(len(_scenarios(other)), "scenario")
        yield f"The column *{word}* has the verdicts of {run} there."
    yield f"Generated by `{' '.join(filter(None, words))}` from the report of"
    yield ""
    yield "```sh"
    yield report.reproduce.command
    yield "```"


def _where(report: ConformanceReport) -> str:
    environment = report.environment
    if environment.cluster == "simulated":
        return "run in virtual time"
    run = "installed in" if environment.operator == "installed" else "run as a process on"
    return f"{run} the cluster {environment.cluster}"


def _options(report: ConformanceReport, profile: ImplementationProfile) -> str:
    """The options that select cluster, program and edition of all runs."""
    words = report.reproduce.command.split()
    given = [" ".join(words[n : n + 2]) for n, each in enumerate(words) if each == "--edition"]
    cluster = report.environment.cluster
    where = [] if cluster == "simulated" else [f"--cluster {cluster}"]
    return " ".join([f"--implementation {profile.name}", *given, *where])


def _section(finding: Finding) -> Iterator[str]:
    example = finding.example
    decided = f" (decision {', '.join(finding.decisions)})" if finding.decisions else ""
    yield f"## {finding.id}"
    yield ""
    yield f"Expected{decided}: {in_one_line(example.claim.text)}"
    yield f"Happened: {_happened(example)}"
    yield ""
    yield f"{_because(finding)}"
    yield ""
    yield f"- `{example.test.scenario}`: {_faults(example)}"
    yield f"- {'; '.join(_clusters(finding))}"
    if finding.cause.issue:
        yield f"- Upstream: {finding.cause.issue}"


def _happened(sighting: Sighting) -> str:
    return in_one_line(evidence_of(sighting.test))


def _because(finding: Finding) -> str:
    cause, link = in_one_line(finding.cause.because), finding.cause.link
    if not link:
        return cause
    return f"{cause} ([{link.rpartition('/')[2]}]({link}))"


def _faults(sighting: Sighting) -> str:
    return first_few(sighting.test.faults, _MOST_FAULTS) or "no fault"


def _clusters(finding: Finding) -> Iterator[str]:
    """Where it is seen, and why not elsewhere."""
    here = "virtual time" if finding.example.cluster == "simulated" else finding.example.cluster
    shown = [each.word for each in finding.elsewhere if each.shown]
    is_same = all(finding.example.test.scenario in each.shown for each in finding.elsewhere)
    if not finding.elsewhere:
        yield f"seen in {here}; no report of another cluster was beside"
    elif shown and is_same:
        yield f"the same on the {' and the '.join(shown)}"
    elif shown:
        yield f"on the {' and the '.join(shown)} in other scenarios"
    else:
        yield f"only in {here}"
    for each in finding.elsewhere:
        if not each.shown:
            yield f"{each.word}: {each}"
    if finding.cause.varies and any(each.run and not each.shown for each in finding.elsewhere):
        yield in_one_line(finding.cause.varies)


def issue_text(finding: Finding, report: ConformanceReport, folder: Path) -> str:
    """A finding as a text for the issue tracker of the program.

    Manifests and times of its steps are those of the run's history, if the report's folder has it.
    """
    return "\n".join(_issue(finding, report, folder)) + "\n"


def _issue(finding: Finding, report: ConformanceReport, folder: Path) -> Iterator[str]:
    example, made = finding.example, report.implementation
    yield f"# {finding.id.replace('-', ' ').capitalize()}"
    yield ""
    kubernetes = report.environment.kubernetes_version
    yield f"**Version**: {made.project} {made.version}, Kubernetes {kubernetes}"
    yield ""
    yield f"**Expected**: {in_one_line(example.claim.text)} ({example.claim.source})"
    yield ""
    yield f"**Happened**: {_happened(example)}"
    yield ""
    yield "**Steps**"
    yield ""
    history = folder / example.test.history
    if example.test.history and history.is_file():
        yield from _steps(history, example.position)
    else:
        yield from (f"{n}. {each}" for n, each in enumerate(example.test.faults, 1))
    yield ""
    yield f"**Cause**: {_because(finding)}"
    yield ""
    yield f"**How it was found**: {'; '.join(_clusters(finding))}, by Assay: `{example.command}`"


def _steps(history: Path, until: int) -> Iterator[str]:
    """The user's manifests and the faults up to a position, in order."""
    number, has_behaviours = 0, False
    for entry in read_history(history).entries:
        if until and entry.n > until:
            break
        if isinstance(entry, Write) and entry.actor in SUBMITTERS and entry.event == "ADDED":
            number += 1
            yield f"{number}. After {format_seconds(entry.t)} apply:"
            yield ""
            text = yaml.safe_dump(_manifest(entry), sort_keys=False, width=100)
            has_behaviours |= BEHAVIOUR in text
            yield "   ```yaml"
            yield from (f"   {line}" for line in text.splitlines())
            yield "   ```"
        elif isinstance(entry, Fault) and entry.action != "refused":
            number += 1
            undone = "undo: " if entry.action == "reverted" else ""
            yield f"{number}. After {format_seconds(entry.t)} {undone}{entry.text}"
    if has_behaviours:
        yield ""
        yield f"The annotation `{BEHAVIOUR}` tells what a container does."


def _manifest(created: Write) -> Object:
    found = dict(created.submitted or created.object or {})
    metadata = found.get("metadata") or {}
    kept = ("name", "generateName", "namespace", "labels", "annotations", "finalizers")
    found["metadata"] = {key: metadata[key] for key in kept if metadata.get(key)}
    found.pop("status", None)
    return found
