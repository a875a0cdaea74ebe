"""The operator as a real process: started by its command, killed by signals."""

from __future__ import annotations

import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from chaos.ground import ProcessState
from clusters.control_plane import process as operating_system
from clusters.control_plane.process import Process
from conformance.implementations.under_test import READY_PATH
from conformance.worlds.panics import PanicError, panics

Launch: TypeAlias = Callable[[Sequence[str], Path], Process]
"""Starts a command, its output appended to a file; the process ends with this one."""
READY_SECONDS: Final = 120.0
POLL_SECONDS: Final = 0.05
LOOK_SECONDS: Final = 0.25
"""How often one that is ready is asked whether it lives."""
STOP_SECONDS: Final = 10.0


class OperatorStartError(Exception):
    """The implementation under test does not come up; the message ends with what it logged."""


class RealOperator:
    """One operator process, through all its incarnations. Safe to use from several threads."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        health_port: int,
        log: Path,
        record: Callable[[str, Any], None],
        launch: Launch | None = None,
        ready_path: str = READY_PATH,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """`record` is called with (name, change) on each change in its life, `prepare` before each
        start."""
        self.name = name
        self._command = tuple(command)
        self._health_url = f"http://127.0.0.1:{health_port}{ready_path}"
        self._log = log
        self._record = record
        self._launch = launch or launch_directly
        self._prepare = prepare
        self._lock = threading.RLock()
        self.on_end: Callable[[str], None] | None = None
        """Called with its name when it has ended by itself, if it has come up before."""
        self._process: Process | None = None
        self._paused = False
        self._noted: Process | None = None
        """The last one that was noted as started."""
        self._is_ending = False
        """True from when it was asked to end."""

    @property
    def state(self) -> ProcessState:
        """True if it runs, stands still, or is down."""
        with self._lock:
            if self._process is None or not self._process.is_alive():
                return "down"
            return "paused" if self._paused else "running"

    @property
    def panics(self) -> Sequence[PanicError]:
        """Those that it has recovered from, in all its incarnations."""
        return panics(self._log.read_bytes()) if self._log.exists() else ()

    def start(self) -> None:
        """Start it; nothing happens if it runs. It is noted as started once it is ready."""
        with self._lock:
            if self.state != "down":
                return
            if self._prepare is not None:
                self._prepare()
            self._paused = False
            self._is_ending = False
            self._process = process = self._launch(self._command, self._log)
        # Not waited for here: a fault may start it while it holds up the proxy that this
        # process needs in order to become ready.
        threading.Thread(
            target=self._watch, args=(process,), name=f"watch-{self.name}", daemon=True
        ).start()

    def wait_ready(self) -> None:
        """Wait until it says that it is ready; OperatorStartError if it ends or takes too long."""
        process = self._process
        deadline = time.monotonic() + READY_SECONDS
        while True:
            if process is not None and self._is_ready():
                self._note_started(process)
            if process is not None and process is self._noted:
                return
            if process is None or not process.is_alive():
                problem = "ended before it was ready"
            elif time.monotonic() > deadline:
                problem = f"is not ready after {READY_SECONDS:g} s"
            else:
                time.sleep(POLL_SECONDS)
                continue
            raise OperatorStartError(f"{self.name} {problem}; its log ends: {_tail(self._log)}")

    def _watch(self, process: Process) -> None:
        """Note that it is ready, and that it has ended by itself.

        The end of one that has never come up is left to `wait_ready`: started again, it would
        write its last words twice.
        """
        while process.is_alive():
            if self._noted is not process and self._is_ready():
                self._note_started(process)
            time.sleep(LOOK_SECONDS if self._noted is process else POLL_SECONDS)
        with self._lock:
            if process is not self._process or self._is_ending:
                return
            self._record(self.name, "ended")
        if self.on_end is not None and self._noted is not None:
            self.on_end(self.name)

    def _note_started(self, process: Process) -> None:
        """Once for each process, and never after its end was noted."""
        with self._lock:
            if process is self._process and process.is_alive() and process is not self._noted:
                self._noted = process
                self._record(self.name, "started")

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL, "killed")

    def stop(self) -> None:
        """SIGTERM, and wait for its orderly end."""
        self._end(signal.SIGTERM, "stopped")

    def retire(self) -> None:
        """The run is over; nothing refuses that."""
        self.kill()

    def pause(self) -> None:
        """SIGSTOP."""
        with self._lock:
            if self.state == "running" and self._process is not None:
                self._process.signal(signal.SIGSTOP)
                self._paused = True
                self._record(self.name, "paused")

    def resume(self) -> None:
        """SIGCONT."""
        with self._lock:
            if self.state == "paused" and self._process is not None:
                self._process.signal(signal.SIGCONT)
                self._paused = False
                self._record(self.name, "resumed")

    def _end(self, number: signal.Signals, change: str) -> None:
        with self._lock:
            if self.state == "down" or self._process is None:
                return
            self._is_ending = True
            if self._paused and number != signal.SIGKILL:
                self._process.signal(signal.SIGCONT)
            self._process.signal(number)
            if not self._process.wait_ended(STOP_SECONDS):
                self._process.signal(signal.SIGKILL)
                self._process.wait_ended(STOP_SECONDS)
            self._record(self.name, change)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(self._health_url, timeout=1) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


def launch_directly(command: Sequence[str], log: Path) -> Process:
    """An interpreter of its own for each start."""
    return operating_system.start(
        command, environment=os.environ, log=log, folder=Path.cwd(), outlives_parent=False
    )


def _tail(log: Path, most_bytes: int = 600) -> str:
    return log.read_bytes()[-most_bytes:].decode("utf-8", "replace") if log.exists() else "(none)"
