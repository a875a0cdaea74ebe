"""What is left of a command that was killed: nothing that still runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MARK = "ASSAY_TEST_MARK"
PATIENCE_SECONDS = 60


def _marked(mark: str) -> list[int]:
    """The processes that were started with this mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    found: list[int] = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                continue  # it has ended meanwhile
    return found


def _until(condition: str, mark: str, least: int, most: int) -> list[int]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not least <= len(found := _marked(mark)) <= most:
        assert time.monotonic() < deadline, f"{condition}: {found} are there"
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_command_that_started_them(
    signal_number: signal.Signals, tmp_path: Path
) -> None:
    mark = f"{os.getpid()}-{signal_number.name}"
    with subprocess.Popen(
        [sys.executable, "-m", "conformance.cli", "run", "--crash-points", "--jobs", "2"],
        env={**os.environ, MARK: mark},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as command:
        _until("the command, its fork server and two workers", mark, least=4, most=9)
        command.send_signal(signal_number)
        command.wait()
    _until("none is left", mark, least=0, most=0)
