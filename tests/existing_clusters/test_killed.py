"""A harness that is killed on somebody else's cluster: `assay clean` puts all of it in order."""

from __future__ import annotations

import random
import signal
import subprocess
from pathlib import Path

import pytest

from fixtures.control_plane import ControlPlane
from tests.control_plane_world.test_operator_process import eventually

from .command import ASSAY, NOTHING, assay, standing

pytestmark = pytest.mark.control_plane
SCENARIOS = (
    "appwrapper/autopilot/other-resources-are-monitored",
    "appwrapper/deletion/stuck-pods-are-deleted-forcefully/pods",
    "appwrapper/nodes/all-nodes-are-cordoned",
    "appwrapper/nodes/node-is-tainted-no-execute",
)


@pytest.mark.parametrize("after_seconds", [random.Random(n).uniform(0, 10) for n in range(2)])
def test_what_a_killed_harness_left_is_undone_and_nodes_are_never_deleted(
    plane: ControlPlane, guest: Path, tmp_path: Path, after_seconds: float
) -> None:
    before = standing(plane)
    where = ("--cluster", "existing", "--kubeconfig", str(guest), "--out", str(tmp_path))
    with subprocess.Popen(
        [*ASSAY, "run", *SCENARIOS, "--yes", "-q", *where],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as harness:
        assert eventually(lambda: "assay-" in "".join(standing(plane).keys() - before.keys()))
        try:
            harness.wait(after_seconds)
        except subprocess.TimeoutExpired:
            harness.send_signal(signal.SIGKILL)
    assert standing(plane) != before
    clean = ("clean", "--kubeconfig", str(guest))
    assert "would remove Namespace assay-" in assay(*clean)
    assert "removed Namespace assay-" in assay(*clean, "--yes")
    assert standing(plane) == before
    assert NOTHING in assay(*clean)
