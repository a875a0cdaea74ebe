"""The operator under test as a child process of the experiment, on any cluster.

So the experiment can do to it what a kubeconfig alone cannot: kill it at a moment, keep it
down for a while, pause it, run a second one beside it.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import threading
from pathlib import Path
from typing import Any, Final, Protocol

from chaoslib.exceptions import ActivityFailed

from chaos.ground import FaultRefusedError, ProcessState
from conformance.worlds.control_plane.operator_process import RealOperator
from vocabulary.clock import SECOND, Micros
from vocabulary.history import OPERATOR, replicas

REPLICAS: Final = 2


class LifeRecorder(Protocol):
    """Hears of each change in an operator's life."""

    def process(self, process: str, change: Any) -> None: ...


class LocalOperator:
    """Implements `chaos.ground.Processes` for operators that this process starts itself."""

    def __init__(
        self, command: str, log: Path, recorder: LifeRecorder, role: str = OPERATOR
    ) -> None:
        """`command` is a shell-like line; `{health_port}` in it becomes a free port."""
        self._instances = {
            name: _instance(name, command, log, recorder) for name in replicas(role, REPLICAS)
        }
        self._restarts: dict[str, threading.Timer] = {}

    def close(self) -> None:
        """End all of them, and call off the restarts that are due."""
        for timer in self._restarts.values():
            timer.cancel()
        for operator in self._instances.values():
            operator.stop()

    def state(self, name: str) -> ProcessState:
        state = self._instance(name).state
        waiting = self._restarts.get(name)
        is_awaited = state == "down" and waiting is not None and waiting.is_alive()
        return "restarting" if is_awaited else state

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        operator = self._instance(name)
        if operator.state == "down":
            return
        if graceful:
            operator.stop()
        else:
            operator.kill()
        if restart_after_us is not None:
            timer = threading.Timer(restart_after_us / SECOND, operator.start)
            timer.daemon = True
            self._restarts[name] = timer
            timer.start()

    def start(self, name: str) -> None:
        operator = self._instance(name)
        timer = self._restarts.pop(name, None)
        if timer is not None:
            timer.cancel()
        if operator.state == "paused":
            operator.kill()
        operator.start()
        operator.wait_ready()

    def pause(self, name: str) -> None:
        self._instance(name).pause()

    def resume(self, name: str) -> None:
        self._instance(name).resume()

    def _instance(self, name: str) -> RealOperator:
        operator = self._instances.get(name)
        if operator is None:
            raise FaultRefusedError(
                f"an experiment can control {' and '.join(self._instances)}, not {name}; "
                "run it with `assay chaos`, or the plan on the control plane"
            )
        return operator


def _instance(name: str, command: str, log: Path, recorder: LifeRecorder) -> RealOperator:
    port = _free_port()
    words = [word.replace("{health_port}", str(port)) for word in shlex.split(command)]
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise ActivityFailed(
            f"operator_command: {command!r} does not start with a program on PATH; use its path"
        )
    words[0] = program
    return RealOperator(name, words, port, log, recorder.process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
