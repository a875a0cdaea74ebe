"""Crash points on a real control plane: drawn by the seed, and hit where they say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaos.exploration import CrashPoint, crash_points
from chaos.happening import Place
from chaos.plan import Plan
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult
from conformance.running.crash_tasks import crash_tasks, drawn, in_words
from conformance.running.runner import run_one, run_really
from conformance.scenarios import SCENARIOS, all_crds
from conformance.worlds.control_plane.plane_session import ControlPlaneSession
from conformance.worlds.control_plane.session import Session
from vocabulary.history import Fault, Process, Write

SEED = 1729
SCENARIO = SCENARIOS["appwrapper/retry/one-failure-is-retried"]


@pytest.fixture(scope="module")
def simulated() -> RunResult:
    return run_one(SCENARIO, implementation("reference", "appwrapper"), SEED)


def test_a_sample_is_drawn_by_the_seed_and_keeps_the_order(simulated: RunResult) -> None:
    tasks = list(crash_tasks(simulated, "reference"))
    sample = drawn(tasks, 10, seed=1)
    assert len(sample) == 10
    assert sample == [task for task in tasks if task in sample]
    assert sample == drawn(tasks, 10, seed=1) != drawn(tasks, 10, seed=2)
    assert drawn(tasks, len(tasks), seed=1) == tasks


def test_what_was_left_out_or_missed_is_said() -> None:
    assert list(in_words(made=2, missed=0, existing=2)) == []
    drawn_text, missed_text = in_words(made=2, missed=1, existing=9)
    assert drawn_text == "2 of 9 crash points were drawn by the seed"
    assert missed_text.startswith("1 crash points were not reached")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    plane = ControlPlaneSession(
        {"appwrapper": implementation("reference", "appwrapper").on_real_clusters()}, all_crds()
    )
    with plane as session:
        yield session


@pytest.fixture(scope="module")
def points(session: Session) -> dict[Place, CrashPoint]:
    """One point of each place, at the write in the middle of a recorded run."""
    recorded = run_really(session, SCENARIO, SEED)
    found = crash_points(recorded.entries, "appwrapper")
    middle = found[len(found) // 2].k
    return {point.place: point for point in found if point.k == middle}


@pytest.mark.control_plane
@pytest.mark.parametrize("place", [Place.BEFORE_COMMIT, Place.AFTER_COMMIT, Place.AFTER_REPLY])
def test_the_operator_process_dies_at_the_write_that_the_point_names(
    session: Session, points: dict[Place, CrashPoint], place: Place
) -> None:
    point = points[place]
    run = run_really(session, SCENARIO, SEED, point.plan(Plan(SCENARIO.id, SEED)))
    assert not run.error
    assert run.strikes == 1
    (killed,) = (
        entry.n for entry in run.entries if isinstance(entry, Fault) and "kill" in entry.fault
    )
    before = [e for e in run.entries[:killed] if isinstance(e, Write) and e.actor == "appwrapper"]
    assert len(before) == point.k - (place is Place.BEFORE_COMMIT)
    lives = [e.change for e in run.entries if isinstance(e, Process) and e.process == "appwrapper"]
    assert lives == ["started", "killed", "started"]
    assert [v.claim for v in run.verdicts if v.outcome is Outcome.FAILED] == []
