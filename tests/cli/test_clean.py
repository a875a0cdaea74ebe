"""`assay clean` without a cluster looks at what this machine holds, and says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli.exit_code import ExitCode
from conformance.left_behind.scratch import PREFIX, Claim, Scratch, abandoned, live_claims
from tests.cli.conftest import Assay


def without_a_kubeconfig(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command where neither $KUBECONFIG nor ~/.kube/config names a cluster."""
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
    environment.pop("KUBECONFIG", None)
    return subprocess.run(
        [sys.executable, "-m", "conformance.cli", *words],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_on_an_existing_cluster_needs_to_know_one(tmp_path: Path) -> None:
    ended = without_a_kubeconfig(tmp_path, "run", "AW-015", "--cluster", "existing")
    assert ended.returncode == 4
    assert ended.stderr.startswith("assay: no cluster is known here: ")
    assert "--kubeconfig FILE" in ended.stderr


def test_without_a_kubeconfig_only_folders_are_looked_at(tmp_path: Path) -> None:
    ended = without_a_kubeconfig(tmp_path, "clean")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "nothing of Assay is left there\n"
    assert "no kubeconfig here" in ended.stderr


def test_a_session_claims_its_objects_as_long_as_its_process_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    begun, scratch = Scratch(), Scratch()
    scratch.claim(label="assay-c0ffee")
    assert live_claims() == [Claim(os.getpid(), "assay-c0ffee", "")]
    (claim,) = live_claims()
    labels = ("assay-c0ffee", "assay-c0ffee-3", "assay-c0ffee3", "assay-f00d")
    assert [claim.covers(label) for label in labels] == [True, True, False, False]
    killed = tmp_path / f"{PREFIX}killed"
    shutil.copytree(scratch.path, killed)
    assert abandoned() == [killed]
    assert len(live_claims()) == 1
    scratch.remove()
    begun.remove()
    assert live_claims() == []


def test_a_cluster_that_cannot_be_reached_is_told_at_once(assay: Assay, tmp_path: Path) -> None:
    cluster = {"name": "away", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "away", "context": {"cluster": "away", "user": "nobody"}}
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        json.dumps(
            {
                "clusters": [cluster],
                "contexts": [context],
                "users": [{"name": "nobody", "user": {}}],
                "current-context": "away",
            }
        )
    )
    ended = assay("clean", "--kubeconfig", kubeconfig)
    assert ended.code == ExitCode.ENVIRONMENT
    assert "assay: the cluster cannot be cleaned: " in ended.err
    assert "clean again" in ended.err
