"""Scenarios as tests: pytest ends with 1 for a violated claim, and with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli.exit_code import ExitCode

SCENARIO = "slow-pods-hold-their-quota"
BREAKING = """
import conformance.running.runner

def broken(*_):
    raise {error}

conformance.running.runner.run_one = broken
"""
OWN_TEST = "def test_of_somebody_elses():\n    assert 0\n"


def scenario_as_test(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    scenarios = ["--pyargs", "conformance.as_tests", "-k", f"{SCENARIO} or somebody_elses"]
    return subprocess.run(
        [*command, *scenarios, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_violated_claim_ends_with_1(tmp_path: Path) -> None:
    mutant = ("--assay-implementation", "mutant:quota-released-on-failed")
    ended = scenario_as_test(tmp_path, *mutant)
    assert ended.returncode == ExitCode.VIOLATED, ended.stdout
    assert "AW-015 quota-released-after-last-pod  FAILED" in ended.stdout


@pytest.mark.parametrize(
    ("error", "code", "xdist"),
    [
        ("KeyError('x')", ExitCode.BUG, ()),
        ("AssertionError('never armed')", ExitCode.INCONCLUSIVE, ()),
        ("MemoryError", ExitCode.ENVIRONMENT, ("-n", "1")),
    ],
    ids=["a bug", "never armed", "no memory, with workers"],
)
def test_what_was_not_judged_ends_with_another_code(
    error: str, code: ExitCode, xdist: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "breaking.py").write_text(BREAKING.format(error=error))
    ended = scenario_as_test(tmp_path, "-p", "breaking", *xdist)
    assert ended.returncode == code, ended.stdout


def test_other_tests_that_fail_beside_scenarios_end_with_1_as_ever(tmp_path: Path) -> None:
    (tmp_path / "breaking.py").write_text(BREAKING.format(error="MemoryError"))
    other = tmp_path / "test_other.py"
    other.write_text(OWN_TEST)
    ended = scenario_as_test(tmp_path, "-p", "breaking", str(other))
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended.stdout
