"""`assay run --cluster kind` where there is none: one sentence, the next action, exit code 4."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .machine import program

RUN = ("-m", "conformance.cli", "run", "AW-005", "--cluster", "kind")
PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "conformance.as_tests")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return python(folder, *RUN, *words)


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # The interpreter is named by its path; nothing else is to be found but what a test put there.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KIND")}
    environment["PATH"] = str(folder)
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_machine_without_docker_is_told_so_and_no_verdict_is_given(tmp_path: Path) -> None:
    ended = run(tmp_path)
    assert ended.returncode == 4
    assert ended.stderr == (
        "assay: docker is not in the PATH; install Docker, whose containers play nodes\n"
    )
    assert not list(tmp_path.iterdir())


def test_nothing_is_downloaded_unless_that_was_asked_for(tmp_path: Path) -> None:
    program(tmp_path, "docker", {"version": "20.10"})
    ended = run(tmp_path)
    assert ended.returncode == 4
    assert "--download" in ended.stderr
    assert not (tmp_path / ".pytest-kind").exists()


def test_histories_on_kind_never_repeat(tmp_path: Path) -> None:
    ended = run(tmp_path, "--rerun")
    assert ended.returncode == 2
    assert "histories on kind never repeat" in ended.stderr


def test_pytest_ends_with_the_same_sentence_and_code(tmp_path: Path) -> None:
    ended = python(tmp_path, *PYTEST, "--cluster", "kind", "-k", "node-is-lost[")
    assert ended.returncode == 4, ended.stdout
    assert "no kind cluster: docker is not in the PATH" in ended.stdout
    assert not (tmp_path / ".pytest-kind").exists()
