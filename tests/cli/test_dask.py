"""A campaign on a Dask cluster with two workers, of which one is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cli.exit_code import ExitCode
from tests.cli.conftest import Assay
from tests.cli.test_shards import CAMPAIGN, MUTANT, files_of, report_of, runs_of

DASK = (sys.executable, "-m", "dask")
ADDRESS = re.compile(r"Scheduler at:\s*(tcp://127\.0\.0\.1:\d+)")
DEADLINE_SECONDS = 600


def started(*words: str, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [*DASK, *words], stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )


def awaited(log: Path, pattern: re.Pattern[str]) -> str:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if found := pattern.search(log.read_text()):
            return found[found.lastindex or 0]
        time.sleep(0.05)
    raise TimeoutError(log.read_text())


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    log = tmp_path / "scheduler"
    process = started(
        *("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"),
        log=log,
    )
    try:
        yield awaited(log, ADDRESS)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def workers(scheduler: str, tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two of one thread each, which nothing starts again."""
    logs = [tmp_path / f"worker-{n}" for n in (1, 2)]
    words = ("worker", scheduler, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    found = [started(*words, log=log) for log in logs]
    try:
        for log in logs:
            awaited(log, re.compile("Registered to"))
        yield found
    finally:
        for process in found:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(
    assay: Assay, scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "on-dask"
    words = ("run", *CAMPAIGN, *MUTANT)
    assert assay(*words, "--out", whole).code == ExitCode.VIOLATED
    command = [sys.executable, "-m", "conformance.cli", *words, "--dask", scheduler]
    with subprocess.Popen([*command, "--out", str(out)]) as campaign:
        # It has begun with a shard: that is a process of the worker's.
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not any(map(_children, _threads(workers[0].pid))):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(workers[0].pid, signal.SIGKILL)
    assert campaign.returncode == ExitCode.VIOLATED
    assert runs_of(out) == runs_of(whole)
    assert report_of(out) == report_of(whole)
    assert files_of(out) == files_of(whole)
    assert assay("verify", out).code == 0


def _threads(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def _children(thread: Path) -> str:
    return (thread / "children").read_text()


@pytest.mark.slow
def test_what_keeps_a_cluster_from_it_is_said(
    assay: Assay, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("run", *CAMPAIGN, "--out", str(tmp_path / "out"))
    ended = assay(*words, "--dask", scheduler)
    assert ended.code == ExitCode.ENVIRONMENT
    assert f"no workers; start some with: dask worker {scheduler}" in ended.err
    monkeypatch.setattr("conformance.running.dask_shards.CONNECT_SECONDS", 1)
    ended = assay(*words, "--dask", "tcp://127.0.0.1:9")
    assert ended.code == ExitCode.ENVIRONMENT
    assert "--dask tcp://127.0.0.1:9: no scheduler answers; start one" in ended.err
    ended = assay(*words, "--dask", scheduler, "--shard", "1/2")
    assert "leave out --shard, --resume and --exit-first" in ended.err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'assay[dask]'" in assay(*words, "--dask", scheduler).err
