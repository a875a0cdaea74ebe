"""On the simulated cluster, every crash plan kills the operator exactly where it says."""

from __future__ import annotations

import pytest

from chaos.exploration import CrashPoint, crash_points
from chaos.happening import Place
from chaos.plan import Plan
from conformance.implementations.ours import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.history import Entry, Fault, Write

SEED = 1729
SCENARIO = "appwrapper/deletion/slow-pods-hold-their-quota"


def run(plan: Plan | None = None) -> tuple[Entry, ...]:
    result = run_one(SCENARIOS[SCENARIO], implementation("reference", "appwrapper"), SEED, plan)
    return tuple(result.entries)


@pytest.fixture(scope="module")
def points() -> tuple[CrashPoint, ...]:
    return crash_points(run(), "appwrapper")


def writes_before_the_kill(entries: tuple[Entry, ...]) -> int:
    """How many of the operator's writes the store had seen when it was killed, the one time."""
    (killed,) = (
        entry.n
        for entry in entries
        if isinstance(entry, Fault) and "kill" in entry.fault and entry.action == "injected"
    )
    return sum(
        isinstance(entry, Write) and entry.actor == "appwrapper" for entry in entries[:killed]
    )


def test_the_operator_dies_once_at_each_of_its_crash_points_k_of_k(points):
    assert len(points) >= 30
    found = [writes_before_the_kill(run(point.plan(Plan(SCENARIO, SEED)))) for point in points]
    expected = [point.k - (point.place is Place.BEFORE_COMMIT) for point in points]
    assert found == expected


def test_a_crash_plan_replays_to_the_same_history(points):
    plan = points[len(points) // 2].plan(Plan(SCENARIO, SEED))
    assert run(plan) == run(plan)
