"""Starts of a session's operators.

An operator that does not start ends its own run, and the others continue: the cause may be that
run's configuration. If a program has never started, this does not concern single runs, and the
suite ends instead of waiting a few hundred times.
"""

from __future__ import annotations

import threading
from typing import Final

from conformance.worlds.control_plane.operator_process import OperatorStartError

FRUITLESS: Final = 3
"""So many runs whose operator did not come up, and none whose did, end the suite."""


class Starts:
    """Counts the starts of a session. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: list[str] = []
        self._has_come_up = False

    def note(self, problem: str) -> None:
        """A run has begun: why its operators are not ready, or nothing if they are."""
        with self._lock:
            if problem:
                self._failures.append(problem)
            else:
                self._has_come_up = True

    def require_hope(self) -> None:
        """OperatorStartError, with what the first one logged, if no further start is worth it."""
        with self._lock:
            if not self._has_come_up and len(self._failures) >= FRUITLESS:
                raise OperatorStartError(self._failures[0])
