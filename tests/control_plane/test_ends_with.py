"""Assay's processes end with their holder, however it ends: killed, or stopped and then killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusters import parent_bound
from clusters.control_plane import state, wait_until
from clusters.control_plane.process import Process, start

from .namespace import LIMIT_SECONDS

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(1000)"]


@pytest.fixture
def holder(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A process for others to end with."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setenv(parent_bound.ENDS_WITH, str(process.pid))
        yield process
        process.kill()


def outliving(folder: Path) -> Process:
    """A program that outlives this process, and has begun."""
    log = folder / "log"
    process = start(SLEEPER, environment={}, log=log, folder=folder, outlives_parent=True)
    wait_until(lambda: b"up" in log.read_bytes(), "it has begun", limit_seconds=LIMIT_SECONDS)
    return process


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_program_that_outlives_its_parent_ends_with_the_holder(
    holder: subprocess.Popen[bytes], tmp_path: Path, is_paused: bool
) -> None:
    process = outliving(tmp_path)
    if is_paused:
        process.signal(signal.SIGSTOP)
    holder.kill()
    assert process.wait_ended(LIMIT_SECONDS)


def test_a_program_without_a_holder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(parent_bound.ENDS_WITH)
    process = outliving(tmp_path)
    try:
        with subprocess.Popen([sys.executable, "-c", ""]) as other:
            other.wait()
        assert process.is_alive()
    finally:
        process.signal(signal.SIGKILL)


def test_a_program_whose_holder_has_ended_already_is_not_started(
    holder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    holder.kill()
    holder.wait()
    log = tmp_path / "log"
    process = start(SLEEPER, environment={}, log=log, folder=tmp_path, outlives_parent=True)
    assert process.wait_ended(LIMIT_SECONDS)
    assert log.read_bytes() == b""


def test_nobody_waits_for_what_watches_the_holder(holder: subprocess.Popen[bytes]) -> None:
    command = [*parent_bound.prefix(holder.pid), sys.executable, "-c", "print('done')"]
    # It ends with its pipes, though the holder goes on.
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_an_assay_command_ends_with_the_holder(
    holder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    serve = [sys.executable, "-m", "conformance.cli", "serve", "--plain"]
    command = [*serve, "--kubeconfig", str(tmp_path / "kubeconfig")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        assert served.stdout.readline().startswith("server: ")
        holder.kill()
        assert served.wait(LIMIT_SECONDS) == -signal.SIGKILL


def test_a_session_of_tests_ends_with_the_holder(
    holder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    sleeper = tmp_path / "test_sleeps.py"
    sleeper.write_text(f"def test_sleeps():\n    {SLEEPER[2]}\n")
    command = [sys.executable, "-m", "pytest", "-s", "-p", "tests.conftest", str(sleeper)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdout is not None
        assert any("up" in line for line in session.stdout)
        holder.kill()
        assert session.wait(LIMIT_SECONDS) == -signal.SIGKILL


@pytest.mark.parametrize("text", ["nobody", "0", "-1", "¹"])
def test_a_holder_that_is_no_process_id_is_bad_input(text: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "conformance.cli", "--version"],
        env={**os.environ, parent_bound.ENDS_WITH: text},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == f"assay: {parent_bound.ENDS_WITH}={text!r}: must be a process id\n"


@pytest.mark.control_plane
def test_a_control_plane_that_was_to_stay_ends_with_the_holder(
    holder: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    folder = tmp_path / "cluster"
    up = [sys.executable, "-m", "conformance.cli", "cluster", "up", "--folder", str(folder)]
    subprocess.run(up, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    components = state.load(folder / "state.json").components
    assert len(components) == 5
    assert all(component.is_alive() for component in components)
    holder.kill()
    wait_until(
        lambda: not any(component.is_alive() for component in components),
        "every component has ended",
        limit_seconds=LIMIT_SECONDS,
    )
