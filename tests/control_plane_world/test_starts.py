"""An operator that does not start ends its run; if it never starts, it ends the suite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.report.yaml_text import read_report
from conformance.worlds.control_plane.operator_process import OperatorStartError
from conformance.worlds.control_plane.starts import FRUITLESS, Starts

PROFILE = """
apiVersion: assay.dev/v1
kind: ImplementationProfile
name: mine
suite: appwrapper
implementation: {organization: me, project: mine, url: "https://example.org", version: v1}
program: {path: mine.sh}
manifests: {crds: [crds.yaml], rbac: [roles.yaml]}
process:
  command: ["{program}", "{config}", "{kubeconfig}", "{namespace}", "{health_port}", "{identity}"]
configuration: {}
detection: {latency: 3s}
watches: namespace
lacks:
- {feature: admission-webhooks, because: It has none., claims: [MLB-020]}
"""
PROGRAM = """#!/bin/sh
if grep -q example.com "$1"; then
  echo "no licence was found"
  exit 7
fi
exec PYTHON -m conformance.cli controller run appwrapper --mutant anti-affinity-for-all \\
  --config "$1" --kubeconfig "$2" --namespace "$3" --health-port "$4" --identity "$5"
"""
REFUSED = "appwrapper/autopilot/other-resources-are-monitored"
"""Configure its operator to monitor example.com/foo."""
VIOLATED = "appwrapper/injection/every-pod-is-labelled/pod"


def test_single_failures_are_matters_of_their_runs() -> None:
    starts = Starts()
    starts.note("")
    for number in range(FRUITLESS):
        starts.note(f"failure {number}")
    starts.require_hope()


def test_a_program_that_has_never_come_up_is_told_with_what_it_logged_first() -> None:
    starts = Starts()
    for number in range(FRUITLESS):
        starts.require_hope()
        starts.note(f"failure {number}")
    with pytest.raises(OperatorStartError, match="failure 0"):
        starts.require_hope()


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A directory with a custom profile: a script that starts a mutant, or fails."""
    reference = implementation("reference", "appwrapper")
    (tmp_path / "crds.yaml").write_text(yaml.safe_dump_all(reference.crds()), encoding="utf-8")
    (tmp_path / "roles.yaml").write_text(yaml.safe_dump_all(reference.rbac()), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(PROFILE, encoding="utf-8")
    program = tmp_path / "mine.sh"
    program.write_text(PROGRAM.replace("PYTHON", sys.executable), encoding="utf-8")
    program.chmod(0o755)
    return tmp_path


@pytest.mark.control_plane
def test_a_run_whose_operator_does_not_start_ends_alone_and_the_others_violations_replay(
    mine: Path,
) -> None:
    assay = assay_in(mine)
    out = mine / "out"
    ended = assay("run", REFUSED, VIOLATED, "--implementation", "mine.yaml", "--out", "out")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    report = read_report(out / "report.yaml")
    (error,) = report.errors
    assert error.name == REFUSED
    assert error.error.endswith("its log ends: no licence was found\n")
    outcomes = {claim.id: claim.outcome for claim in report.claims}
    assert outcomes["AW-088"] is Outcome.FAILED

    replay = "assay replay out/aw-088.yaml --cluster control-plane"
    assert f"replay: {replay} " in ended.stdout
    replayed = assay(*replay.split()[1:])
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    assert " FAILED   (seed 1729)" in replayed.stdout


@pytest.mark.control_plane
def test_where_no_operator_starts_there_is_no_report_and_its_last_words_are_told(
    mine: Path,
) -> None:
    ended = assay_in(mine)("run", REFUSED, "--implementation", "mine.yaml", "--out", "out")
    assert ended.returncode == 4, ended.stdout + ended.stderr
    assert "ended before it was ready; its log ends: no licence was found" in ended.stderr
    assert not (mine / "out" / "report.yaml").exists()


def assay_in(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command, as it is given in that folder, on a control plane."""

    def assay(*arguments: str) -> subprocess.CompletedProcess[str]:
        cluster = () if "--cluster" in arguments else ("--cluster", "control-plane")
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", *arguments, *cluster],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=folder,
        )

    return assay
