"""One test per scenario: it comes to its end, arms what it is meant to arm, violates nothing."""

from __future__ import annotations

import pytest

from conformance.as_tests.judging import ClaimViolatedError
from conformance.as_tests.plugin import RunScenario
from conformance.editions import holds, told_by
from conformance.norm.claim import CLAIMS
from conformance.profiles.choosing import unfilled
from conformance.report.failures import by_entry
from conformance.report.text import checker_failed, failure_block
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test per scenario, under its id; `-k` also finds it by the claims that it arms."""
    metafunc.parametrize(
        "scenario",
        [
            pytest.param(found, id=f"{found.id}[{','.join(found.arms)}]")
            for found in SCENARIOS.values()
        ],
    )


def test_scenario(
    scenario: Scenario, run_scenario: RunScenario, request: pytest.FixtureRequest
) -> None:
    is_simulated = request.config.getoption("--assay-cluster") == "simulated"
    if scenario.only_simulated and not is_simulated:
        pytest.skip(f"only in the simulation: {scenario.only_simulated}")
    named = request.config.getoption("--assay-implementation")
    if missing := unfilled(named, scenario.roles):
        pytest.skip(f"no reference for {', '.join(missing)}; name --assay-implementation")
    run = run_scenario(scenario)
    failed = by_entry(run.verdicts)
    if failed:
        raise ClaimViolatedError(
            "\n".join(failure_block([(CLAIMS[v.claim], v) for v in each], run) for each in failed)
        )
    not_judged = [verdict for verdict in run.verdicts if verdict.error]
    assert not not_judged, "\n".join(
        checker_failed(verdict.claim, scenario.id, verdict.error) for verdict in not_judged
    )
    assert not run.error, f"{scenario.id} did not come to its end: {run.error}"
    armed = {verdict.claim for verdict in run.verdicts if verdict.armed}
    edition = told_by(run.header)
    idle = [
        claim
        for claim in scenario.arms
        if claim not in armed
        and holds(CLAIMS[claim], edition)
        and (is_simulated or not CLAIMS[claim].only_simulated)
    ]
    assert not idle, f"{scenario.id} is meant to arm {', '.join(idle)}, and did not"
