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
from collections.abc import Iterable
from typing import Final

from conformance.manifests.pod_templates import pods_of
from conformance.report.run_result import LIMIT
from conformance.suite import KindUse
from conformance.worlds.simulated.stretch import Stretch
from vocabulary.history import MAX_RECORDS, Write, role_of
from vocabulary.kinds import LEASE

MAX_ENTRIES: Final = 1_500
"""Entries of the history but for Leases: ten times as many as the longest scenario of few pods has.
Leases are renewed every two seconds, however long a run rests."""
ENTRIES_PER_POD: Final = 50
"""So many more for each pod that users ask for."""
MAX_STEPS: Final = 40_000
"""Events of the simulation: forty times as many as the longest scenario of few pods has."""
STEPS_PER_POD: Final = 1_500
"""So many more for each pod that users ask for."""
MAX_CRASHES: Final = 50
"""Exceptions that escape from the controller's code."""
MAX_WRITES_IN_A_ROW: Final = 120
"""The same write of one operator within a minute, without writes of others; meanwhile it writes
nothing new, and no object under test comes to where it has not been."""
MAX_RESETS: Final = 8
"""How often one object begins again while only the processes of the cluster write: more than
any limit of retries that a scenario or a random workload sets and waits for."""

_OUTSIDERS: Final = ("user", "federated-user", "service-account", "harness", "chaos")
_LEASE: Final = str(LEASE)


class Bounds:
    """Counts what happens in a run, and names the bound that it has reached."""

    def __init__(self, roles: Iterable[str], kinds: Iterable[KindUse]) -> None:
        self.reached = ""
        """The bound, and what the operator was doing; empty until one is reached."""
        self.pods = 0
        """How many pods users have asked for."""
        self.max_steps = MAX_STEPS
        """The events of the simulation that so many pods may take."""
        self._kinds = {str(use.kind): use for use in kinds}
        self._asked_for: dict[str, int] = {}
        """The most pods that each object of users has asked for, by uid."""
        self._stretches = {role: Stretch() for role in roles}
        self._beginning: set[str] = set()
        """The objects that are on their way back to their beginning, by uid."""
        self._resets: Counter[str] = Counter()
        """How often each object began again since a client outside of the cluster wrote, by uid."""
        self._crashes = 0
        self._leases = 0
        """Writes of Leases."""

    def took_too_long(self, steps: int) -> None:
        """The simulation has come to more events than `max_steps`."""
        self._limit(f"{steps} events")

    def called(self, call: str) -> None:
        """An operator waits for another machine, which no run has."""
        self._reach(f"calls of {call}, {LIMIT}: pods and Services do not answer")

    def crashed(self) -> None:
        """An exception has escaped from the controller's code."""
        self._crashes += 1
        if self._crashes > MAX_CRASHES:
            self._reach(f"{self._crashes} exceptions that escaped from the controller's code")

    def wrote(self, write: Write) -> None:
        """A write was recorded."""
        if write.actor in _OUTSIDERS and write.event in ("ADDED", "MODIFIED"):
            self._count_pods(write)
        if write.n >= MAX_RECORDS:
            self._limit(f"{write.n} entries in the history")
        if write.kind == _LEASE:
            self._leases += 1
            return
        entries = write.n - self._leases
        if entries >= MAX_ENTRIES + ENTRIES_PER_POD * self.pods:
            self._limit(f"{entries} entries in the history")
        self._count_resets(write)
        role = role_of(write.actor)
        if role in self._stretches:
            self._count_writes(role, write)
        elif write.actor in _OUTSIDERS:
            self._stretches = {role: Stretch() for role in self._stretches}
        else:
            for stretch in self._stretches.values():
                stretch.reported(write)

    def _count_pods(self, write: Write) -> None:
        use = self._kinds.get(write.kind)
        pods = (pods_of if use is None else use.pods)(write.object or {})
        before = self._asked_for.get(write.uid, 0)
        self._asked_for[write.uid] = max(before, pods)
        self.pods += max(0, pods - before)
        self.max_steps = MAX_STEPS + STEPS_PER_POD * self.pods

    def _count_writes(self, role: str, write: Write) -> None:
        stretch = self._stretches[role]
        if stretch.wrote(write, self._kinds.get(write.kind)):
            for other in self._stretches.values():
                other.occasions += other is not stretch
        if stretch.repeated() >= MAX_WRITES_IN_A_ROW:
            total, times, what = stretch.in_words()
            self._reach(f"{total} writes of {role} without progress, {times} of them: {what}")

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

    def _limit(self, count: str) -> None:
        asked = f" for {self.pods} pods" if self.pods else ""
        self._reach(f"{count}, {LIMIT}{asked}")

    def _reach(self, bound: str) -> None:
        self.reached = self.reached or bound
