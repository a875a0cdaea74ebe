"""The scheduler: admits the Workloads that wait, in the order of the queues, as quota allows.

One cycle looks at the head of each ClusterQueue, the first in turn first, and admits it, evicts
others for it, or sets it aside. Cycles follow each other until there is nothing more to look at. So
a cycle costs as much as there are queues, not as there are Workloads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reference_controller.kueue.amounts import Additions
from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.flavors import Assignment, Chooser
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
    Condition,
    Reason,
)
from reference_controller.kueue.office import Office
from reference_controller.kueue.preemption import Preemptor, Victim
from reference_controller.kueue.quota import ClusterQueue, Quotas, stop_policy_of, why_inactive
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Usage, Workload
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.conditions import with_condition
from reference_controller.shared.reading import read
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import LIMIT_RANGE, NAMESPACE, RUNTIME_CLASS, Kind
from vocabulary.objects import (
    Object,
    condition,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
)
from vocabulary.requests import List, ObjectList, Reconcile, Request, Update
from vocabulary.selectors import matches

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

CYCLE: Final = (Key("", "cycle"),)
"""The only key: one cycle runs at a time."""


@dataclass(slots=True)
class Cluster:
    """The queues as they are stored."""

    queues: dict[str, ClusterQueue]
    flavors: dict[str, Object]
    additions: Additions
    local: dict[str, list[Key]] = field(default_factory=dict)
    """By ClusterQueue: its LocalQueues that let in."""
    shut: dict[Key, str] = field(default_factory=dict)
    """The other LocalQueues, and why nothing in them is admitted."""


@dataclass(slots=True)
class _Head:
    """The first Workload of a ClusterQueue, and what it gets."""

    workload: Workload
    assignment: Assignment
    victims: list[Victim] = field(default_factory=list)


class Scheduler:
    """Its memory are the books."""

    name: Final = "scheduler"
    watches: Final = (
        *(WORKLOAD, LOCAL_QUEUE, CLUSTER_QUEUE, RESOURCE_FLAVOR),
        *(NAMESPACE, LIMIT_RANGE, RUNTIME_CLASS),
    )

    def __init__(self, office: Office) -> None:
        self._office = office
        self._rules = office.rules
        self._books = office.books
        self._parsed: dict[tuple[str, str], ClusterQueue] = {}
        """The ClusterQueues of the last pass, by uid and resourceVersion."""

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock = clock
        self._rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """Any change may let a Workload in, save one of a queue's status or of a job."""
        if kind not in self.watches:
            return ()
        if kind == WORKLOAD:
            if caches[WORKLOAD].get(*key_of(obj)) is None:
                self._books.drop(key_of(obj))
            else:
                self._books.take(Workload(obj))
            return CYCLE
        is_gone = caches[kind].get(*key_of(obj)) is None
        if old is not None and not is_gone and _asks_the_same(obj, old):
            return ()
        self._books.is_outdated = True
        return CYCLE

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del key, now_us
        if self._books.is_outdated and self._rules.looks_again():
            self._books.revive()
        cluster = yield from self._cluster()
        run = _Run(cluster, self._office, self._clock)
        return (yield from run.run())

    def _cluster(self) -> Generator[Request, Any, Cluster]:
        found: ObjectList = yield List(CLUSTER_QUEUE)
        flavors: ObjectList = yield List(RESOURCE_FLAVOR)
        local: ObjectList = yield List(LOCAL_QUEUE)
        namespaces: ObjectList = yield List(NAMESPACE)
        limit_ranges: ObjectList = yield List(LIMIT_RANGE)
        runtime_classes: ObjectList = yield List(RUNTIME_CLASS)
        parsed = {_version(each): each for each in found.items}
        self._parsed = {
            version: self._parsed.get(version) or ClusterQueue(each, self._rules)
            for version, each in parsed.items()
        }
        cluster = Cluster(
            {queue.name: queue for queue in self._parsed.values()},
            {name_of(each): each for each in flavors.items},
            Additions(limit_ranges.items, runtime_classes.items),
        )
        labels = {name_of(each): labels_of(each) for each in namespaces.items}
        for each in local.items:
            named = str(get_path(each, "spec.clusterQueue", ""))
            name = self._rules.fed_by(named, tuple(cluster.queues))
            why = self._why_shut(each, name, cluster, labels.get(namespace_of(each), {}))
            if why:
                cluster.shut[key_of(each)] = why
            else:
                cluster.local.setdefault(name, []).append(key_of(each))
        known = set(map(key_of, local.items))
        for missing in sorted(self._books.queues - known):
            cluster.shut[missing] = f"LocalQueue {missing.name} doesn't exist"
        return cluster

    def _why_shut(
        self, local: Object, name: str, cluster: Cluster, labels: Mapping[str, str]
    ) -> str:
        """The reason why nothing in a LocalQueue is admitted; empty if it may be."""
        queue = cluster.queues.get(name)
        if queue is None:
            return f"ClusterQueue {name} doesn't exist"
        reason, message = why_inactive(queue, cluster.flavors, self._rules)
        if reason:
            return f"ClusterQueue {name} is inactive: {message}"
        if is_terminating(local) or not self._rules.admits(stop_policy_of(local)):
            return f"LocalQueue {name_of(local)} is inactive"
        if not self._rules.serves(matches(queue.namespaces, labels)):
            return f"The namespace does not match the namespaceSelector of ClusterQueue {name}"
        return ""


