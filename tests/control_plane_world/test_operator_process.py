"""Operators as processes: started by a starter, ended by signals, gone with the harness."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from clusters.control_plane.ports import free_ports
from clusters.control_plane.process import Process
from conformance.left_behind.scratch import Scratch, abandoned, remove_abandoned
from conformance.worlds.control_plane.operator_process import (
    Launch,
    OperatorStartError,
    RealOperator,
    launch_directly,
)
from conformance.worlds.control_plane.processes import RealProcesses
from conformance.worlds.control_plane.starter import OURS, Starter

HEALTHY = """
import http.server, os, sys
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/end": os._exit(1)
        self.send_response(200); self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Healthy).serve_forever()
"""


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    with Starter() as made:
        yield made


@pytest.fixture(params=["by the starter", "directly"])
def launch(request: pytest.FixtureRequest, starter: Starter) -> Launch:
    return starter.start if request.param == "by the starter" else launch_directly


@pytest.fixture
def life() -> list[str]:
    """The operator's recorded entries."""
    return []


@pytest.fixture
def operator(tmp_path: Path, launch: Launch, life: list[str]) -> Iterator[RealOperator]:
    (port,) = free_ports(1)
    command = [sys.executable, "-c", HEALTHY, str(port)]
    made = RealOperator(
        "operator", command, port, tmp_path / "log", lambda _, change: life.append(change), launch
    )
    yield made
    made.kill()


def eventually(holds: Callable[[], bool], seconds: float = 300.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_what_an_operator_needs_is_prepared_before_each_of_its_starts(
    tmp_path: Path, launch: Launch
) -> None:
    """Two operators may need objects of one name, which differ in their ports."""
    (port,) = free_ports(1)
    done: list[str] = []

    def start(command: Sequence[str], log: Path) -> Process:
        done.append("started")
        return launch(command, log)

    command = [sys.executable, "-c", HEALTHY, str(port)]
    made = RealOperator(
        "operator",
        command,
        port,
        tmp_path / "log",
        lambda *_: None,
        start,
        prepare=lambda: done.append("prepared"),
    )
    assert not done
    for _ in range(2):
        made.start()
        made.wait_ready()
        made.kill()
    assert done == ["prepared", "started"] * 2


def test_an_operator_runs_stands_still_runs_on_and_is_killed(
    operator: RealOperator, life: list[str]
) -> None:
    assert operator.state == "down"
    operator.start()
    operator.wait_ready()
    assert life == ["started"]
    operator.pause()
    assert operator.state == "paused"
    operator.resume()
    assert operator.state == "running"
    operator.kill()
    assert operator.state == "down"
    assert life == ["started", "paused", "resumed", "killed"]


def test_a_paused_operator_can_be_killed_and_comes_back(
    operator: RealOperator, life: list[str]
) -> None:
    operator.start()
    operator.wait_ready()
    operator.pause()
    operator.kill()
    operator.start()
    operator.wait_ready()
    assert operator.state == "running"
    assert life == ["started", "paused", "killed", "started"]


def test_to_start_what_runs_and_to_kill_what_is_down_is_nothing(
    operator: RealOperator, life: list[str]
) -> None:
    operator.kill()
    operator.start()
    operator.wait_ready()
    operator.start()
    assert eventually(lambda: life == ["started"])


def test_a_stopped_operator_ends_by_itself(operator: RealOperator, life: list[str]) -> None:
    operator.start()
    operator.wait_ready()
    operator.stop()
    assert (operator.state, life) == ("down", ["started", "stopped"])


def test_an_operator_that_ends_by_itself_starts_again(tmp_path: Path, launch: Launch) -> None:
    (port,) = free_ports(1)
    command = [sys.executable, "-c", HEALTHY, str(port)]
    life: list[str] = []
    operator = RealOperator(
        "operator", command, port, tmp_path / "log", lambda _, change: life.append(change), launch
    )
    processes = RealProcesses({"operator": operator}, {})
    processes.start("operator")
    operator.wait_ready()
    with socket.create_connection(("127.0.0.1", port)) as to_it:
        to_it.sendall(b"GET /end HTTP/1.0\r\n\r\n")
        assert not to_it.recv(1)
    assert eventually(lambda: life == ["started", "ended", "started"])
    processes.end()
    assert life == ["started", "ended", "started", "killed"]


def test_an_operator_that_ends_at_once_is_told_with_its_log_and_does_not_start_again(
    tmp_path: Path, launch: Launch
) -> None:
    (port,) = free_ports(1)
    command = [sys.executable, "-c", "import sys; sys.exit('no configuration')"]
    log, life = tmp_path / "log", list[str]()
    broken = RealOperator(
        "operator", command, port, log, lambda _, change: life.append(change), launch
    )
    processes = RealProcesses({"operator": broken}, {})
    processes.start("operator")
    with pytest.raises(OperatorStartError, match=r"ended before it was ready.*no configuration"):
        broken.wait_ready()
    assert eventually(lambda: life == ["ended"])
    time.sleep(0.1)
    assert not processes.awaits_restart
    processes.end()
    assert log.read_text().count("no configuration") == 1


def test_assays_own_commands_are_forked_and_still_have_a_life_of_their_own(
    starter: Starter, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    process = starter.start([*OURS, "controller", "run", "no-such-controller"], log)
    assert process.wait_ended(20)
    assert "no-such-controller" in log.read_text()


def test_processes_end_with_the_harness_even_if_it_is_killed(tmp_path: Path) -> None:
    harness = f"""
        import sys, time
        from pathlib import Path
        from conformance.worlds.control_plane.starter import Starter
        with Starter() as starter:
            process = starter.start(["sleep", "600"], Path({str(tmp_path / "log")!r}))
            print(process.pid, starter._process.pid, flush=True)
            time.sleep(600)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(harness)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        pids = [int(word) for word in child.stdout.readline().split()]
        assert all(is_alive(pid) for pid in pids)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert eventually(lambda: not any(map(is_alive, pids)))


DAEMON = "setsid sh -c 'echo $$; exec sleep 600' & wait"
"""A program in a session of its own, below a shell script."""


def test_what_an_operator_started_ends_with_the_harness_even_if_it_is_killed(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    harness = f"""
        import time
        from pathlib import Path
        from conformance.worlds.control_plane.starter import Starter
        with Starter() as starter:
            starter.start(["sh", "-c", {DAEMON!r}], Path({str(log)!r}))
            time.sleep(600)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(harness)]) as child:
        assert eventually(lambda: log.exists() and log.read_text().endswith("\n"))
        daemon = int(log.read_text())
        assert is_alive(daemon)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert eventually(lambda: not is_alive(daemon))


def test_what_an_operator_started_is_killed_with_it(launch: Launch, tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = launch(["sh", "-c", "sleep 600 & echo $!; wait"], log)
    assert eventually(lambda: log.exists() and log.read_text().endswith("\n"))
    child = int(log.read_text())
    process.signal(signal.SIGKILL)
    assert process.wait_ended(20)
    assert eventually(lambda: not is_alive(child))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_folder_whose_owner_was_killed_is_found_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ours = Scratch()
    killed = Scratch()
    (killed.path / "control-plane").mkdir()
    os.close(killed._descriptor)  # what the kernel does for an owner that ends
    assert abandoned() == [killed.path]
    assert remove_abandoned() == [killed.path]
    assert not killed.path.exists()
    assert ours.path.is_dir()
    ours.remove()
    assert list(tmp_path.iterdir()) == []
