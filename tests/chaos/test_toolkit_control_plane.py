"""The shipped experiments hold on a real control plane, run by the ordinary `chaos run`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from clusters import crds as fixture_crds
from clusters.control_plane import (
    ControlPlane,
    FakeNode,
    Settings,
    nodes,
)
from conformance.implementations.ours import implementation

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "chaos" / "experiments").glob("*.yaml"))

pytestmark = pytest.mark.control_plane


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with three nodes and the AppWrapper's definition."""
    made = ControlPlane(tmp_path_factory.mktemp("control-plane"), Settings())
    made.start((*implementation("reference", "appwrapper").crds(), *fixture_crds.all_crds()))
    try:
        names = [f"n{index}" for index in range(3)]
        nodes.create(made.api(), [FakeNode(name) for name in names])
        nodes.wait_ready(made.api(), names)
        yield made
    finally:
        made.stop()


BREAK_NODES = ("node-evict",)
"""Experiments that break nodes on which the pods of others run."""


def test_chaos_run_completes_every_shipped_experiment_without_deviation(plane, tmp_path):
    """As many at once as do not disturb each other, each in its namespace: they mostly wait."""
    together = [path for path in EXPERIMENTS if path.stem not in BREAK_NODES]
    alone = [[path] for path in EXPERIMENTS if path.stem in BREAK_NODES]
    assert together and len(alone) == len(BREAK_NODES)
    for batch in (together, *alone):
        with ExitStack() as started:
            running = {
                path.stem: started.enter_context(_begin(path, plane, tmp_path)) for path in batch
            }
            said = {name: process.communicate(timeout=300) for name, process in running.items()}
        for name, process in running.items():
            _require_success(tmp_path / name, process.returncode, said[name][0])


def _require_success(home: Path, code: int, said: str) -> None:
    assert code == 0, said
    journal = json.loads((home / "journal.json").read_text())
    assert (journal["status"], journal["deviated"]) == ("completed", False), said
    activities = (*journal["run"], *journal["rollbacks"])
    assert {activity["status"] for activity in activities} == {"succeeded"}, said
    left = sorted(path.name for path in home.iterdir())
    assert left == ["journal.json"], "the operator's log is none of the user's files"


def _begin(experiment: Path, plane: ControlPlane, folder: Path) -> subprocess.Popen[str]:
    """The ordinary command, in a folder and a namespace of the experiment's own."""
    namespace = f"chaos-{experiment.stem}"
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    plane.api().post("/api/v1/namespaces", manifest)
    kubeconfig = str(plane.kubeconfig())
    operator = [sys.executable, "-m", "conformance.cli", "controller", "run", "appwrapper"]
    operator += ["--kubeconfig", kubeconfig, "--namespace", namespace]
    home = folder / experiment.stem
    home.mkdir()
    return subprocess.Popen(
        [
            str(Path(sys.executable).with_name("chaos")),
            *("--no-version-check", "--no-log-file", "--settings", "none.yaml"),
            *("run", "--rollback-strategy", "always", str(experiment)),
        ],
        cwd=home,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "KUBECONFIG": kubeconfig,
            "ASSAY_NAMESPACE": namespace,
            "ASSAY_OPERATOR_COMMAND": f"{shlex.join(operator)} --health-port {{health_port}}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
