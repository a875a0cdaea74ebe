"""The bounds of a simulated run: one whose workload never settles ends at the first of them.

Virtual time costs nothing, so a controller that works without end would otherwise keep a run going
indefinitely. These bounds are counts, and so the same on every machine. Some are an operator's own:
it writes on, crashes, or begins anew, and makes no progress. The others limit what Assay keeps of a
run, in proportion to the pods that its users ask for; one that reaches these says nothing of its
operators, and its error begins with `LIMIT`. The last resort is processor time, since code that
does not return cannot be counted: see `conformance.running.hung`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from conformance.pod_templates import pods_of
from conformance.report.run_result import LIMIT
from conformance.suite import KindUse
from vocabulary.clock import MINUTE, Micros
from vocabulary.history import MAX_RECORDS, Write
from vocabulary.kinds import EVENT, LEASE

MAX_ENTRIES: Final = 1_500
"""Entries of the history: ten times as many as the longest scenario of few pods has."""
ENTRIES_PER_POD: Final = 50
"""So many more for each pod that users ask for."""
MAX_STEPS: Final = 40_000
"""Events of the simulation: forty times as many as the longest scenario of few pods has."""
STEPS_PER_POD: Final = 1_500
"""So many more for each pod that users ask for."""
MAX_CRASHES: Final = 50
"""Exceptions that escape from the controller's code."""
MAX_WRITES_IN_A_ROW: Final = 120
"""Writes of operators within a minute, during which there are no other writes, nothing is created
or removed, and no object under test makes progress."""
MAX_RESETS: Final = 8
"""How often one object begins again while only the processes of the cluster write: more than
any limit of retries that a scenario or a random workload sets and waits for."""

_EVENT: Final = str(EVENT)
_OUTSIDERS: Final = ("user", "harness", "chaos")
_LEASE: Final = str(LEASE)


class Bounds:
    """Counts what happens in a run, and names the bound that it has reached."""

    def __init__(self, operators: Collection[str], kinds: Iterable[KindUse]) -> None:
        self.reached = ""
        """The bound, and what the operator was doing; empty until one is reached."""
        self.pods = 0
        """How many pods users have asked for."""
        self._operators = operators
        self._kinds = {str(use.kind): use for use in kinds}
        self._in_a_row: Counter[str] = Counter()
        """The operators' writes since the last progress, in words."""
        self._since_us: Micros = 0
        """The time of the first of them."""
        self._progress: dict[str, object] = {}
        """How far each object under test has come, by uid."""
        self._beginning: set[str] = set()
        """The objects that are on their way back to their beginning, by uid."""
        self._resets: Counter[str] = Counter()
        """How often each object began again since a client outside of the cluster wrote, by uid."""
        self._crashes = 0

    def stepped(self, steps: int) -> None:
        """The simulation has come to that many events."""
        if steps > MAX_STEPS + STEPS_PER_POD * self.pods:
            self._limit(f"{steps} events")

    def crashed(self) -> None:
        """An exception has escaped from the controller's code."""
        self._crashes += 1
        if self._crashes > MAX_CRASHES:
            self._reach(f"{self._crashes} exceptions that escaped from the controller's code")

    def wrote(self, write: Write) -> None:
        """A write was recorded."""
        if write.actor in _OUTSIDERS and write.event == "ADDED":
            use = self._kinds.get(write.kind)
            self.pods += (pods_of if use is None else use.pods)(write.object or {})
        if write.n >= min(MAX_ENTRIES + ENTRIES_PER_POD * self.pods, MAX_RECORDS):
            self._limit(f"{write.n} entries in the history")
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
            return
        use = self._kinds.get(write.kind)
        if use is None or write.object is None:
            return
        if not use.begins_again(write.object):
            self._beginning.discard(write.uid)
        elif write.uid not in self._beginning:
            self._beginning.add(write.uid)
            self._resets[write.uid] += 1
            if self._resets[write.uid] > MAX_RESETS:
                times = self._resets[write.uid]
                self._reach(f"{times} times that {use.kind.kind} {write.name} began again")

    def _is_progress(self, write: Write) -> bool:
        if write.actor not in self._operators:
            return True
        if write.event in ("ADDED", "DELETED"):
            return write.kind != _EVENT
        use = self._kinds.get(write.kind)
        if use is None or write.object is None:
            return False
        now, before = use.progress(write.object), self._progress.get(write.uid)
        self._progress[write.uid] = now
        return now != before

    def _limit(self, count: str) -> None:
        asked = f" for {self.pods} pods" if self.pods else ""
        self._reach(f"{count}, {LIMIT}{asked}")

    def _reach(self, bound: str) -> None:
        self.reached = self.reached or bound
