"""`assay run --cluster kind` where there is none: one sentence, the next action, exit code 4."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Ended, assay

from .machine import program

PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "conformance.as_tests")
Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `assay run` on kind, in a directory that is also the whole PATH."""
    for key in [key for key in os.environ if key.startswith("KIND")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return lambda *words: assay(monkeypatch, capsys, "run", "AW-005", "--cluster", "kind", *words)


def test_a_machine_without_docker_is_told_so_and_no_verdict_is_given(
    run: Run, tmp_path: Path
) -> None:
    ended = run()
    assert ended.code == 4
    assert ended.err == (
        "assay: docker is not in the PATH; install Docker, whose containers play nodes\n"
    )
    assert not list(tmp_path.iterdir())


def test_nothing_is_downloaded_unless_that_was_asked_for(run: Run, tmp_path: Path) -> None:
    program(tmp_path, "docker", {"version": "20.10"})
    ended = run()
    assert ended.code == 4
    assert "--download" in ended.err
    assert not (tmp_path / ".pytest-kind").exists()


def test_histories_on_kind_never_repeat(run: Run) -> None:
    ended = run("--rerun")
    assert ended.code == 2
    assert "histories on kind never repeat" in ended.err


def test_pytest_ends_with_the_same_sentence_and_code(tmp_path: Path) -> None:
    # The interpreter is named by its path; nothing else is to be found.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KIND")}
    ended = subprocess.run(
        [sys.executable, *PYTEST, "--cluster", "kind", "-k", "node-is-lost["],
        cwd=tmp_path,
        env={**environment, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,  # a bound on what hangs: on a busy machine, imports alone take minutes
        check=False,
    )
    assert ended.returncode == 4, ended.stdout
    assert "no kind cluster: docker is not in the PATH" in ended.stdout
    assert not (tmp_path / ".pytest-kind").exists()
