"""A program under test: a process of this machine that lives in real time.

It is started, killed, paused and restarted by name like the simulated cluster's own processes, so
faults strike it the same way, and one that ends by itself starts again as a container does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from clusters import parent_bound
from clusters.go_time.work import sleeps, starved_s

STOP_SECONDS: Final = 30.0
"""How long it may take to end by SIGTERM, before it is killed."""
_TAIL_BYTES: Final = 4_096
_SHOWS_THREADS: Final = Path("/proc/self/task").is_dir()
_SESSION: Final = 3
"""The place of the session in `/proc/PID/stat`, behind the name."""


class Program:
    """Implements `clusters.simulated.processes.Life`; all its processes are one session."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        *,
        environment: Mapping[str, str],
        folder: Path | None,
        reached: set[str],
        on_start: Callable[[], None],
    ) -> None:
        """`reached` are the names of the programs that have sent a request since their start.
        `on_start` is called after each start and resumption, upon which it has something to do."""
        self.name = name
        self.running = False
        self.paused = False
        self._command = command
        self._log = log
        self._environment = environment
        self._folder = folder
        self._reached = reached
        self._on_start = on_start
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped: Callable[[], None] | None = None
        self._kill_at_s = 0.0

    @property
    def output(self) -> str:
        """Everything that it has written to its standard output and standard error."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def last_words(self) -> str:
        return self.output[-_TAIL_BYTES:].rstrip() or "(no output)"

    # Life.

    def start(self) -> None:
        self._reached.discard(self.name)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*parent_bound.prefix(os.getpid()), *self._command],
                cwd=self._folder,
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running = True
        self._on_start()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        self._gone()

    def stop(self, ended: Callable[[], None]) -> None:
        """`look` calls `ended` once it has ended."""
        self.resume()
        self._stopped = ended
        self._kill_at_s = time.monotonic() + STOP_SECONDS
        self._signal(signal.SIGTERM)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        self._signal(signal.SIGCONT)
        self.paused = False
        self._on_start()

    # Work.

    def look(self) -> int | None:
        """The exit code of one that has ended by itself since the last look."""
        process, stopped = self._process, self._stopped
        if process is None:
            return None
        if stopped is not None and time.monotonic() > self._kill_at_s:
            self._signal(signal.SIGKILL)
        code = process.poll()
        if code is None:
            return None
        self._signal(signal.SIGKILL)  # what it has started, and left
        self._gone()
        if stopped is not None:
            stopped()
            return None
        return code

    @property
    def work(self) -> str:
        """Why it counts as being at work, in words; empty: it waits for something."""
        if self._process is None or self.paused:
            return ""
        if self._stopped is not None:
            return "is stopping"
        if self.name not in self._reached:
            return "has sent no request since its start"
        if _SHOWS_THREADS and not all(map(sleeps, self._members())):
            return "is computing"
        return ""

    @property
    def starved_s(self) -> float:
        """How long its processes have waited for a processor."""
        return sum(map(starved_s, self._members()))

    def _members(self) -> Iterator[int]:
        """The processes of its session."""
        if self._process is None:
            return
        session = str(self._process.pid)
        for each in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # one that has ended meanwhile
                if (each / "stat").read_text().rpartition(")")[2].split()[_SESSION] == session:
                    yield int(each.name)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _gone(self) -> None:
        self._process = None
        self._stopped = None
        self.running = self.paused = False
