"""A kopf operator in virtual time: killed after a write, repeated, with and without a bug."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.plan import Plan, plan_from_data
from conformance.explore.command_line import found_for
from conformance.explore.disturbances import Terrain, around_writes
from conformance.explore.workload import read_workload
from conformance.history import History
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.workers import Task, run_task
from vocabulary.history import OPERATOR

FOLDER = Path(__file__).parents[1] / "kopf_operator"
CREATED = "operator/workload/created"
DELETED = "operator/deletion/deleted/background"
Run = Callable[..., RunResult]


@pytest.fixture
def kopf() -> str:
    found = Path(sys.executable).with_name("kopf")
    if not found.exists():
        pytest.skip("needs kopf beside Python: pip install 'assay[test]'")
    return str(found)


@pytest.fixture
def run(kopf: str, tmp_path: Path) -> Run:
    """Runs a scenario, with a bug or without one."""
    project = tmp_path / "project"
    shutil.copytree(FOLDER, project)

    def run_it(
        scenario: str, bug: str = "", plan: Plan | None = None, *, twice: bool = False
    ) -> RunResult:
        command = f"BUG={bug} {kopf} run --standalone -A backups.py"
        found = found_for(command, project / "crds", project / "rbac.yaml", project)
        profile = project / f"operator-{bug}.yaml"
        profile.write_text(found.text(command, profile.name))
        plan = plan or Plan(
            scenario, seed=DEFAULT_SEED, manifests=read_workload(project / "sample.yaml")
        )
        operator = f"{OPERATOR}={profile}"
        return run_task(Task(scenario, operator, DEFAULT_SEED, plan.to_data(), twice=twice))

    return run_it


def outcome(run: RunResult, claim: str) -> Outcome:
    return next(each.outcome for each in run.verdicts if each.claim == claim)


def test_a_kopf_operator_is_killed_just_after_a_write_and_repeats_byte_for_byte(run: Run) -> None:
    undisturbed = run(CREATED, twice=True)
    assert (undisturbed.error, undisturbed.repeated) == ("", "")
    history = History(undisturbed.header, undisturbed.entries)
    created = next(
        each
        for each in around_writes(Terrain(undisturbed, history))
        if "before the reply to write 2 of 4 (create ConfigMap nightly-plan)" in each.text
    )
    plan = plan_from_data(undisturbed.plan)
    killed = run(CREATED, plan=replace(plan, faults=created.steps), twice=True)
    assert (killed.error, killed.repeated) == ("", "")
    assert outcome(killed, "OP-003") is Outcome.PASSED
    writes = History(killed.header, killed.entries).operators[OPERATOR].writes
    assert [write.verb for write in writes].count("create") == 1
    assert not [each for each in killed.verdicts if each.outcome is Outcome.FAILED]


@pytest.mark.parametrize(("bug", "expected"), [("no-owner", Outcome.FAILED), ("", Outcome.PASSED)])
def test_a_config_map_without_an_owner_is_found_when_its_backup_is_deleted(
    run: Run, bug: str, expected: Outcome
) -> None:
    deleted = run(DELETED, bug)
    assert deleted.error == ""
    assert outcome(deleted, "OP-009") is expected


def test_what_the_command_finds_is_shrunk_and_verifies(kopf: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(FOLDER, project)

    def assay(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "conformance.cli", *words]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)

    started = ("--command", f"BUG=no-owner {kopf} run --standalone -A backups.py")
    manifests = ("--crds", "crds", "--rbac", "rbac.yaml", "--workload", "sample.yaml")
    found = assay("explore", *started, *manifests, "--only", "deletions", "--out", "found")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "OP-009" in found.stdout
    verified = assay("verify", "found")
    assert verified.returncode == 0, verified.stdout + verified.stderr
