"""Repeat runs that a slow machine kept from arming the claims that they are for.

In real time, a situation can be over before a late operator can be distinguished
from a wrong one: the claim is not armed, without any fault. Such a scenario is repeated
with longer durations, a few times at most. Results of earlier runs stay: a violation or an aborted
run is never repeated until it looks better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.editions import holds, told_by
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult, is_telling
from conformance.running.workers import Task
from conformance.scenario_type import SCENARIOS

STRETCHES: Final = (2, 4)
"""How many times as long durations are in the second run, and in the third and last."""


def unarmed(runs: Iterable[RunResult]) -> dict[str, tuple[str, ...]]:
    """By scenario, the claims that it is to arm and has not, and another run might."""
    missing: dict[str, tuple[str, ...]] = {}
    for run in runs:
        wanted = missing.get(run.scenario, _armed_in_real_time(run))
        telling = {verdict.claim for verdict in run.verdicts if is_telling(verdict)}
        missing[run.scenario] = () if _is_bad(run) else tuple(c for c in wanted if c not in telling)
    return {scenario: claims for scenario, claims in missing.items() if claims}


def tasks_again(
    scenarios: Iterable[str], implementation: str, seed: int, stretch: int
) -> list[Task]:
    """The runs of those scenarios, with durations so many times as long."""
    variant = f"durations × {stretch}"
    return [
        Task(found, implementation, seed, variant=variant, stretch=stretch) for found in scenarios
    ]


def in_words(missing: Mapping[str, Sequence[str]], stretch: int) -> str:
    """`3 scenarios run again with durations × 2: the machine was too slow to arm AW-046, …`."""
    scenarios = "1 scenario" if len(missing) == 1 else f"{len(missing)} scenarios"
    claims = sorted({claim for each in missing.values() for claim in each})
    return (
        f"{scenarios} run again with durations × {stretch}: the machine was too slow to arm "
        f"{', '.join(claims)}"
    )


def _armed_in_real_time(run: RunResult) -> tuple[str, ...]:
    told = told_by(run.header)
    return tuple(
        claim
        for claim in SCENARIOS[run.scenario].arms
        if not CLAIMS[claim].only_simulated and holds(CLAIMS[claim], told)
    )


def _is_bad(run: RunResult) -> bool:
    return bool(run.error) or any(v.outcome is Outcome.FAILED for v in run.verdicts)
