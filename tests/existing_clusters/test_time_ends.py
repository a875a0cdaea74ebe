"""All runs end when one cannot begin, or when the suite is asked to end."""

from __future__ import annotations

from typing import cast

import pytest

from conformance.running import workers
from conformance.running.workers import Task
from conformance.worlds.control_plane.session import OutOfTimeError, Session
from conformance.worlds.control_plane.world import ControlPlaneWorld
from vocabulary.clock import SECOND

TASK = Task("appwrapper/lifecycle/succeeds", "reference", 0)


class Hour:
    """The parts of a session that time needs."""

    left = 3600.0

    def seconds_left(self) -> float:
        return self.left

    def seconds_until(self, deadline: float) -> float:
        self.end_now()  # as by another thread, while somebody waits
        return self.left

    def end_now(self) -> None:
        self.left = 0.0


def test_a_run_that_cannot_be_made_ends_the_time_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ConnectionError("the way is gone")

    monkeypatch.setattr(workers, "_run_on", fails)
    hour = Hour()
    with pytest.raises(ConnectionError, match="the way is gone"):
        workers._run_in_time(cast(Session, hour), TASK)
    assert hour.left == 0


def test_a_run_that_got_no_nodes_in_time_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(*_: object) -> None:
        raise OutOfTimeError("the time is up")

    monkeypatch.setattr(workers, "_run_on", waits)
    assert workers._run_in_time(cast(Session, Hour()), TASK) is None


def test_runs_end_no_time_but_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    result = object()
    monkeypatch.setattr(workers, "_run_on", lambda *_: result)
    hour = Hour()
    assert workers._run_in_time(cast(Session, hour), TASK) is result
    assert hour.left > 0


def test_a_scenario_that_waits_goes_on_when_the_time_is_ended() -> None:
    world = ControlPlaneWorld.__new__(ControlPlaneWorld)
    world.session = cast(Session, Hour())
    world.wait(3600 * SECOND)
    assert world.session.seconds_left() == 0
