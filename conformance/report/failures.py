"""Failures: the entries of histories that contradict claims, each with all claims it contradicts.

One wrong write may break many claims. It is one failure, shown once, and stands for each of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.build import worst_of
from conformance.report.conformance_report import ClaimReport, ConformanceReport, ShrunkTest
from conformance.report.run_result import RunResult, test_name

FURTHER_NAME: Final = "further"
MAX_PAGES_PER_CLAIM: Final = 3
MAX_PAGES: Final = 100
_FAR: Final = 2**62
"""Later than any entry of a history that was kept."""


class Row(NamedTuple):
    """One claim, one test that violates it, and the first entry that does."""

    claim: str
    name: str
    seed: int
    at: int = _FAR
    is_kept: bool = True
    """False if the history was not kept."""
    shrunk: str = ""
    """The history that the failure was shrunk to."""


class Contradiction(NamedTuple):
    """An entry of a test's history, and the claims that it is the first to contradict."""

    name: str
    seed: int
    claims: tuple[str, ...]
    """Sorted."""
    shrunk: str
    """The claim whose shrunk run shows it; empty: the run that was found does."""
    shown_for: tuple[str, ...] = ()
    """The claims of which this is the failure to look at first; empty for a further one."""
    further: int = 0
    """How many more tests violate the claims that it is shown for."""


class FailureFiles(NamedTuple):
    """A failure, the name of its page and plan without suffix, and whether it gets a page."""

    entry: Contradiction
    stem: str
    has_page: bool


def violated(runs: Iterable[RunResult], claims: Container[str]) -> Iterator[Row]:
    """A row per claim and scenario: its worst run."""
    by_scenario: dict[tuple[str, str, int], list[tuple[RunResult, Verdict]]] = {}
    for run in runs:
        for verdict in run.verdicts:
            if verdict.outcome is Outcome.FAILED and verdict.claim in claims:
                key = (verdict.claim, run.scenario, run.seed)
                by_scenario.setdefault(key, []).append((run, verdict))
    for (claim, _, seed), judged in by_scenario.items():
        run, verdict = worst_of(judged)
        yield Row(claim, test_name(run), seed, first_entry(verdict), bool(run.entries))


def violated_in(report: ConformanceReport, claims: Container[str]) -> Iterator[Row]:
    """The same, of a report."""
    for claim in report.claims:
        if claim.id in claims:
            yield from _rows_of(claim)


def _rows_of(claim: ClaimReport) -> Iterator[Row]:
    shrunk = {} if (small := claim.shrunk) is None else {(small.scenario, small.seed): small}
    for test in claim.tests:
        if test.outcome is Outcome.FAILED:
            small = shrunk.get((test.scenario, test.seed))
            yield Row(
                claim.id,
                test.name,
                test.seed,
                _FAR if test.first_violation is None else test.first_violation.position,
                bool(test.history),
                "" if small is None else small.history,
            )


def first_entry(verdict: Verdict) -> int:
    """The position of the first entry that contradicts the claim."""
    return min((violation.at for violation in verdict.violations), default=_FAR)


def by_entry(verdicts: Iterable[Verdict]) -> list[tuple[Verdict, ...]]:
    """The violations among one run's verdicts, together where the same entry comes first."""
    found: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAILED:
            found[first_entry(verdict)].append(verdict)
    return [tuple(each) for each in found.values()]


def to_show(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The violations of the first contradicting entry; without any, the worst verdict."""
    failed = by_entry(verdicts)
    if failed:
        return min(failed, key=lambda each: first_entry(each[0]))
    return (max(verdicts, key=lambda verdict: list(Outcome).index(verdict.outcome)),)


def contradictions(rows: Iterable[Row]) -> list[Contradiction]:
    """The failures of a suite: as few as show every violated claim, by claim; then all others.

    Of several that show as many claims the one with the earliest entry comes first: short
    histories are the easiest to understand.
    """
    groups = sorted(_grouped(rows), key=_rank)
    tests: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in (row for group in groups for row in group):
        tests[row.claim].add((row.name, row.seed))
    missing = {*tests}
    chosen: list[Contradiction] = []
    while missing:
        best = min(groups, key=lambda group: -sum(row.claim in missing for row in group))
        groups.remove(best)
        new = tuple(row.claim for row in best if row.claim in missing)
        further = len(set().union(*(tests[claim] for claim in new))) - 1
        chosen.append(_contradiction(best)._replace(shown_for=new, further=further))
        missing -= {*new}
    chosen.sort(key=lambda each: each.shown_for)
    others = [_contradiction(group) for group in groups]
    return [*chosen, *sorted(others, key=lambda each: each.claims)]


def _grouped(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows of one test and entry; apart if their failures were shrunk to different histories."""
    by_place: dict[tuple[str, int, int], dict[str, list[Row]]] = {}
    for row in sorted(rows):
        place = by_place.setdefault((row.name, row.seed, row.at), {})
        place.setdefault(row.shrunk, []).append(row)
    for place in by_place.values():
        as_found = place.pop("", [])
        first, *others = list(place.values()) or [[]]
        yield sorted([*as_found, *first])
        yield from others


def _rank(group: Sequence[Row]) -> tuple[int, str, int]:
    row = group[0]
    return row.at if row.is_kept else _FAR, row.name, row.seed


def _contradiction(group: Sequence[Row]) -> Contradiction:
    return Contradiction(
        group[0].name,
        group[0].seed,
        claims=tuple(row.claim for row in group),
        shrunk=next((row.claim for row in group if row.shrunk), ""),
    )


def stem_of(claim: str, number: int = 1) -> str:
    """The name, without its suffix, of a failure's page and plan; 1 is the one to look at first."""
    return claim.lower() if number == 1 else f"{FURTHER_NAME}/{claim.lower()}-{number}"


def failure_files(rows: Iterable[Row]) -> Iterator[FailureFiles]:
    """The failures in order, each with the name of its files: of its first claim."""
    seen: Counter[str] = Counter()
    for pages, entry in enumerate(contradictions(rows)):
        if entry.shown_for:
            yield FailureFiles(entry, stem_of(entry.shown_for[0]), has_page=True)
            continue
        claim = entry.claims[0]
        seen[claim] += 1
        number = seen[claim] + 1
        has_room = number <= MAX_PAGES_PER_CLAIM and pages < MAX_PAGES
        yield FailureFiles(entry, stem_of(claim, number), has_page=has_room)


def failed_verdicts(entry: Contradiction, run: RunResult) -> tuple[Verdict, ...]:
    """The violations that a page of the failure shows, in order of the claims."""
    by_claim = {v.claim: v for v in run.verdicts if v.outcome is Outcome.FAILED}
    return tuple(by_claim[claim] for claim in entry.claims if claim in by_claim)


def shrunk_plan(folder: Path, shrunk: ShrunkTest) -> Path:
    """The plan of a shrunk run, which has the name of its history."""
    return folder / f"{Path(shrunk.history).name.partition('-shrunk.')[0]}.yaml"
