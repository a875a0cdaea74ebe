"""A script of `ci/` that finds nothing to do fails and says why: a silent pass shows nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).parents[2] / "ci"
WORKFLOW = "jobs: {build: {steps: [{name: checked out, uses: actions/checkout@v4}]}}"
FOUND_NOTHING = {
    "action": (("{folder}/workflow.yml",), "has no step that runs"),
    "agreement": (("{folder}/none", "{folder}/none"), "cannot be read"),
    "guide-ledger": (("{folder}/none",), "cannot be read"),
    "kill-harness": (("--times", "0"), "no kill shows nothing"),
    "kueue-backoffs": (("kueue-v0.0.0",), "unknown implementation"),
    "peers": (("tools", "--mlbatch", "{folder}"), "has none of the tools"),
    "prose": (("{folder}",), "is no Python file and has none"),
    "quota-table": (("--check", "--runs", "{folder}"), "has no run of a cell"),
    "released": (("jobset-v0.0.0",), "invalid choice"),
    "released-quota-table": (("kueue-v0.6.2", "--runs", "{folder}"), "has no run of a cell"),
    "undecided": (("{folder}/none.py",), "file or directory not found"),
    "under-failure": (("--disturb", "nothing"), "invalid choice"),
    "upstream-examples": (("{folder}",), "has no examples of"),
    "weaken": (("--checkers", "0"), "no mutant was drawn"),
}
ALWAYS_FIND = {
    "cover": "a test covers it: tests/ci/test_cover.py",
    "facade": "the façade has names",
    "protobuf-messages": "the folder has to hold the API's module",
    "size": "each of ROOMS has to have files",
}


def test_every_script_has_its_case() -> None:
    scripts = {
        path.name
        for path in CI.iterdir()
        if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env python")
    }
    assert scripts == FOUND_NOTHING.keys() | ALWAYS_FIND.keys()


@pytest.mark.parametrize("script", FOUND_NOTHING)
def test_a_script_that_finds_nothing_to_do_fails(script: str, tmp_path: Path) -> None:
    (tmp_path / "workflow.yml").write_text(WORKFLOW)
    words, says = FOUND_NOTHING[script]
    ended = subprocess.run(
        [sys.executable, CI / script, *(word.format(folder=tmp_path) for word in words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert says in ended.stderr.replace("\n", " ")


def test_packages_that_moved_are_not_passed_over(tmp_path: Path) -> None:
    script = (CI / "weaken").read_text().replace("conformance/norm", "conformance/gone")
    (tmp_path / "ci").mkdir()
    moved = tmp_path / "ci" / "weaken"
    moved.write_text(script)
    ended = subprocess.run(
        [sys.executable, moved, "--checkers", "1"], capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "correct MODULES or TESTS" in ended.stderr
