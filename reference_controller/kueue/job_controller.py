"""The controller of one kind of jobs: a Workload for each, and no run without quota.

One pass looks at a job with its Workload and writes the next step of either, so that a job is not
started while its quota is given back. What a pass decides is derived from what is stored:

- a job without quota is suspended before anything else;
- the Workload says Evicted before its job is suspended for it, and its quota goes back once the
  job, or its pods, say so: a crash in between loses nothing;
- a Workload keeps a finalizer while its quota may be held, so that a deleted one still counts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.events import event_for, notes_of
from reference_controller.kueue.integrations import Integration, PodSetInfo
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    IN_USE,
    JOB_UID,
    LOCAL_QUEUE,
    OF_WORKLOAD,
    QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
    Reason,
)
from reference_controller.kueue.priorities import priority_of
from reference_controller.kueue.quota import stop_policy_of
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.kueue.workload_status import Seen, next_status
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.events import Told, send
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import read
from vocabulary.canonical import digest
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, Kind
from vocabulary.objects import (
    Object,
    controller_of,
    finalizers_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Create, List, ObjectList, Patch, Reconcile, Request, Update

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

_NAME_MAX: Final = 63
_ENDED: Final = ("Succeeded", "Failed")


class JobController:
    """Jobs of one kind. Its memory are its own writes and the books."""

    def __init__(
        self, integration: Integration, config: KueueConfig, rules: Rules, books: Books
    ) -> None:
        self.name: Final = integration.prefix
        self.watches: Final = (integration.kind, WORKLOAD, POD, CLUSTER_QUEUE, LOCAL_QUEUE)
        self._integration = integration
        self._config = config
        self._rules = rules
        self._books = books
        self._writes = OwnWrites()
        self._told = Told()

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock = clock
        self._rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The job itself, or the one that a Workload stands for, or that of a pod's Workload, or
        those that hold quota of a queue."""
        if kind == self._integration.kind:
            return (key_of(obj),)
        if kind == WORKLOAD:
            return self._owner(old or obj)
        if kind in (CLUSTER_QUEUE, LOCAL_QUEUE):
            return self._stopped_by(kind, obj)
        workload = caches[WORKLOAD].get(namespace_of(obj), labels_of(obj).get(OF_WORKLOAD, ""))
        return () if workload is None else self._owner(workload)

    def _stopped_by(self, kind: Kind, queue: Object) -> Iterable[Key]:
        """The jobs that hold quota of a queue which is drained."""
        if not self._rules.drains(stop_policy_of(queue)):
            return
        is_local = kind == LOCAL_QUEUE
        name = get_path(queue, "spec.clusterQueue", "") if is_local else name_of(queue)
        for each in self._books.holders.get(name, {}).values():
            if not is_local or each.queue == key_of(queue):
                yield from self._owner(each.object)

    def _owner(self, workload: Object) -> tuple[Key, ...]:
        owner = controller_of(workload)
        kind = self._integration.kind
        if owner is None or (owner["apiVersion"], owner["kind"]) != (kind.api_version, kind.kind):
            return ()
        return (Key(namespace_of(workload), str(owner["name"])),)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        one = _Pass(
            key,
            self._integration,
            self._config,
            self._rules,
            self._books,
            self._writes,
            self._told,
            self._clock,
        )
        return one.run()


