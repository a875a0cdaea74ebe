"""Why reports of one implementation contradict each other, by the causes in its profile.

A violation that only one of two reports shows has a cause, which the profile's `knownDifferences`
name, and a reason why the other report does not show it: their `varies`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.norm.verdict import Outcome
from conformance.profiles.differences import explains
from conformance.profiles.profile import Difference, ImplementationProfile
from conformance.report.conformance_report import ClaimTest, ConformanceReport

_CONTRARY = {Outcome.PASSED, Outcome.FAILED}


class Contradiction(NamedTuple):
    """Two verdicts on one claim in one scenario."""

    claim: str
    violation: ClaimTest
    """The verdict of the report that shows a violation."""
    is_first: bool
    """True if that is the first report."""
    cause: Difference | None
    """None if the profile does not explain both the violation and the contradiction."""

    def __str__(self) -> str:
        return f"{self.claim} in {self.violation.scenario}"


def contradictions(
    first: ConformanceReport, other: ConformanceReport, profile: ImplementationProfile
) -> Iterator[Contradiction]:
    """All of two reports, each with the first cause that the profile has for it.

    Of several runs of a scenario the last one counts.
    """
    others = {claim.id: claim.tests for claim in other.claims}
    for claim in first.claims:
        tests = {test.scenario: test for test in others.get(claim.id, ())}
        for test in {test.scenario: test for test in claim.tests}.values():
            contrary = tests.get(test.scenario)
            if contrary is None or {test.outcome, contrary.outcome} != _CONTRARY:
                continue
            is_first = test.outcome is Outcome.FAILED
            violation = test if is_first else contrary
            cause = _cause(claim.id, violation, profile)
            yield Contradiction(claim.id, violation, is_first, cause)


def _cause(claim: str, violation: ClaimTest, profile: ImplementationProfile) -> Difference | None:
    for known in profile.known_differences:
        if known.varies and explains(known, claim, violation):
            return known
    return None


def by_cause(found: Iterable[Contradiction], first: str, other: str) -> list[str]:
    """A table in Markdown, a row for each cause; `first` and `other` name the clusters."""
    causes: defaultdict[int, list[Contradiction]] = defaultdict(list)
    for each in found:
        causes[id(each.cause)].append(each)
    rows = sorted(causes.values(), key=lambda group: (group[0].cause is None, -len(group)))
    lines = [
        f"| claims | violated on {first} | violated on {other} | cause | why not on both |",
        "|---|---:|---:|---|---|",
        *map(_row, rows),
    ]
    total = [each for group in rows for each in group]
    in_first = sum(each.is_first for each in total)
    return [*lines, f"| all | {in_first} | {len(total) - in_first} | | |"]


def _row(group: list[Contradiction]) -> str:
    claims = ", ".join(sorted({each.claim for each in group}))
    in_first = sum(each.is_first for each in group)
    cause = group[0].cause
    if cause is None:
        told = "not known", "not known"
    else:
        link = f" ([source]({cause.link}))" if cause.link else ""
        told = _line(cause.because) + link, _line(cause.varies)
    return f"| {claims} | {in_first} | {len(group) - in_first} | {told[0]} | {told[1]} |"


def _line(text: str) -> str:
    return " ".join(text.split())
