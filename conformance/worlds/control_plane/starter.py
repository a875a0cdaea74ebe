"""Starts operators quickly: forked from a process that has imported everything they need.

To import the client library and the command line takes half a second of a core, and a suite
starts hundreds of operators. So one process imports once, and forks for each order it reads.
What it forks are ordinary processes all the same: ids, logs and ends of their own. Programs
that are not Assay's it executes, which costs them nothing.

This is the harness's side of it; `conformance.cli.starter` is that process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from clusters.control_plane.process import Process

OURS: Final = (sys.executable, "-m", "conformance.cli")
"""A command that begins so needs no new interpreter."""
SERVER: Final = "conformance.cli.starter"
"""The module that is run as that process."""


class StarterError(Exception):
    """The starter is gone; the message says what can be known."""


class Starter:
    """Starts processes that end with it, and it ends with the harness. Thread-safe.

    The harness holds the other end of its standard input; when that closes, however the harness
    ended, it kills all that descends from it, and ends. Use it as a context manager.
    """

    def __enter__(self) -> Starter:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, command: Sequence[str], log: Path, network: Path | None = None) -> Process:
        """Start a command, its output appended to `log`; `network`: see
        `conformance.worlds.control_plane.network`."""
        where = None if network is None else str(network)
        order = json.dumps({"command": list(command), "log": str(log), "network": where})
        assert self._process.stdin is not None and self._process.stdout is not None
        with self._lock:
            try:
                self._process.stdin.write(order + "\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            except (OSError, ValueError) as error:
                raise StarterError(f"the starter of operators is gone: {error}") from error
        if not answer:
            raise StarterError(f"the starter of operators has ended: {self._process.poll()}")
        pid, start_ticks = json.loads(answer)
        return Process(pid, start_ticks)
