"""`assay clean` without a cluster looks at what this machine holds, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance.cli import app
from conformance.cli.exit_code import ExitCode
from vocabulary.errors import ApiError


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


def test_a_cluster_that_refuses_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object, **__: object) -> list[str]:
        raise ApiError(403, "Forbidden", "namespaces is forbidden")

    monkeypatch.setattr("conformance.clean.clean_cluster", refuses)
    result = CliRunner().invoke(app, ["clean", "--context", "theirs"])
    assert result.exit_code == ExitCode.ENVIRONMENT
    assert "the cluster cannot be cleaned: namespaces is forbidden" in result.stderr
