"""Scenarios on a real control plane, through the command; and what is left when it is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.left_behind.scratch import abandoned
from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import ConformanceReport
from conformance.report.yaml_text import read_report
from tests.control_plane_world.test_operator_process import eventually
from vocabulary.history import Mark, read_history

pytestmark = pytest.mark.control_plane
ASSAY = (sys.executable, "-m", "conformance.cli")


def run(out: Path, *arguments: str) -> tuple[int, ConformanceReport]:
    command = [*ASSAY, "run", *arguments, "--cluster", "control-plane", "-q", "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (out / "report.yaml").exists(), ended.stdout + ended.stderr
    return ended.returncode, read_report(out / "report.yaml")


@pytest.mark.parametrize(
    ("mutant", "scenario", "claim"),
    [
        ("quota-released-on-failed", "appwrapper/deletion/slow-pods-hold-their-quota", "AW-015"),
        ("failure-grace-too-short", "appwrapper/retry/one-failure-is-retried", "AW-040"),
        ("forces-at-once", "appwrapper/deletion/stuck-pods-are-deleted-forcefully/pods", "AW-011"),
    ],
)
def test_mutants_are_killed_by_the_claims_that_kill_them_in_the_simulation(
    tmp_path: Path, mutant: str, scenario: str, claim: str
) -> None:
    code, report = run(tmp_path / "out", scenario, "--implementation", f"mutant:{mutant}")
    assert code == 1
    failed = {found.id for found in report.claims if found.outcome is Outcome.FAILED}
    assert claim in failed
    assert report.environment.cluster == "control-plane"
    assert not (tmp_path / "out" / "unfinished").exists()
    (history,) = (tmp_path / "out" / "histories").glob("*.jsonl.gz")
    header, entries, whole, _ = read_history(history)
    assert whole
    assert header.clock == "wall"
    assert isinstance(entries[-1], Mark)


@pytest.mark.parametrize("after_seconds", [random.Random(0).uniform(0, 15)])
def test_a_suite_that_is_killed_leaves_histories_and_its_folder_and_nothing_else(
    tmp_path: Path, after_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = [*ASSAY, "run", "appwrapper", "--cluster", "control-plane", "-q", "-j", "4"]
    # Where the control plane's programs are.
    places = {name: os.environ[name] for name in ("HOME", "ASSAY_CACHE") if name in os.environ}
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**places, "PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
    ) as suite:
        unfinished = tmp_path / "out" / "unfinished"
        assert eventually(lambda: any(unfinished.glob("*.jsonl")) or suite.poll() is not None)
        assert suite.poll() is None, "it ended by itself"
        time.sleep(after_seconds)
        assert abandoned() == []
        suite.send_signal(signal.SIGKILL)
        suite.wait()
    assert {path.parent for path in abandoned()} == {tmp_path}
    assert eventually(lambda: not processes_of(tmp_path)), processes_of(tmp_path)
    for path in (*unfinished.glob("*.jsonl"), *unfinished.glob("*.jsonl.gz")):
        _, entries, _, _ = read_history(path)
        assert any(isinstance(entry, Mark) and entry.mark == "end" for entry in entries) == (
            path.suffix == ".gz"
        )


def processes_of(folder: Path) -> list[str]:
    """The command lines of all processes that use a directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if any(str(folder) in word for word in words):
            found.append(" ".join(words))
    return found
