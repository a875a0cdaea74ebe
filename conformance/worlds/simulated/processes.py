"""The simulated cluster's processes, the operators among them, as faults address them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chaos.ground import FaultRefusedError, ProcessState
from clusters.simulated.processes import ClusterProcesses, UnknownProcessError
from vocabulary.clock import Micros


class GroundProcesses:
    """Implements `chaos.ground.Processes`: an unknown process is a fault that is refused."""

    def __init__(self, processes: ClusterProcesses) -> None:
        self._processes = processes

    def state(self, name: str) -> ProcessState:
        with _refusing():
            return self._processes.state(name)

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        with _refusing():
            self._processes.kill(name, graceful=graceful, restart_after_us=restart_after_us)

    def start(self, name: str) -> None:
        with _refusing():
            self._processes.start(name)

    def pause(self, name: str) -> None:
        with _refusing():
            self._processes.pause(name)

    def resume(self, name: str) -> None:
        with _refusing():
            self._processes.resume(name)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except UnknownProcessError as error:
        raise FaultRefusedError(str(error)) from error
