"""The violations of a suite: one per claim and scenario, the easiest of each claim first."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final, NamedTuple

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.build import test_name, worst_of
from conformance.report.run_result import RunResult

_NOT_KEPT: Final = 2**62
"""Longer than any history that was kept."""


class Violated(NamedTuple):
    """A claim, the run that violates it, and what its checker says of that."""

    claim: str
    run: RunResult
    verdict: Verdict


def violated(runs: Iterable[RunResult], claims: Container[str]) -> list[Violated]:
    """By claim and scenario the worst run; of each claim the shortest history comes first.

    Short histories are the easiest to understand.
    """
    by_scenario: dict[tuple[str, str, int], list[tuple[RunResult, Verdict]]] = {}
    for run in runs:
        for verdict in run.verdicts:
            if verdict.outcome is Outcome.FAILED and verdict.claim in claims:
                key = (verdict.claim, run.scenario, run.seed)
                by_scenario.setdefault(key, []).append((run, verdict))
    found = [Violated(claim, *worst_of(judged)) for (claim, _, _), judged in by_scenario.items()]
    return sorted(
        found,
        key=lambda each: (
            each.claim,
            len(each.run.entries) or _NOT_KEPT,
            test_name(each.run),
            each.run.seed,
        ),
    )
