"""An operator restarted with another configuration is evaluated by that one from then on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.history import History
from conformance.implementations.ours import SIMULATED_FACTS, Implementation, implementation
from conformance.norm.verdict import Outcome
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper.parameters import RETRY_PAUSE
from conformance.suites.appwrapper.view import AppWrapperHistory
from reference_controller import programs
from reference_controller.runtime.controller import Controller
from vocabulary.clock import MINUTE, SECOND

SCENARIO = SCENARIOS["appwrapper/operator-restarts/restarted-with-another-configuration"]


@dataclass(frozen=True)
class KeepsItsFirstConfiguration(Implementation):
    def controllers(self, config: Mapping[str, Any]) -> tuple[Controller, ...]:
        return super().controllers({"userRBACAdmissionCheck": config["userRBACAdmissionCheck"]})


def test_a_configuration_is_in_force_from_the_next_start_of_the_operator() -> None:
    run = run_one(SCENARIO, implementation("reference", "appwrapper"), DEFAULT_SEED)
    history = AppWrapperHistory(History(run.header, run.entries))
    starts = [entry.n for entry in history.processes if entry.change == "started"]
    (_, first), *later = history.configurations
    assert first.of(RETRY_PAUSE, None).value == 90 * SECOND
    assert [n for n, _ in later] == starts[1:]
    pauses = [configured.of(RETRY_PAUSE, None).value for _, configured in later]
    assert pauses == [20 * MINUTE, 5 * SECOND]


def test_an_operator_that_keeps_its_first_configuration_is_convicted() -> None:
    program = programs.load("appwrapper")
    stale = KeepsItsFirstConfiguration("stale", program, program.rules, SIMULATED_FACTS)
    run = run_one(SCENARIO, stale, DEFAULT_SEED)
    failed = {found.claim for found in run.verdicts if found.outcome is Outcome.FAILED}
    assert {"AW-049", "AW-074"} <= failed
