"""The Workloads of one process as events show them: which hold quota, and which wait, in order.

Working this out anew for each scheduling cycle would cost as much as there are Workloads. The
books are made from events and from the controllers' own writes alone, so a process that starts
has them again after its first lists.

A Workload that waits is looked at until it is set aside: since it does not fit, or is in its
back-off. One that does not fit is looked at again once something changed that it may depend on.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from reference_controller.kueue.amounts import FlavorResource
from reference_controller.kueue.names import Condition
from reference_controller.kueue.workload import Usage, Workload
from reference_controller.runtime.controller import Key
from reference_controller.shared.own_writes import revision_of
from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import meta

Rank: TypeAlias = tuple[int, Micros, Micros, str]
"""The place of a Workload in its queue; the lowest comes first."""


class Waiting(NamedTuple):
    """One that waits in a LocalQueue."""

    rank: Rank
    key: Key


@dataclass(slots=True)
class _Line:
    """Those that wait in one LocalQueue."""

    active: list[Waiting] = field(default_factory=list)
    """In order; the others are set aside."""
    aside: dict[Key, Waiting] = field(default_factory=dict)
    asleep: dict[Key, Waiting] = field(default_factory=dict)
    """In their back-off."""


class Books:
    """Shared by the controllers of a process."""

    def __init__(
        self,
        waits: Callable[[Workload], bool],
        rank: Callable[[Workload], Rank],
        held: Callable[[Workload], Usage],
    ) -> None:
        self._waits = waits
        self._rank = rank
        self._held = held
        self._known: dict[Key, Workload] = {}
        self._lines: dict[Key, _Line] = {}
        self._places: dict[Key, tuple[Key, Waiting]] = {}
        """By Workload: its LocalQueue, and its place there."""
        self._wakes: list[tuple[Micros, Key]] = []
        """A heap: when those that sleep are looked at again."""
        self._owned: dict[tuple[str, str, Key], dict[Key, None]] = {}
        """The Workloads by apiVersion, kind and key of the job that they stand for."""
        self._waiting_uids: dict[str, Key] = {}
        self.holders: dict[str, dict[Key, Workload]] = {}
        """By ClusterQueue: the Workloads that hold quota of it."""
        self.used: dict[str, dict[FlavorResource, int]] = {}
        self.freed: set[str] = set()
        """The ClusterQueues of which quota came back, or is about to, since the last scheduling
        cycle."""
        self.is_outdated = False
        """True if a queue, a flavor or a namespace has changed since the last scheduling pass."""
        self.in_doubt: dict[Key, None] = {}
        """Those that are stored in a later state, as far as the answer to a write tells."""
        self.not_ready: dict[Key, None] = {}
        """Those that are admitted, and whose pods are not ready."""

    def take(self, workload: Workload) -> None:
        """Take in a state of a Workload, unless a later one is known."""
        known, key = self._known.get(workload.key), workload.key
        if known is not None:
            is_same = known.uid == workload.uid
            if is_same and revision_of(known.object) > revision_of(workload.object):
                return
            if is_same and self._stays(known, workload):
                self._known[key] = workload
                return
            self._drop(key, frees=not _holds_the_same(known, workload))
        self._known[key] = workload
        if workload.owner is not None:
            self._owned.setdefault(workload.owner, {})[key] = None
        if workload.has_quota:
            self.holders.setdefault(workload.cluster_queue, {})[key] = workload
            self._count(workload.cluster_queue, self._held(workload), 1)
            if not (workload.is_(Condition.PODS_READY) or workload.is_evicted):
                self.not_ready[key] = None
        elif self._waits(workload):
            place = Waiting(self._rank(workload), key)
            insort(self._line(workload.queue).active, place)
            self._places[key] = workload.queue, place
            self._waiting_uids[workload.uid] = key

    def take_answer(self, workload: Workload) -> None:
        """Take in what a request was answered with, unless the Workload has gone meanwhile: the
        watch may have said so before."""
        known = self._known.get(workload.key)
        if known is not None and known.uid == workload.uid:
            self.take(workload)

    def drop(self, key: Key) -> None:
        """Forget a Workload."""
        self._drop(key, frees=True)

    def _drop(self, key: Key, *, frees: bool) -> None:
        known = self._known.pop(key, None)
        if known is None:
            return
        if known.owner is not None:
            del self._owned[known.owner][key]
        self.not_ready.pop(key, None)
        if known.has_quota:
            del self.holders[known.cluster_queue][key]
            self._count(known.cluster_queue, self._held(known), -1)
            if frees:
                self.freed.add(known.cluster_queue)
        found = self._places.pop(key, None)
        if found is not None:
            del self._waiting_uids[known.uid]
            self._leave(*found)

    def _stays(self, known: Workload, workload: Workload) -> bool:
        """True if a Workload that waits keeps its place: nothing changed that it depends on."""
        found = self._places.get(known.key)
        if found is None or not self._waits(workload):
            return False
        queue, place = found
        return (
            queue == workload.queue
            and known.owner == workload.owner
            and place.rank == self._rank(workload)
            and meta(known.object).get("generation") == meta(workload.object).get("generation")
            and known.requeue_at_us == workload.requeue_at_us
        )

    def head(self, queues: Iterable[Key], passed: set[Key]) -> Workload | None:
        """The first that is looked at in these LocalQueues, other than those that were passed."""
        firsts = (self._first(self._line(queue).active, passed) for queue in queues)
        first = min((each for each in firsts if each is not None), default=None)
        return None if first is None else self._known[first.key]

    def _first(self, active: list[Waiting], passed: set[Key]) -> Waiting | None:
        return next((each for each in active if each.key not in passed), None)

    def set_aside(self, key: Key) -> None:
        """Look at a Workload no more until `revive`."""
        queue, place = self._places[key]
        self._leave(queue, place)
        self._line(queue).aside[key] = place

    def sleep(self, key: Key, until_us: Micros) -> None:
        """Look at a Workload no more before a time."""
        queue, place = self._places[key]
        self._leave(queue, place)
        self._line(queue).asleep[key] = place
        heappush(self._wakes, (until_us, key))

    def wake(self, now_us: Micros) -> None:
        """Look again at those whose time has come."""
        while self._wakes and self._wakes[0][0] <= now_us:
            self._activate(heappop(self._wakes)[1])

    @property
    def wakes_at_us(self) -> Micros | None:
        """When the next one's time comes."""
        return self._wakes[0][0] if self._wakes else None

    def revive(self, queues: Iterable[Key] | None = None) -> None:
        """Look again at those that were set aside in these LocalQueues; in all by default."""
        if queues is None:
            self.is_outdated = False
        for queue in tuple(self._lines) if queues is None else queues:
            line = self._line(queue)
            if line.aside:
                line.active = sorted((*line.active, *line.aside.values()))
                line.aside.clear()

    @property
    def queues(self) -> set[Key]:
        """The LocalQueues that some wait in, or did."""
        return set(self._lines)

    def candidate(self, uid: str) -> Workload | None:
        """The Workload of that uid, if it waits and was not set aside."""
        key = self._waiting_uids.get(uid)
        if key is None:
            return None
        line = self._line(self._places[key][0])
        return None if key in line.aside or key in line.asleep else self._known[key]

    def pending(self, queue: Key) -> tuple[int, int, int]:
        """How many wait in a LocalQueue: to be looked at, set aside, and in their back-off."""
        line = self._line(queue)
        return len(line.active), len(line.aside), len(line.asleep)

    def find(self, key: Key) -> Workload | None:
        """The latest state of a Workload."""
        return self._known.get(key)

    def of_job(self, kind: Kind, job: Key) -> list[Workload]:
        """Those that stand for the job of that name, or for an earlier one."""
        owned = self._owned.get((kind.api_version, kind.kind, job), ())
        return [self._known[key] for key in sorted(owned)]

    def _activate(self, key: Key) -> None:
        found = self._places.get(key)
        if found is not None and self._line(found[0]).asleep.pop(key, None) is not None:
            insort(self._line(found[0]).active, found[1])

    def _line(self, queue: Key) -> _Line:
        return self._lines.setdefault(queue, _Line())

    def _leave(self, queue: Key, place: Waiting) -> None:
        line = self._line(queue)
        is_aside = line.aside.pop(place.key, None) or line.asleep.pop(place.key, None)
        if is_aside is None:
            del line.active[bisect_left(line.active, place)]

    def _count(self, queue: str, usage: Usage, times: int) -> None:
        used = self.used.setdefault(queue, {})
        for what, value in usage.items():
            used[what] = used.get(what, 0) + times * value


def _holds_the_same(known: Workload, workload: Workload) -> bool:
    """True if a Workload goes on to hold the quota that it held, and does not begin to leave."""
    if not (known.has_quota and workload.has_quota) or known.is_leaving != workload.is_leaving:
        return False
    return known.cluster_queue == workload.cluster_queue and known.usage == workload.usage
