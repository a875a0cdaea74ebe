"""The pytest plugin: options, and the fixture that makes runs on the chosen cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import pytest

from conformance.running.run_options import DEFAULT_SEED

if TYPE_CHECKING:
    from conformance.report.run_result import RunResult
    from conformance.scenario import Scenario

RunScenario: TypeAlias = "Callable[[Scenario], RunResult]"

CLUSTERS = ("simulated", "control-plane")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay", "conformance under faults")
    group.addoption(
        "--assay-cluster",
        choices=CLUSTERS,
        default="simulated",
        help="Where scenarios run (default: simulated).",
    )
    group.addoption(
        "--assay-implementation",
        default="reference",
        metavar="NAME",
        help="The controller under test: reference, or mutant:NAME.",
    )
    group.addoption(
        "--assay-seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help=f"Decides every random choice of the runs (default: {DEFAULT_SEED}).",
    )


@pytest.fixture(scope="session")
def run_scenario(pytestconfig: pytest.Config) -> Iterator[RunScenario]:
    """Runs a scenario on the cluster that the options name, and judges it."""
    from conformance.implementation import implementation
    from conformance.running.rearming import STRETCHES, unarmed
    from conformance.running.runner import run_one, run_really
    from conformance.scenarios import all_crds

    seed = pytestconfig.getoption("--assay-seed")
    under_test = implementation(pytestconfig.getoption("--assay-implementation"))
    if pytestconfig.getoption("--assay-cluster") == "simulated":
        yield lambda scenario: run_one(scenario, under_test, seed)
        return
    from conformance.worlds.control_plane.plane_session import ALONE, ControlPlaneSession

    # One run at a time, so each may have the control plane to itself.
    plane = ControlPlaneSession(under_test.on_real_clusters(), all_crds(), settings=ALONE)
    with plane as session:

        def run(scenario: Scenario) -> RunResult:
            result = run_really(session, scenario, seed)
            for stretch in STRETCHES:
                if unarmed([result]):
                    result = run_really(session, scenario, seed, stretch=stretch)
            return result

        yield run
