"""An interrupted command leaves no process running, and reports what it left."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.cli.exit_code import ExitCode
from conformance.report.yaml_text import read_report_at
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job
from tests.cli.conftest import Assay, Reports

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
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        _until("the command, its fork server and two workers", mark, least=4, most=9)
        command.send_signal(signal_number)
        _, told = command.communicate()
    _until("none is left", mark, least=0, most=0)
    if signal_number is signal.SIGTERM:
        assert command.returncode == -signal.SIGTERM
        # Python's own tracker of semaphores may complain after it.
        assert "assay: interrupted: no report was written; " in told
        assert "go on with the same command and --resume" in told


def test_an_interrupted_suite_says_what_was_kept_and_how_it_is_judged(
    assay: Assay, reports: Reports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out of time"

    def interrupted(*_: object) -> None:
        (stored,) = (reports.good / "histories").iterdir()
        unfinished = out / "unfinished"
        unfinished.mkdir(parents=True)
        shutil.copy(stored, unfinished / "whole.jsonl.gz")
        text = gzip.decompress(stored.read_bytes())
        (unfinished / "part.jsonl").write_bytes(text[: len(text) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.running.suite.run_suite", interrupted)
    before = signal.getsignal(signal.SIGTERM)
    ended = assay("run", "--cluster", "control-plane", "--out", out)
    assert ended.code == ExitCode.INTERRUPTED
    assert signal.getsignal(signal.SIGTERM) is before
    *_, kept, how = ended.err.splitlines()
    assert f"{out}/unfinished keeps the histories of 1 run that ended, and of 1 as far" in kept
    command = shlex.split(how.partition(": judge each by itself: assay ")[2])
    judged = assay(*command)
    assert (judged.code, judged.err) == (ExitCode.CONFORMANT, "")
    assert "passed       AW-015" in judged.out
    assert assay("check", out / "unfinished" / "part.jsonl").code == ExitCode.INCONCLUSIVE


def test_a_suite_interrupted_before_its_first_run_says_that_nothing_was_kept(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.running.suite.run_suite", interrupted)
    ended = assay("run", "--cluster", "control-plane", "--out", tmp_path / "out")
    assert ended.code == ExitCode.INTERRUPTED
    assert "no run had begun; run it again" in ended.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exploration_that_is_told_to_end_reports_the_runs_that_ended(
    jobs: int, tmp_path: Path
) -> None:
    workload = tmp_path / "workload.yaml"
    workload.write_text(json.dumps(job_set([replicated_job("w", 2)])), encoding="utf-8")
    words = ["explore", "jobset", "--workload", str(workload), "--jobs", str(jobs)]
    with subprocess.Popen(
        [sys.executable, "-m", "conformance.cli", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdout is not None
        whole = 0
        for line in command.stdout:
            if begun := re.fullmatch(r"  = ([\d,]+) runs, .*\n", line):
                whole = int(begun[1].replace(",", ""))
            elif whole:
                break  # the first line on how far it has come
        command.send_signal(signal.SIGTERM)
        told, _ = command.communicate()
    assert command.returncode == ExitCode.INTERRUPTED
    found = re.search(r"^interrupted after (\d+) of (\d+) runs$", told, re.MULTILINE)
    assert found is not None
    assert 0 < int(found[1]) < int(found[2]) == whole
    assert read_report_at(tmp_path / ".assay").interrupted == found[0]
