"""The released AppWrapper operator on a real control plane, where it has been built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clusters.control_plane import BinariesMissingError, locate
from conformance.norm.verdict import Outcome
from conformance.profiles.program import ProgramMissingError, program_of
from conformance.profiles.reading import read_profile
from conformance.report.yaml_text import read_report
from conformance.suite import shipped_profiles
from vocabulary.history import Process, Write, read_history

pytestmark = pytest.mark.control_plane
RELEASED = "appwrapper-v1.1.2"


@pytest.fixture(autouse=True)
def _is_built() -> None:
    path = shipped_profiles()[RELEASED]
    try:
        locate()
        program_of(read_profile(path), path)
    except (BinariesMissingError, ProgramMissingError) as missing:
        pytest.skip(str(missing))


def test_it_is_run_killed_restarted_and_judged_by_its_own_writes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [
        *(sys.executable, "-m", "conformance.cli", "run"),
        "appwrapper/operator-faults/killed-while-a-reset-deletes",
        *("--implementation", RELEASED, "--cluster", "control-plane", "-q", "--out", str(out)),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (out / "report.yaml").exists(), ended.stdout + ended.stderr
    report = read_report(out / "report.yaml")
    assert report.implementation.organization == "project-codeflare"
    assert report.implementation.version == "v1.1.2"
    outcomes = {claim.id: claim.outcome for claim in report.claims}
    assert outcomes["AW-050"] is Outcome.PASSED
    (history,) = (out / "histories").glob("*.jsonl.gz")
    header, entries, _, _ = read_history(history)
    assert (header.first.facts.poll_us or 0) > 0
    assert any(isinstance(e, Write) and e.actor == "appwrapper" for e in entries)
    assert [e.change for e in entries if isinstance(e, Process) and e.process == "appwrapper"][
        :3
    ] == ["started", "killed", "started"]
