"""The processes of a real cluster by the names that faults use.

Only what belongs to one run alone may be touched by its faults: its operators, and the control
plane's own processes where the run has the plane to itself. Elsewhere these serve all runs of
a session, so pausing one is refused.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping

from chaos.ground import FaultRefusedError, ProcessState
from clusters.crash_loop import CrashLoop
from conformance.worlds.control_plane.component import Component
from conformance.worlds.control_plane.deployed_operator import DeployedOperator
from conformance.worlds.control_plane.operator_process import OperatorStartError, RealOperator
from conformance.worlds.control_plane.recorder import wall_us
from vocabulary.clock import SECOND, Micros


class RealProcesses:
    """Implements `chaos.ground.Processes` for one run."""

    def __init__(
        self,
        operators: Mapping[str, RealOperator | DeployedOperator],
        components: Mapping[str, Component],
    ) -> None:
        """`components` are the control plane's; none unless the run has it to itself."""
        self._operators = operators
        self._components = components
        self._restarts: dict[str, threading.Timer] = {}
        self._loops: defaultdict[str, CrashLoop] = defaultdict(CrashLoop)
        for operator in operators.values():
            if isinstance(operator, RealOperator):
                operator.on_end = self._ended
        self._lock = threading.RLock()
        self._over = False

    @property
    def awaits_restart(self) -> bool:
        """True if something that was ended is to be started again by itself."""
        with self._lock:
            return any(timer.is_alive() for timer in tuple(self._restarts.values()))

    def state(self, name: str) -> ProcessState:
        state = self._process(name).state
        with self._lock:
            waiting = self._restarts.get(name)
        is_awaited = state == "down" and waiting is not None and waiting.is_alive()
        return "restarting" if is_awaited else state

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        process = self._process(name)
        if process.state == "down":
            return
        process.stop() if graceful else process.kill()
        if restart_after_us is not None:
            self._restart(name, restart_after_us)

    def start(self, name: str) -> None:
        with self._lock:
            # A restart that came due while the run ended must not bring an operator back.
            if self._over:
                return
            waiting = self._restarts.pop(name, None)
            if waiting is not None:
                waiting.cancel()
            process = self._process(name)
            if process.state == "down":
                self._loops[name].began(wall_us())
            process.start()

    def pause(self, name: str) -> None:
        self._process(name).pause()

    def resume(self, name: str) -> None:
        self._process(name).resume()

    def wait_ready(self, names: Iterable[str]) -> str:
        """Wait until these operators say that they are ready; why one is not, or nothing."""
        try:
            for name in names:
                self._operators[name].wait_ready()
        except OperatorStartError as error:
            return str(error)
        return ""

    def end(self) -> None:
        """The run is over: no operator stays or comes back, and the control plane goes on."""
        with self._lock:
            self._over = True
            for restart in self._restarts.values():
                restart.cancel()
        for operator in self._operators.values():
            operator.retire()
        for component in self._components.values():
            component.resume()
            component.start()

    def _ended(self, name: str) -> None:
        """It has ended by itself; it starts again as a container does that its kubelet restarts."""
        with self._lock:
            if not self._over:
                self._restart(name, self._loops[name].ended(wall_us()))

    def _restart(self, name: str, after_us: Micros) -> None:
        restart = threading.Timer(after_us / SECOND, self.start, (name,))
        restart.daemon = True
        self._restarts[name] = restart
        restart.start()

    def _process(self, name: str) -> RealOperator | DeployedOperator | Component:
        process = self._operators.get(name) or self._components.get(name)
        if process is None:
            raise FaultRefusedError(
                f"{name!r} serves all runs on this control plane and cannot be touched by one; "
                f"there are {', '.join(self._operators)}. A scenario with alone=True has all"
            )
        return process