@dataclass(slots=True)
class _Pass:
    """One pass over one job."""

    key: Key
    integration: Integration
    config: KueueConfig
    rules: Rules
    books: Books
    writes: OwnWrites
    told: Told
    clock: Callable[[], Micros]
    job: Object = field(default_factory=dict)

    def run(self) -> Reconcile:
        cached = yield from read(self.integration.kind, *self.key, live=False)
        if cached is None:
            self.writes.forget(self.key)
        else:
            self.job = self.writes.later(self.key, cached)
        workload = None
        for each in self.books.of_job(self.integration.kind, self.key):
            if cached is not None and each.owner_uid == uid_of(cached):
                workload = each
            else:
                yield from self._leave(each)
        if cached is None or QUEUE not in labels_of(self.job):
            return None
        if workload is None:
            return (yield from self._begin())
        if workload.is_terminating:
            yield from self._stop()
            yield from self._leave(workload)
            return None
        return (yield from self._follow(workload))

    def _begin(self) -> Reconcile:
        """Suspend a job that has no Workload, and create one."""
        if is_terminating(self.job) or self.integration.end(self.job) is not None:
            return None
        yield from self._stop()
        pod_sets = self.integration.pod_sets(self.job)
        priority = yield from priority_of(self.job, pod_sets)
        workload = self._new(pod_sets, priority)
        stored: Object = yield Create(WORKLOAD, workload, self.key.namespace, name_of(workload))
        self.books.take(Workload(stored))
        return None

    def _follow(self, workload: Workload) -> Reconcile:
        """Take the next step of a job and its Workload."""
        pods_left = yield from self._pods_left(workload)
        stopped = yield from self._stopped(workload)
        seen = Seen(workload, self.integration, self.job, pods_left, self.clock(), stopped)
        step = next_status(seen, self.config, self.rules)
        if step.status != (workload.object.get("status") or {}):
            stored: Object = yield Update(
                WORKLOAD, {**workload.object, "status": step.status}, subresource="status"
            )
            workload = self._took(stored)
        if step.deactivates:
            stored = yield Patch(WORKLOAD, *workload.key, {"spec": {"active": False}})
            workload = self._took(stored)
        yield from self._tell(workload)
        if workload.is_finished:
            yield from self._forget(workload)
        elif is_terminating(self.job):
            pass
        elif self.rules.runs(workload):
            yield from self._start(workload)
        elif self.rules.stops(workload):
            yield from self._stop()
        return step.wake_at_us

    def _stopped(self, workload: Workload) -> Generator[Request, Any, str]:
        """The reason to evict a Workload since its queue is drained; empty: there is none."""
        if not workload.has_quota:
            return ""
        for kind, key, reason in (
            (CLUSTER_QUEUE, Key("", workload.cluster_queue), Reason.CLUSTER_QUEUE_STOPPED),
            (LOCAL_QUEUE, workload.queue, Reason.LOCAL_QUEUE_STOPPED),
        ):
            queue = yield from read(kind, *key, live=False)
            if queue is not None and self.rules.drains(stop_policy_of(queue)):
                return reason
        return ""

    def _tell(self, workload: Workload) -> Generator[Request, Any, None]:
        """Send the Events about a Workload that were not sent yet."""
        for identity, note in notes_of(workload):
            if identity not in self.told:
                event = event_for(workload, identity, note, self.clock())
                yield from send(event, identity, self.told, _drop)

    def _took(self, stored: Object) -> Workload:
        workload = Workload(stored)
        self.books.take(workload)
        return workload

    def _start(self, workload: Workload) -> Generator[Request, Any, None]:
        if not self.integration.is_suspended(self.job):
            return
        infos = []
        for each in workload.admission["podSetAssignments"]:
            selector: dict[str, str] = {}
            for flavor in dict.fromkeys((each.get("flavors") or {}).values()):
                found = yield from read(RESOURCE_FLAVOR, "", flavor, live=False)
                selector.update(get_path(found or {}, "spec.nodeLabels") or {})
            infos.append(PodSetInfo(each["name"], {OF_WORKLOAD: workload.key.name}, selector))
        yield from self._patch(self.integration.started(self.job, workload.pod_sets, infos))

    def _stop(self) -> Generator[Request, Any, None]:
        if self.integration.is_suspended(self.job):
            return
        if self.integration.end(self.job) is None:
            yield from self._patch(self.integration.suspended())

    def _patch(self, body: Object) -> Generator[Request, Any, None]:
        written: Object = yield Patch(self.integration.kind, *self.key, body)
        self.writes.remember(self.key, written)
        self.job = written

    def _pods_left(self, workload: Workload) -> Generator[Request, Any, int]:
        selector = f"{OF_WORKLOAD}={workload.key.name}"
        pods: ObjectList = yield List(POD, self.key.namespace, label_selector=selector)
        return sum(get_path(pod, "status.phase") not in _ENDED for pod in pods.items)

    def _leave(self, workload: Workload) -> Generator[Request, Any, None]:
        """Let a Workload go that is deleted, or whose job is gone."""
        pods_left = yield from self._pods_left(workload)
        if self.rules.may_go(False, self.config.holds_until_terminal, pods_left):
            yield from self._forget(workload)

    def _forget(self, workload: Workload) -> Generator[Request, Any, None]:
        """Take the finalizer off."""
        left = [each for each in finalizers_of(workload.object) if each != IN_USE]
        if len(left) < len(finalizers_of(workload.object)):
            version = meta(workload.object)["resourceVersion"]
            body = {"metadata": {"finalizers": left or None, "resourceVersion": version}}
            stored: Object = yield Patch(WORKLOAD, *workload.key, body)
            self._took(stored)

    def _new(self, pod_sets: Sequence[Object], priority: Object) -> Object:
        """The Workload that stands for the job."""
        kind, uid = self.integration.kind, uid_of(self.job)
        ending = digest([kind.group_kind, self.key.name, uid])[:5]
        name = f"{self.integration.prefix}-{self.key.name}"[: _NAME_MAX - 6]
        owner = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "name": self.key.name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        return {
            "apiVersion": WORKLOAD.api_version,
            "kind": WORKLOAD.kind,
            "metadata": {
                "name": f"{name}-{ending}",
                "namespace": self.key.namespace,
                "labels": {JOB_UID: uid},
                "finalizers": [IN_USE],
                "ownerReferences": [owner],
            },
            "spec": {
                "queueName": labels_of(self.job)[QUEUE],
                "podSets": list(pod_sets),
                "active": True,
                **priority,
            },
        }


def _drop(error: ApiError) -> None:
    """An Event that the API server does not take keeps nothing from going on."""
    del error
