"""A scenario says what it is for: the mutant that it kills, or the released bug that it shows.

`assay mutants` runs each scenario that names a mutant with it.
"""

from __future__ import annotations

import re

import pytest

from conformance.scenario_type import Scenario
from conformance.scenarios import ALL_SCENARIOS
from conformance.suite import shipped_profiles
from reference_controller import programs

WITHOUT = {"appwrapper", "jobset", "operator"}
"""Suites with scenarios from before each had to say it, and the one without a reference."""
SAYING = [found for found in ALL_SCENARIOS.values() if found.kills or found.shows]
IDS = [found.id for found in SAYING]


def test_scenarios_of_every_newer_suite_say_it() -> None:
    silent = [
        found.id
        for found in ALL_SCENARIOS.values()
        if found.suite not in WITHOUT and not (found.kills or found.shows)
    ]
    assert not silent


@pytest.mark.parametrize("scenario", SAYING, ids=IDS)
def test_it_names_a_mutant_or_a_bug_that_there_is(scenario: Scenario) -> None:
    mutants = {name for role in scenario.roles for name in programs.load(role).mutants}
    assert not scenario.kills or scenario.kills in mutants
    assert not scenario.shows or (
        scenario.shows in shipped_profiles() or re.fullmatch(r"[\w-]+#\d+", scenario.shows)
    )
