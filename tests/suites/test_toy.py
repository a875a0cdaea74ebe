"""A suite of another distribution: found, run, broken, replayed and verified by name.

`tests/toy` is installed as pip would leave it behind: its package and its metadata on the path.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "toy"
Assay = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """Runs the command in a process that has the toy installed."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site" / f"assay_toy-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
            for group, entries in groups
        )
    )
    path = os.pathsep.join([str(TOY), str(info.parent), os.environ.get("PYTHONPATH", "")])

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_its_claims_alone_are_judged_on_its_runs_and_the_report_verifies(
    assay: Assay, tmp_path: Path
) -> None:
    ran = assay("run", "toy", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 claims: 2 passed; 2 runs" in ran.stdout
    assert "toy" in (tmp_path / ".assay" / "index.html").read_text()
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "note:" not in verified.stdout


def test_every_mutant_of_its_reference_is_killed(assay: Assay) -> None:
    ran = assay("mutants", "toy", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2/2 mutants killed" in ran.stdout


def test_its_operator_survives_every_crash_point_and_runs_repeat_byte_for_byte(
    assay: Assay,
) -> None:
    ran = assay("run", "toy", "--crash-points", "--rerun", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 claims: 2 passed; 102 runs" in ran.stdout


def test_a_failure_has_a_plan_that_replays_it_and_a_page(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", "toy", "--implementation", "mutant:lost-pods-stay-lost", "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (line,) = [part for part in ran.stdout.splitlines() if "assay replay" in part]
    command = line.partition("assay ")[2].split()[:2]
    replayed = assay(*command)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    assert "TOY-001" in replayed.stdout
    (page,) = (tmp_path / ".assay").glob("**/toy-001*.html")
    assert "crew/a" in page.read_text()


def test_a_suite_that_cannot_be_imported_is_named_with_the_next_action(
    assay: Assay, tmp_path: Path
) -> None:
    (info,) = (tmp_path / "site").iterdir()
    (info / "entry_points.txt").write_text("[assay.suites]\ntoy = assay_toys:SUITE\n")
    ran = assay("run", "toy")
    assert ran.returncode == 2
    assert "suite 'toy' cannot be imported: No module named 'assay_toys'; reinstall" in ran.stderr


def test_a_selection_of_claims_verifies_without_a_note(assay: Assay) -> None:
    assert assay("run", "TOY-001", "--quiet").returncode == 0
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "note:" not in verified.stdout


def test_a_suite_without_scenarios_names_the_runs_that_judge_its_claims(assay: Assay) -> None:
    ran = assay("run", "mlbatch")
    assert ran.returncode == 2
    assert "its claims are judged on runs of appwrapper: assay run appwrapper" in ran.stderr


def test_a_claim_that_a_history_is_not_judged_by_is_named(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "toy", "--quiet").returncode == 0
    history = next((tmp_path / ".assay" / "histories").iterdir())
    checked = assay("check", str(history), "--claim", "AW-015")
    assert checked.returncode == 2
    assert "AW-015: not judged on runs of toy" in checked.stderr
