"""The shipped experiments hold on a real control plane, run by the ordinary `chaos run`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.implementation import implementation
from fixtures import crds as fixture_crds
from fixtures.control_plane import (
    BinariesMissingError,
    ControlPlane,
    FakeNode,
    Settings,
    locate,
    nodes,
)

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "chaos" / "experiments").glob("*.yaml"))

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with three nodes and the AppWrapper's definition."""
    try:
        locate()
    except BinariesMissingError as missing:
        pytest.skip(str(missing))
    made = ControlPlane(tmp_path_factory.mktemp("control-plane"), Settings())
    made.start((*implementation("reference").crds(), *fixture_crds.all_crds()))
    try:
        names = [f"n{index}" for index in range(3)]
        nodes.create(made.api(), [FakeNode(name) for name in names])
        nodes.wait_ready(made.api(), names)
        yield made
    finally:
        made.stop()


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda path: path.stem)
def test_chaos_run_completes_a_shipped_experiment_without_deviation(plane, tmp_path, experiment):
    namespace = f"chaos-{experiment.stem}"
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    plane.api().post("/api/v1/namespaces", manifest)
    kubeconfig = str(plane.kubeconfig())
    operator = [sys.executable, "-m", "conformance.cli", "controller", "run", "appwrapper"]
    operator += ["--kubeconfig", kubeconfig, "--namespace", namespace]
    ended = subprocess.run(
        [
            str(Path(sys.executable).with_name("chaos")),
            *("--no-version-check", "--no-log-file", "--settings", "none.yaml"),
            *("run", "--rollback-strategy", "always", str(experiment)),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "KUBECONFIG": kubeconfig,
            "ASSAY_NAMESPACE": namespace,
            "ASSAY_OPERATOR_COMMAND": f"{shlex.join(operator)} --health-port {{health_port}}",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    journal = json.loads((tmp_path / "journal.json").read_text())
    assert (journal["status"], journal["deviated"]) == ("completed", False), ended.stdout
    failed = [
        run for run in (*journal["run"], *journal["rollbacks"]) if run["status"] != "succeeded"
    ]
    assert failed == []
