"""The Workloads of one process as events show them: which hold quota, and which wait, in order.

Working this out anew for each scheduling cycle would cost as much as there are Workloads. The
books are made from events and from the controllers' own writes alone, so a process that starts
has them again after its first lists.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from typing import NamedTuple, TypeAlias

from reference_controller.kueue.amounts import FlavorResource
from reference_controller.kueue.workload import Usage, Workload
from reference_controller.runtime.controller import Key
from reference_controller.shared.own_writes import revision_of
from vocabulary.clock import Micros
from vocabulary.kinds import Kind

Rank: TypeAlias = tuple[int, Micros, Micros, str]
"""The place of a Workload in its queue; the lowest comes first."""


class Waiting(NamedTuple):
    """One that waits in a LocalQueue."""

    rank: Rank
    key: Key


class Books:
    """Shared by the controllers of a process."""

    def __init__(self, waits: Callable[[Workload], bool], rank: Callable[[Workload], Rank]) -> None:
        self._waits = waits
        self._rank = rank
        self._known: dict[Key, Workload] = {}
        self._waiting: dict[Key, list[Waiting]] = {}
        self._places: dict[Key, tuple[Key, Waiting]] = {}
        """By Workload: its LocalQueue, and its place there."""
        self._owned: dict[tuple[str, str, Key], dict[Key, None]] = {}
        """The Workloads by apiVersion, kind and key of the job that they stand for."""
        self.holders: dict[str, dict[Key, Workload]] = {}
        """By ClusterQueue: the Workloads that hold quota of it."""
        self.used: dict[str, dict[FlavorResource, int]] = {}

    def take(self, workload: Workload) -> None:
        """Take in a state of a Workload, unless a later one is known."""
        known = self._known.get(workload.key)
        if known is not None:
            is_same = known.uid == workload.uid
            if is_same and revision_of(known.object) > revision_of(workload.object):
                return
            self.drop(workload.key)
        self._known[workload.key] = workload
        if workload.owner is not None:
            self._owned.setdefault(workload.owner, {})[workload.key] = None
        if workload.has_quota:
            self.holders.setdefault(workload.cluster_queue, {})[workload.key] = workload
            self._count(workload.cluster_queue, workload.usage, 1)
        elif self._waits(workload):
            place = Waiting(self._rank(workload), workload.key)
            insort(self._waiting.setdefault(workload.queue, []), place)
            self._places[workload.key] = workload.queue, place

    def drop(self, key: Key) -> None:
        """Forget a Workload."""
        known = self._known.pop(key, None)
        if known is None:
            return
        if known.owner is not None:
            del self._owned[known.owner][key]
        if known.has_quota:
            del self.holders[known.cluster_queue][key]
            self._count(known.cluster_queue, known.usage, -1)
        found = self._places.pop(key, None)
        if found is not None:
            queue, place = found
            waiting = self._waiting[queue]
            del waiting[bisect_left(waiting, place)]

    def waiting(self, queues: Iterable[Key]) -> Iterator[Workload]:
        """Those that wait in these LocalQueues, in order."""
        lists = [self._waiting.get(queue, ()) for queue in queues]
        return (self._known[each.key] for each in merge(*lists))

    def pending(self, queue: Key) -> int:
        """How many wait in a LocalQueue."""
        return len(self._waiting.get(queue, ()))

    def of_job(self, kind: Kind, job: Key) -> list[Workload]:
        """Those that stand for the job of that name, or for an earlier one."""
        owned = self._owned.get((kind.api_version, kind.kind, job), ())
        return [self._known[key] for key in sorted(owned)]

    def _count(self, queue: str, usage: Usage, times: int) -> None:
        used = self.used.setdefault(queue, {})
        for what, value in usage.items():
            used[what] = used.get(what, 0) + times * value
