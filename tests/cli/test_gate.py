"""The gate of an operator's change: the very steps of the action and of the workflow are run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import MUTANT, Reports

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "assay-gate"
WORKFLOW = ROOT / ".github" / "workflows" / "gate.yml"
RUNNER = ROOT / "ci" / "action"
SCENARIO = "slow-pods-hold-their-quota"


@dataclass(frozen=True)
class Gated:
    """The result of the steps, and their files."""

    code: int
    out: str
    summary: str
    folder: Path


def steps(folder: Path, what: Path, *arguments: str) -> Gated:
    """Run the steps with this interpreter's `assay`, and see how they end."""
    temp = folder / "temp"
    temp.mkdir(parents=True)
    # `python3` and `assay` are this environment's.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        [sys.executable, RUNNER, what, "--temp", temp, *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    summary = temp / "summary.md"
    told = summary.read_text() if summary.exists() else ""
    return Gated(ended.returncode, ended.stdout + ended.stderr, told, folder)


def gate(folder: Path, **inputs: object) -> Gated:
    given = {"install": "false", "suite": SCENARIO, **inputs}
    texts = (f"{name.replace('_', '-')}={value}" for name, value in given.items())
    return steps(folder, ACTION, *(part for text in texts for part in ("--input", text)))


def test_a_change_that_breaks_nothing_passes(tmp_path: Path, reports: Reports) -> None:
    found = gate(tmp_path, baseline=reports.good)
    assert found.code == 0, found.out
    assert found.summary.startswith("<!-- assay compare -->\n### ✅ Assay: no change in ")
    assert (tmp_path / ".assay" / "report.yaml").exists()


def test_a_change_that_breaks_a_promise_fails_and_its_summary_says_which(
    tmp_path: Path, reports: Reports
) -> None:
    found = gate(tmp_path, baseline=reports.good, implementation=MUTANT)
    assert found.code == 1
    assert "### ❌ Assay: 3 claims newly failing" in found.summary
    assert "`AW-015 quota-released-after-last-pod`" in found.summary
    assert "not run here: actions/upload-artifact@v4" in found.out


def test_what_failed_before_does_not_fail_the_gate(tmp_path: Path, reports: Reports) -> None:
    found = gate(tmp_path, baseline=reports.bad, implementation=MUTANT)
    assert found.code == 0, found.out
    assert "3 still failing" in found.summary


@pytest.mark.parametrize(("allowed", "code"), [("false", 1), ("true", 0)])
def test_further_scenarios_fail_the_gate_unless_allowed(
    tmp_path: Path, reports: Reports, allowed: str, code: int
) -> None:
    wider = f"{SCENARIO} no-retry-is-allowed"
    found = gate(
        tmp_path,
        baseline=reports.bad,
        suite=wider,
        implementation=MUTANT,
        allow_further_scenarios=allowed,
    )
    assert found.code == code, found.out
    assert "failing in further scenarios" in found.summary


@pytest.mark.parametrize(("allowed", "code"), [("false", 3), ("true", 0)])
def test_a_verdict_that_was_lost_fails_the_gate_unless_allowed(
    tmp_path: Path, reports: Reports, allowed: str, code: int
) -> None:
    found = gate(tmp_path, baseline=reports.good, suite="AW-015", allow_inconclusive=allowed)
    assert found.code == code, found.out
    assert "no longer tested" in found.summary


@pytest.mark.parametrize(
    ("implementation", "code"),
    [("reference", 0), (MUTANT, 1)],
)
def test_without_a_baseline_the_report_itself_decides(
    tmp_path: Path, implementation: str, code: int
) -> None:
    found = gate(tmp_path, implementation=implementation, baseline="")
    assert found.code == code, found.out
    assert "There is no baseline to compare with." in found.summary


def test_bad_input_fails_the_gate_as_such_and_the_report_is_kept_all_the_same(
    tmp_path: Path, reports: Reports
) -> None:
    found = gate(tmp_path, baseline=reports.good, suite="no-such-suite")
    assert found.code == 2
    assert "unknown suite, scenario or claim" in found.out
    assert "--- Keep the report" in found.out
    assert "--- Decide" not in found.out


def test_inputs_are_data_and_never_commands(tmp_path: Path, reports: Reports) -> None:
    found = gate(tmp_path, baseline="$(touch a)`touch b`; touch c", suite='"; touch d; "$(touch e)')
    assert found.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["temp"]


def test_the_workflow_compares_with_its_base_commit(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the workflow takes the base commit from git, and this is no checkout")
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    (tmp_path / ".git").symlink_to(ROOT / ".git")
    found = steps(
        tmp_path,
        WORKFLOW,
        *("--skip", "Install", "--env", f"BASE_SHA={head}", "--env", f"SUITE={SCENARIO}"),
    )
    assert found.code == 0, found.out
    assert "not run here: actions/checkout@v4" in found.out
    assert "### ✅ Assay: no change in " in found.summary


def step_list() -> list[tuple[str, dict[str, Any]]]:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    workflow = yaml.safe_load(WORKFLOW.read_text())
    both = [*action["runs"]["steps"], *workflow["jobs"]["gate"]["steps"]]
    return [(step["name"], step) for step in both]


@pytest.mark.parametrize(("name", "step"), step_list())
def test_no_script_of_a_step_has_an_expression_in_it(name: str, step: dict[str, Any]) -> None:
    """An expression in a script is text that a stranger may have written, run as code."""
    assert "${{" not in step.get("run", ""), name


def test_the_workflow_may_only_read() -> None:
    assert yaml.safe_load(WORKFLOW.read_text())["permissions"] == {"contents": "read"}
