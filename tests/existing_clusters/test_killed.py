"""A harness killed on an existing cluster: `assay clean` restores everything."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
from pathlib import Path

import pytest

from clusters.control_plane import ControlPlane
from conformance.cli.exit_code import ExitCode
from tests.control_plane_world.test_operator_process import eventually

from .command import ASSAY, NOTHING, assay, standing

pytestmark = pytest.mark.control_plane
SCENARIOS = (
    "appwrapper/autopilot/other-resources-are-monitored",
    "appwrapper/deletion/stuck-pods-are-deleted-forcefully/pods",
    "appwrapper/nodes/all-nodes-are-cordoned",
    "appwrapper/nodes/node-is-tainted-no-execute",
)


def run_until(
    plane: ControlPlane, guest: Path, out: Path, number: signal.Signals, *scenarios: str
) -> int:
    """A suite that gets the signal some seconds after it began to touch the cluster; its code."""
    before = standing(plane).keys()
    where = ("--cluster", "existing", "--kubeconfig", str(guest), "--out", str(out))
    with subprocess.Popen(
        [*ASSAY, "run", *scenarios, "--yes", "-q", *where],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as harness:
        assert eventually(lambda: "assay-" in "".join(standing(plane).keys() - before))
        with contextlib.suppress(subprocess.TimeoutExpired):
            harness.wait(random.Random(number).uniform(0, 10))
        harness.send_signal(number)
    return harness.returncode


def test_a_suite_that_is_told_to_end_puts_the_cluster_in_order_itself(
    plane: ControlPlane, guest: Path, tmp_path: Path
) -> None:
    """Terminate the process as a kubelet does when the Job is deleted."""
    before = standing(plane)
    code = run_until(plane, guest, tmp_path, signal.SIGTERM, SCENARIOS[0])
    assert code == ExitCode.INTERRUPTED
    assert standing(plane) == before


def test_what_a_killed_harness_left_is_undone_and_nodes_are_never_deleted(
    plane: ControlPlane, guest: Path, tmp_path: Path
) -> None:
    before = standing(plane)
    run_until(plane, guest, tmp_path, signal.SIGKILL, *SCENARIOS)
    assert standing(plane) != before
    clean = ("clean", "--kubeconfig", str(guest))
    assert "would remove Namespace assay-" in assay(*clean)
    assert "removed Namespace assay-" in assay(*clean, "--yes")
    assert standing(plane) == before
    assert NOTHING in assay(*clean)
