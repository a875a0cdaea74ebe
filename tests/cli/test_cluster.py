"""`assay cluster status`, of control planes that are not there any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusters.control_plane.cluster import ClusterStatus
from clusters.control_plane.health import ComponentStatus
from conformance.cli.exit_code import ExitCode
from tests.cli.conftest import Assay


def test_where_none_ever_ran_the_status_says_how_to_start_one(assay: Assay, tmp_path: Path) -> None:
    ended = assay("cluster", "status", "--folder", tmp_path)
    assert ended.code == ExitCode.ENVIRONMENT
    assert ended.out == f"no control plane in {tmp_path}; start one with: assay cluster up\n"


def test_of_one_that_was_stopped_the_status_says_that_and_no_address_of_it(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = tuple(ComponentStatus(name, None, 1, 0, "ended") for name in ("etcd", "apiserver"))
    stopped = ClusterStatus(
        folder=tmp_path, server="https://127.0.0.1:1", kubeconfig=tmp_path / "k", components=parts
    )
    monkeypatch.setattr("clusters.control_plane.status", lambda _: stopped)
    ended = assay("cluster", "status", "--folder", tmp_path)
    assert ended.code == ExitCode.ENVIRONMENT
    told = f"the control plane in {tmp_path} is down; start a new one with: assay cluster up\n"
    assert ended.out == told
