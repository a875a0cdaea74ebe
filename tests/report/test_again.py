"""The command that a failure is printed with runs it again, or there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.report.again import replay_command, run_command
from conformance.report.run_result import RunResult
from tests.headers import of_implementation
from tests.report.sample_run import failing_run

PLAN = Path("out/aw-015.yaml")
SCENARIO = "appwrapper/quota-release/slow-pods-hold-their-quota"


def run_on(cluster: str, implementation: str = "reference", **changes: Any) -> RunResult:
    run = failing_run()
    header = of_implementation(run.header, implementation, cluster=cluster)
    return msgspec.structs.replace(run, header=header, **changes)


@pytest.mark.parametrize(
    ("cluster", "command"),
    [
        ("simulated", "assay replay out/aw-015.yaml"),
        ("control-plane", "assay replay out/aw-015.yaml --cluster control-plane"),
        (
            "existing",
            f"assay run {SCENARIO} --cluster existing --kubeconfig FILE --seed 1729",
        ),
    ],
)
def test_a_plan_is_replayed_where_it_was_made_if_plans_are_replayed_there(
    cluster: str, command: str
) -> None:
    assert replay_command(run_on(cluster), PLAN) == command


def test_a_file_with_a_space_in_its_name_is_one_argument() -> None:
    assert replay_command(run_on("simulated"), Path("my out/a.yaml")).endswith(" 'my out/a.yaml'")


def test_without_a_plan_the_scenario_is_run_again_by_the_same_implementation() -> None:
    command = run_command(run_on("control-plane", "appwrapper-v1.1.2"))
    assert command == (
        f"assay run {SCENARIO} --cluster control-plane --implementation appwrapper-v1.1.2 "
        "--seed 1729"
    )


def test_a_campaigns_faults_and_a_profile_that_is_not_shipped_leave_no_command() -> None:
    assert run_command(run_on("simulated", variant="crash after write 7")) == ""
    assert replay_command(run_on("existing", variant="crash after write 7"), PLAN) == ""
    assert run_command(run_on("control-plane", "somebodys-own")) == ""


def test_another_implementation_than_the_plans_is_named() -> None:
    command = replay_command(run_on("simulated"), PLAN, "mutant:one-more")
    assert command.endswith(" --implementation mutant:one-more")
