"""The scheduler: admits the Workloads that wait, in the order of the queues, as quota allows.

One cycle looks at the head of each ClusterQueue and admits what fits, the first in turn first.
Cycles follow each other until nothing more is admitted.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.flavors import Assignment, assign
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
    Condition,
    Reason,
)
from reference_controller.kueue.quota import ClusterQueue, Quotas
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.conditions import with_condition
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path, is_terminating, name_of
from vocabulary.requests import List, ObjectList, Reconcile, Request, Update

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

CYCLE: Final = (Key("", "cycle"),)
"""The only key: one cycle runs at a time."""


@dataclass(slots=True)
class Cycle:
    """The outcome of one cycle."""

    admitted: int = 0
    wake_at_us: Micros | None = None
    """When the next back-off ends."""
    refused: ApiError | None = None

    def wake_by(self, due_us: Micros | None) -> None:
        if due_us is not None:
            self.wake_at_us = due_us if self.wake_at_us is None else min(self.wake_at_us, due_us)


class Scheduler:
    """Its memory are the books."""

    name: Final = "scheduler"
    watches: Final = (WORKLOAD, LOCAL_QUEUE, CLUSTER_QUEUE, RESOURCE_FLAVOR)

    def __init__(self, config: KueueConfig, rules: Rules, books: Books) -> None:
        self._config = config
        self._rules = rules
        self._books = books

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock = clock
        self._rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """Any change may let a Workload in."""
        del old
        if kind == WORKLOAD:
            if caches[WORKLOAD].get(*key_of(obj)) is None:
                self._books.drop(key_of(obj))
            else:
                self._books.take(Workload(obj))
        return CYCLE

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del key, now_us
        while True:
            queues = yield from self._queues()
            cycle = yield from self._cycle(queues)
            if cycle.refused is not None:
                raise cycle.refused  # and have it tried again later
            if not cycle.admitted:
                return cycle.wake_at_us

    def _queues(self) -> Generator[Request, Any, dict[str, tuple[ClusterQueue, list[Key]]]]:
        """The ClusterQueues that admit, with their LocalQueues."""
        found: ObjectList = yield List(CLUSTER_QUEUE)
        flavors: ObjectList = yield List(RESOURCE_FLAVOR)
        local: ObjectList = yield List(LOCAL_QUEUE)
        known = {name_of(each) for each in flavors.items}
        queues: dict[str, tuple[ClusterQueue, list[Key]]] = {}
        for each in found.items:
            queue = ClusterQueue(each)
            if not queue.is_terminating and known.issuperset(queue.flavors):
                queues[queue.name] = queue, []
        for each in local.items:
            of = str(get_path(each, "spec.clusterQueue", ""))
            if of in queues and not is_terminating(each):
                queues[of][1].append(key_of(each))
        return queues

    def _cycle(
        self, queues: dict[str, tuple[ClusterQueue, list[Key]]]
    ) -> Generator[Request, Any, Cycle]:
        """Admit what fits of the heads. One whose admission is refused keeps none of the others
        back."""
        cycle = Cycle()
        quotas = Quotas({name: queue for name, (queue, _) in queues.items()}, self._copy_of_used())
        heads: list[tuple[Workload, Assignment]] = []
        for queue, local in queues.values():
            head, due_us = self._head(queue, local, quotas)
            if head is not None:
                heads.append(head)
            cycle.wake_by(due_us)
        heads.sort(key=lambda head: self._turn(head, quotas))
        for workload, assignment in heads:
            again = assign(workload, queues[assignment.queue][0], quotas, self._rules)
            if again.why_not:
                continue
            try:
                yield from self._admit(workload, again)
            except ApiError as error:
                # Of one that is gone or was changed an event comes, and another cycle.
                if not (error.is_not_found or error.is_conflict):
                    cycle.refused = error
            else:
                quotas.hold(again.queue, again.usage)
                cycle.admitted += 1
        return cycle

    def _copy_of_used(self) -> dict[str, dict[Any, int]]:
        return {queue: dict(used) for queue, used in self._books.used.items()}

    def _turn(self, head: tuple[Workload, Assignment], quotas: Quotas) -> tuple[Any, ...]:
        workload, assignment = head
        borrows = quotas.borrows(assignment.queue, assignment.usage)
        return self._rules.turn(borrows, self._rules.rank(workload, self._config.requeuing))

    def _head(
        self, queue: ClusterQueue, local: list[Key], quotas: Quotas
    ) -> tuple[tuple[Workload, Assignment] | None, Micros | None]:
        """The first Workload that fits, as far as the queue's strategy lets it pass others; and
        when the next back-off ends."""
        now_us, wake_at_us = self._clock(), None
        for workload in self._books.waiting(local):
            in_back_off = self._rules.is_in_back_off(workload, now_us)
            if in_back_off:
                due_us = workload.requeue_at_us
                wake_at_us = due_us if wake_at_us is None else min(wake_at_us, due_us)
            else:
                assignment = assign(workload, queue, quotas, self._rules)
                if not assignment.why_not:
                    return (workload, assignment), wake_at_us
            if self._rules.blocks_queue(queue.is_strict, in_back_off):
                break
        return None, wake_at_us

    def _admit(self, workload: Workload, assignment: Assignment) -> Generator[Request, Any, None]:
        """Reserve quota for a Workload."""
        now_us = self._clock()
        status = dict(workload.object.get("status") or {})
        conditions: Iterable[Object] = status.get("conditions") or ()
        message = f"Quota reserved in ClusterQueue {assignment.queue}"
        if workload.is_evicted:
            conditions = with_condition(
                conditions,
                {
                    "type": Condition.EVICTED,
                    "status": "False",
                    "reason": Reason.QUOTA_RESERVED,
                    "message": f"Previously: {workload.reason(Condition.EVICTED)}",
                },
                now_us,
            )
        for type_ in (Condition.QUOTA_RESERVED, Condition.ADMITTED):
            conditions = with_condition(
                conditions,
                {"type": type_, "status": "True", "reason": type_, "message": message},
                now_us,
            )
        admission = {
            "clusterQueue": assignment.queue,
            "podSetAssignments": assignment.pod_sets,
        }
        written = {
            **workload.object,
            "status": {**status, "conditions": conditions, "admission": admission},
        }
        stored: Object = yield Update(WORKLOAD, written, subresource="status")
        self._books.take(Workload(stored))
