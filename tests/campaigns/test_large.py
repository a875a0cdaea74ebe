"""Scenarios of thousands of pods run when they are asked for."""

from __future__ import annotations

from conformance.running.suite import select
from conformance.scenarios import LARGE_SCENARIOS

STORY = "jobset/scale/thousands-of-pods-restart"


def test_they_are_selected_when_they_are_asked_for() -> None:
    assert STORY in LARGE_SCENARIOS
    assert STORY not in {found.id for found in select(["jobset"])}
    assert STORY in {found.id for found in select(["jobset"], large=True)}
    assert STORY not in {found.id for found in select(["appwrapper"], large=True)}
    assert [found.id for found in select([STORY])] == [STORY]
