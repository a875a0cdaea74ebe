"""A controller that never comes to rest ends a run, and is told as such."""

from __future__ import annotations

import pytest

from conformance.implementation import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.worlds.simulated import world as simulated
from fixtures.simulated import loop as loops
from vocabulary.history import Mark

SLOW_PODS = SCENARIOS["appwrapper/deletion/slow-pods-hold-their-quota"]


def test_a_run_with_more_steps_than_any_needs_ends_as_not_stable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simulated, "MAX_STEPS", 60)
    run = run_one(SLOW_PODS, implementation("reference"), seed=1729)
    assert run.error.startswith("not reached: ")
    marks = [entry.mark for entry in run.entries if isinstance(entry, Mark)]
    assert marks[-2:] == ["not-stable", "end"]


def test_a_wait_that_takes_more_steps_than_any_needs_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loops, "MAX_STEPS", 100)
    loop = loops.Loop(seed=1)

    def again() -> None:
        loop.call_later(0, again)

    again()
    with pytest.raises(loops.LivelockError, match="100 steps without an end at virtual second 0"):
        loop.run_for(1)


def test_a_loop_that_serves_for_ever_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MAX_STEPS", 100)
    loop = loops.Loop(seed=1)

    def again() -> None:
        loop.call_later(1, again)

    again()
    for _ in range(10):
        loop.run_for(50)
    assert loop.steps >= 499
