"""The processes of a real cluster by the names that faults use.

Only what belongs to one run alone may be touched by its faults: the operators. The control
plane's own controllers serve all runs of a session, so pausing one is refused here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from chaos.ground import FaultRefusedError, ProcessState
from conformance.worlds.control_plane.operator_process import RealOperator
from vocabulary.clock import SECOND, Micros


class RealProcesses:
    """Implements `chaos.ground.Processes` for the operators of one run."""

    def __init__(self, operators: Mapping[str, RealOperator]) -> None:
        self._operators = operators
        self._restarts: dict[str, threading.Timer] = {}

    def state(self, name: str) -> ProcessState:
        return self._operator(name).state

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        operator = self._operator(name)
        if operator.state == "down":
            return
        operator.stop() if graceful else operator.kill()
        if restart_after_us is not None:
            restart = threading.Timer(restart_after_us / SECOND, self.start, (name,))
            restart.daemon = True
            self._restarts[name] = restart
            restart.start()

    def start(self, name: str) -> None:
        waiting = self._restarts.pop(name, None)
        if waiting is not None:
            waiting.cancel()
        self._operator(name).start()

    def pause(self, name: str) -> None:
        self._operator(name).pause()

    def resume(self, name: str) -> None:
        self._operator(name).resume()

    def wait_ready(self, names: Iterable[str]) -> None:
        """Wait until these operators say that they are ready; raises OperatorStartError."""
        for name in names:
            self._operator(name).wait_ready()

    def end(self) -> None:
        """The run is over: nothing comes back, and nothing stays."""
        for restart in self._restarts.values():
            restart.cancel()
        for operator in self._operators.values():
            operator.kill()

    def _operator(self, name: str) -> RealOperator:
        operator = self._operators.get(name)
        if operator is None:
            raise FaultRefusedError(
                f"{name!r} serves all runs on this control plane and cannot be touched by one; "
                f"there are {', '.join(self._operators)}"
            )
        return operator
