"""Scenarios with commands name a behaviour: no history depends on how commands are read."""

from __future__ import annotations

from functools import partial

import pytest

from clusters.simulated.controllers.settings import Settings
from conformance.implementations.ours import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.worlds.simulated import world

STORIES = sorted(name for name in SCENARIOS if name.startswith("jobset/stories/"))


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_the_same_where_kubelets_read_commands(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_test = implementation("reference", "jobset")
    before = run_one(SCENARIOS[name], under_test, 1729).entries
    monkeypatch.setattr(world, "Settings", partial(Settings, reads_commands=True))
    assert run_one(SCENARIOS[name], under_test, 1729).entries == before
