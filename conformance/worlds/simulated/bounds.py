"""The bounds of a simulated run: one whose workload never settles ends at the first of them.

Virtual time costs nothing, so a controller that works without end would otherwise keep a run going
indefinitely. These bounds are counts, and so the same on every machine. The last resort is
processor time, since code that does not return cannot be counted: see `conformance.running.hung`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from vocabulary.clock import MINUTE, Micros
from vocabulary.history import Write
from vocabulary.kinds import APPWRAPPER, EVENT, LEASE
from vocabulary.objects import get_path

MAX_ENTRIES: Final = 1_500
"""Entries of the history: ten times as many as the longest scenario has."""
MAX_STEPS: Final = 40_000
"""Events of the simulation: forty times as many as the longest scenario has."""
MAX_CRASHES: Final = 50
"""Exceptions that escape from the controller's code."""
MAX_WRITES_IN_A_ROW: Final = 120
"""Writes of the operator within a minute, during which there are no other writes, nothing is
created or removed, and no AppWrapper changes its phase or the number of its resets."""
MAX_RESETS: Final = 8
"""Resets of one AppWrapper, during which only the processes of the cluster write: more than
any limit of retries that a scenario or a random workload sets and waits for."""

_APPWRAPPER: Final = str(APPWRAPPER)
_EVENT: Final = str(EVENT)
_OUTSIDERS: Final = ("user", "harness", "chaos")
_LEASE: Final = str(LEASE)


class Bounds:
    """Counts what happens in a run, and names the bound that it has reached."""

    def __init__(self, operators: Collection[str]) -> None:
        self.reached = ""
        """The bound, and what the operator was doing; empty until one is reached."""
        self._operators = operators
        self._in_a_row: Counter[str] = Counter()
        """The operator's writes since the last progress, in words."""
        self._since_us: Micros = 0
        """The time of the first of them."""
        self._stands: dict[str, tuple[object, object]] = {}
        """The phase and the number of resets of each AppWrapper, by uid."""
        self._resets: Counter[str] = Counter()
        """Resets of each AppWrapper since a client outside of the cluster wrote, by uid."""
        self._crashes = 0

    def stepped(self, steps: int) -> None:
        """The simulation has come to that many events."""
        if steps > MAX_STEPS:
            self._reach(f"{steps} events")

    def crashed(self) -> None:
        """An exception has escaped from the controller's code."""
        self._crashes += 1
        if self._crashes > MAX_CRASHES:
            self._reach(f"{self._crashes} exceptions that escaped from the controller's code")

    def wrote(self, write: Write) -> None:
        """A write was recorded."""
        if write.n >= MAX_ENTRIES:
            self._reach(f"{write.n} entries in the history")
        if write.kind == _LEASE:
            return
        self._count_resets(write)
        if self._is_progress(write):
            self._in_a_row.clear()
            return
        if not self._in_a_row or write.t - self._since_us > MINUTE:
            self._in_a_row.clear()
            self._since_us = write.t
        refused = f" ({write.code} {write.reason})" if write.reason else ""
        self._in_a_row[f"{write.verb} {write.kind} {write.name}{refused}"] += 1
        if self._in_a_row.total() >= MAX_WRITES_IN_A_ROW:
            what, times = self._in_a_row.most_common(1)[0]
            self._reach(
                f"{self._in_a_row.total()} writes of {write.actor} without progress, "
                f"{times} of them: {what}"
            )

    def _count_resets(self, write: Write) -> None:
        if write.actor in _OUTSIDERS:
            self._resets.clear()
        elif write.kind == _APPWRAPPER and write.object is not None:
            phase = get_path(write.object, "status.phase")
            before = self._stands.get(write.uid, (None, None))[0]
            self._resets[write.uid] += phase == "Resetting" != before
            if self._resets[write.uid] > MAX_RESETS:
                self._reach(f"{self._resets[write.uid]} resets of AppWrapper {write.name}")

    def _is_progress(self, write: Write) -> bool:
        if write.actor not in self._operators:
            return True
        if write.event in ("ADDED", "DELETED"):
            return write.kind != _EVENT
        if write.kind != _APPWRAPPER or write.object is None:
            return False
        now = (
            get_path(write.object, "status.phase"),
            get_path(write.object, "status.resettingCount"),
        )
        before = self._stands.get(write.uid)
        self._stands[write.uid] = now
        return now != before

    def _reach(self, bound: str) -> None:
        self.reached = self.reached or bound