@dataclass(slots=True)
class _Run:
    """One pass: cycles, until there is nothing more to look at."""

    cluster: Cluster
    office: Office
    clock: Callable[[], Micros]
    awaited: dict[Key, tuple[str, Usage]] = field(default_factory=dict)
    """The quota that is kept for those whose victims have not given theirs back, by preemptor."""
    passed: set[Key] = field(default_factory=set)
    """Those that were looked at in this pass, and are to be looked at in the next."""
    blocked: set[str] = field(default_factory=set)
    """The queues whose head cannot be passed."""
    yielding: set[Key] = field(default_factory=set)
    """Those of them that wait for their preemptor."""
    refused: ApiError | None = None

    @property
    def config(self) -> KueueConfig:
        return self.office.config

    @property
    def rules(self) -> Rules:
        return self.office.rules

    @property
    def books(self) -> Books:
        return self.office.books

    def run(self) -> Reconcile:
        for queue, why in self.cluster.shut.items():
            yield from self._shut(queue, why)
        while True:
            yield from self._resolve()
            self.books.wake(self.clock())
            self._revive()
            wait = self.config.wait_for_pods_ready
            blocks = wait is not None and wait.blocks_admission
            if self.rules.is_blocked(blocks, len(self.books.not_ready)):
                break
            quotas = self._quotas()
            heads = self._heads(quotas)
            if not heads:
                break
            heads.sort(key=lambda head: self._turn(head, quotas))
            for head in heads:
                yield from self._tried(head.workload, self._serve(head, quotas))
                of = self.cluster.queues[head.assignment.queue]
                is_left = head.workload.key in self.passed
                if is_left and self.rules.blocks_queue(of.is_strict, False):
                    self.blocked.add(of.name)
                if self.books.in_doubt or self.rules.is_blocked(blocks, len(self.books.not_ready)):
                    break
        if self.refused is not None:
            raise self.refused  # and have it tried again later
        return self.books.wakes_at_us

    def _tried(
        self, workload: Workload, step: Generator[Request, Any, None]
    ) -> Generator[Request, Any, None]:
        """Take a step of a Workload. If it is refused, the others go on."""
        try:
            yield from step
        except ApiError as error:
            self.passed.add(workload.key)
            if not error.is_not_found:  # of one that is gone an event comes
                self.refused = error
            if self.rules.is_in_doubt(error.is_conflict or error.is_retriable):
                self.books.in_doubt[workload.key] = None

    def _resolve(self) -> Generator[Request, Any, None]:
        """Read those of which a write may have been stored, or another one: who holds quota has to
        be known before any is given."""
        for key in tuple(self.books.in_doubt):
            found = yield from read(WORKLOAD, key.namespace, key.name, live=True)
            if found is not None:
                self.books.take_answer(Workload(found))
            del self.books.in_doubt[key]

    def _shut(self, queue: Key, why: str) -> Generator[Request, Any, None]:
        """Say to all in a LocalQueue why they wait."""
        while (workload := self.books.head((queue,), self.passed)) is not None:
            if self.rules.is_in_back_off(workload, self.clock()):
                self.books.sleep(workload.key, workload.requeue_at_us)
            else:
                yield from self._tried(workload, self._set_aside(workload, why))

    def _set_aside(self, workload: Workload, why: str) -> Generator[Request, Any, None]:
        yield from self._say_why(workload, why)
        if self.books.candidate(workload.uid):
            self.books.set_aside(workload.key)
        if self.yielding:
            self.passed -= self.yielding
            self.yielding.clear()
            self.blocked.clear()

    def _quotas(self) -> Quotas:
        used = {queue: dict(used) for queue, used in self.books.used.items()}
        quotas = Quotas(self.cluster.queues, used)
        for queue, usage in self.awaited.values():
            quotas.hold(queue, usage)
        return quotas

    def _revive(self) -> None:
        """Look again at those that wait for quota which came back, or is about to."""
        freed, queues = self.books.freed, self.cluster.queues
        if not freed:
            return
        cohorts = {queues[name].cohort for name in freed if name in queues}
        for name, queue in queues.items():
            if name in freed or (queue.cohort and queue.cohort in cohorts):
                self.books.revive(self.cluster.local.get(name, ()))
        freed.clear()
        # All in their order, as in a new pass: what was kept for one may be another's by now.
        self.passed.clear()
        self.awaited.clear()
        self.blocked.clear()
        self.yielding.clear()

    def _heads(self, quotas: Quotas) -> list[_Head]:
        found = []
        for name, lines in self.cluster.local.items():
            if name in self.blocked:
                continue
            workload = self._head(self.cluster.queues[name], lines)
            if workload is not None:
                found.append(self._judged(workload, self.cluster.queues[name], quotas))
        return found

    def _head(self, queue: ClusterQueue, lines: list[Key]) -> Workload | None:
        """The first of a queue that is not in its back-off."""
        while True:
            workload = self.books.head(lines, self.passed)
            if workload is None:
                return None
            if not self.rules.is_in_back_off(workload, self.clock()):
                return workload
            if self.rules.blocks_queue(queue.is_strict, True):
                return None
            self.books.sleep(workload.key, workload.requeue_at_us)

    def _judged(self, workload: Workload, queue: ClusterQueue, quotas: Quotas) -> _Head:
        preemptor = Preemptor(
            workload,
            queue.name,
            quotas,
            self.books.holders,
            self.rules,
            self.config.requeuing,
        )
        chooser = Chooser(
            queue,
            quotas,
            self.cluster.flavors,
            self.rules,
            self.cluster.additions,
            lambda usage: bool(preemptor.victims(usage)),
            self.rules.borrows_at_once(
                queue.borrows_at_once,
                _has_preempted(workload),
                queue.preemption.borrows,
            ),
        )
        assignment = chooser.assign(workload)
        head = _Head(workload, assignment)
        if assignment.preempts and not assignment.why_not:
            head.victims = preemptor.victims(assignment.usage) or []
            if not head.victims:
                assignment.why_not = "insufficient unused quota, also if others were preempted"
        return head

    def _turn(self, head: _Head, quotas: Quotas) -> tuple[Any, ...]:
        borrows = quotas.borrows(head.assignment.queue, head.assignment.usage)
        return self.rules.turn(borrows, self.rules.rank(head.workload, self.config.requeuing))

    def _serve(self, head: _Head, quotas: Quotas) -> Generator[Request, Any, None]:
        """Take the next step for a head, after those before it in turn."""
        workload = self.books.find(head.workload.key)
        if workload is None or workload.uid != head.workload.uid or workload.has_quota:
            self.passed.add(head.workload.key)
            return
        if not (yield from self.office.has_job(workload)):
            self.passed.add(workload.key)
            return
        if self.books.freed:
            return  # it may be for others, which were set aside and come before
        queue = self.cluster.queues[head.assignment.queue]
        head = self._judged(workload, queue, quotas)
        if self.rules.yields(self._preemptor_waits(workload)):
            self.passed.add(workload.key)
            self.yielding.add(workload.key)
        elif head.assignment.why_not:
            yield from self._refuse(head, queue)
        elif self.rules.awaits_release(bool(head.victims)):
            yield from self._preempt(head, quotas)
        else:
            yield from self._admit(workload, head.assignment)
            quotas.hold(queue.name, head.assignment.usage)

    def _preemptor_waits(self, workload: Workload) -> bool:
        """True if a Workload was preempted for one that is still to be looked at, and has not got
        that quota since; else two that have preempted each other would wait for each other."""
        preemptor = self.books.candidate(_preemptor_of(workload))
        return preemptor is not None and self.rules.is_owed(
            workload.since_us(Condition.PREEMPTED), preemptor.since_us(Condition.EVICTED)
        )

    def _refuse(self, head: _Head, queue: ClusterQueue) -> Generator[Request, Any, None]:
        """Say why it waits; the next one of its queue may pass it, unless the queue is strict."""
        workload, why = head.workload, head.assignment.why_not
        if self.rules.blocks_queue(queue.is_strict, False):
            self.passed.add(workload.key)
            yield from self._say_why(workload, why)
        else:
            yield from self._set_aside(workload, why)

    def _say_why(
        self, workload: Workload, why: str, *, has_preempted: bool = False
    ) -> Generator[Request, Any, None]:
        """Say why it waits. That others were preempted for it holds until it gets quota, whatever
        else it waits for meanwhile."""
        is_owed = has_preempted or _has_preempted(workload)
        reason = Reason.AWAITS_PREEMPTED if is_owed else Reason.PENDING
        known = (
            workload.reason(Condition.QUOTA_RESERVED),
            _message(workload, Condition.QUOTA_RESERVED),
        )
        if known != (reason, why):
            yield from self._write(workload, ((Condition.QUOTA_RESERVED, False, reason, why),))

    def _preempt(self, head: _Head, quotas: Quotas) -> Generator[Request, Any, None]:
        """Evict those that have to give quota back, and keep it for the one that needs it."""
        workload, assignment = head.workload, head.assignment
        self.passed.add(workload.key)
        self.awaited[workload.key] = assignment.queue, assignment.usage
        quotas.hold(assignment.queue, assignment.usage)
        has_preempted = any(_preemptor_of(each.workload) == workload.uid for each in head.victims)
        for victim in head.victims:
            if victim.workload.is_leaving:
                continue
            has_preempted = True
            message = f"Preempted to accommodate a workload (UID: {workload.uid})"
            evicted = (Condition.EVICTED, True, Reason.PREEMPTED, message)
            preempted = (Condition.PREEMPTED, True, victim.reason, message)
            yield from self._write(victim.workload, (evicted, preempted))
        why = "Waits for quota that is about to come back"
        yield from self._say_why(workload, why, has_preempted=has_preempted)

    def _admit(self, workload: Workload, assignment: Assignment) -> Generator[Request, Any, None]:
        """Reserve quota for a Workload."""
        message = f"Quota reserved in ClusterQueue {assignment.queue}"
        changes = [
            (type_, False, Reason.QUOTA_RESERVED, f"Previously: {workload.reason(type_)}")
            for type_ in (Condition.EVICTED, Condition.PREEMPTED)
            if workload.is_(type_)
        ]
        changes += [
            (type_, True, type_, message)
            for type_ in (Condition.QUOTA_RESERVED, Condition.ADMITTED)
        ]
        admission = {
            "clusterQueue": assignment.queue,
            "podSetAssignments": assignment.pod_sets,
        }
        yield from self._write(workload, changes, admission)

    def _write(
        self,
        workload: Workload,
        changes: Iterable[tuple[str, bool, str, str]],
        admission: Object | None = None,
    ) -> Generator[Request, Any, None]:
        """Write conditions, each given by type, status, reason and message, and an admission."""
        now_us = self.clock()
        status = dict(workload.object.get("status") or {})
        conditions: Iterable[Object] = status.get("conditions") or ()
        for type_, is_true, reason, message in changes:
            new = {
                "type": type_,
                "status": "True" if is_true else "False",
                "reason": reason,
                "message": message,
            }
            conditions = with_condition(conditions, new, now_us)
        status["conditions"] = list(conditions)
        if admission is not None:
            status["admission"] = admission
        written = {**workload.object, "status": status}
        stored: Object = yield Update(WORKLOAD, written, subresource="status")
        after = Workload(stored)
        self.books.take_answer(after)
        self.office.metrics.count_write(workload, after)


def _version(queue: Object) -> tuple[str, str]:
    return str(meta(queue)["uid"]), str(meta(queue)["resourceVersion"])


def _asks_the_same(obj: Object, old: Object) -> bool:
    """True if at most an object's status has changed, or what no admission depends on."""
    return (
        obj.get("spec") == old.get("spec")
        and labels_of(obj) == labels_of(old)
        and is_terminating(obj) == is_terminating(old)
    )


def _has_preempted(workload: Workload) -> bool:
    """True if others were preempted for a Workload that waits, since it was admitted last."""
    return workload.reason(Condition.QUOTA_RESERVED) == Reason.AWAITS_PREEMPTED


def _message(workload: Workload, type_: str) -> str:
    """The message of a condition; empty if there is none."""
    return str((condition(workload.object, type_) or {}).get("message", ""))


def _preemptor_of(workload: Workload) -> str:
    """The uid of the Workload that one is preempted for; empty if it is not."""
    if not workload.is_(Condition.PREEMPTED):
        return ""
    return _message(workload, Condition.PREEMPTED).partition("(UID: ")[2].partition(")")[0]
