"""A scenario whose steps raise an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chaos.plan import Plan
from conformance.implementations.ours import implementation
from conformance.report.run_result import TRIPPED
from conformance.running.runner import run_one
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS
from conformance.suite import SuiteError
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.history import Mark

SEED = 1729


def steps(world: World) -> None:
    world.wait(SECOND)
    raise KeyError("status")


@pytest.fixture
def scenario() -> Scenario:
    return replace(next(iter(SCENARIOS.values())), steps=steps, folder=Path(__file__).parent)


def test_a_mistake_in_its_steps_ends_everything(scenario: Scenario) -> None:
    with pytest.raises(SuiteError, match=r"KeyError: 'status'; mend it"):
        run_one(scenario, implementation("reference", scenario.role), SEED)


def test_steps_that_trip_over_a_fault_end_their_own_run_alone(scenario: Scenario) -> None:
    under_test = implementation("reference", scenario.role)
    run = run_one(scenario, under_test, SEED, Plan(scenario.id, SEED))
    assert run.error == f"{TRIPPED}KeyError: 'status'"
    assert run.error in [each.text for each in run.entries if isinstance(each, Mark)]
