"""Start and stop, alone or side by side, attached or detached, and the end with the parent."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clusters.control_plane import (
    AlreadyRunningError,
    ControlPlane,
    Settings,
    StartError,
    down,
    nodes,
    state,
    status,
    up,
    wait_until,
)
from clusters.control_plane.ports import LOOPBACK, free_ports

from .namespace import LIMIT_SECONDS

pytestmark = pytest.mark.control_plane

ROOT = Path(__file__).resolve().parents[2]
START_AND_WAIT = """
import sys, threading
from pathlib import Path
from clusters.control_plane import ControlPlane
started = threading.Thread(target=ControlPlane(Path(sys.argv[1])).start)
started.start()
started.join()
print("ready", flush=True)
threading.Event().wait()
"""


def processes(folder: Path) -> list[state.Component]:
    return list(state.load(folder / "state.json").components)


def test_nothing_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    # Started from a thread that has ended since: only the process may count as the parent.
    child = subprocess.Popen(
        [sys.executable, "-c", START_AND_WAIT, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    components = processes(tmp_path)
    assert len(components) == 5
    assert all(component.is_alive() for component in components)
    paused = next(component for component in components if component.name == "kwok-a")
    assert paused.process is not None
    paused.process.signal(signal.SIGSTOP)
    child.kill()
    child.wait()
    child.stdout.close()
    wait_until(
        lambda: not any(component.is_alive() for component in components),
        "every process has ended",
        limit_seconds=LIMIT_SECONDS,
    )


def test_a_detached_control_plane_is_found_again_and_ended(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    script = (
        "import sys; from pathlib import Path; from clusters.control_plane import up;"
        "up(Path(sys.argv[1]), detached=True, node_count=2)"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], cwd=ROOT, check=True)
    try:
        observed = status(folder)
        assert observed is not None
        assert observed.ready
        assert observed.kubeconfig.exists()
        assert all(component.memory_bytes > 0 for component in observed.components)
        plane = ControlPlane.attach(folder)
        assert len(plane.api().get(nodes.NODES)["items"]) == 2
        with pytest.raises(AlreadyRunningError, match="assay cluster down"):
            up(folder)
        plane.restart("kube-scheduler")
        components = processes(folder)
    finally:
        assert down(folder)
    assert not any(component.is_alive() for component in components)
    after = status(folder)
    assert after is not None
    assert not after.ready


def test_a_folder_without_a_control_plane_has_no_status(tmp_path: Path) -> None:
    assert status(tmp_path) is None
    assert not down(tmp_path)


def test_a_component_that_cannot_start_is_reported_with_its_log(tmp_path: Path) -> None:
    settings = Settings(extra_arguments={"kube-apiserver": ("--no-such-flag",)})
    with pytest.raises(StartError, match="no-such-flag"):
        ControlPlane(tmp_path, settings).start()
    assert not any(component.is_alive() for component in processes(tmp_path))


def test_a_port_that_is_lost_before_its_component_binds_it_costs_a_second_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as stranger:
        stranger.bind((LOOPBACK, 0))
        stranger.listen()
        lost = stranger.getsockname()[1]
        given: list[list[int]] = []

        def ports(count: int) -> list[int]:
            found = free_ports(count)
            # kwok-a's, which starts when others are already up.
            given.append([*found[:4], lost, *found[5:]] if not given else found)
            return given[-1]

        monkeypatch.setattr("clusters.control_plane.launch.free_ports", ports)
        with ControlPlane(tmp_path) as plane:
            assert len(given) == 2
            assert {each.name: each.condition for each in plane.status()}["kwok-a"] == "ready"


def test_components_started_and_killed_by_several_threads_at_once_end_up_running(
    tmp_path: Path,
) -> None:
    with ControlPlane(tmp_path) as plane, ThreadPoolExecutor(4) as threads:
        for restarted in [threads.submit(plane.restart, "kwok-a") for _ in range(8)]:
            restarted.result()
        assert {each.name: each.condition for each in plane.status()}["kwok-a"] == "ready"


def test_a_second_control_plane_lives_beside_the_first_and(
    plane: ControlPlane, tmp_path: Path
) -> None:
    with ControlPlane(tmp_path) as second:
        assert second.server != plane.server
        second.api().post("/api/v1/namespaces", {"metadata": {"name": "only-here"}})
        assert not plane.api().exists("/api/v1/namespaces/only-here")
