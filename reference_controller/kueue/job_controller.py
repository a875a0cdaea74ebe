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

from reference_controller.kueue.events import event_for, notes_of
from reference_controller.kueue.integrations import Integration, PodSetInfo
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    OF_WORKLOAD,
    POD_SET,
    RESOURCE_FLAVOR,
    WORKLOAD,
    Reason,
)
from reference_controller.kueue.new_workload import new_workload, same_shape
from reference_controller.kueue.office import Office
from reference_controller.kueue.priorities import priority_of
from reference_controller.kueue.quota import stop_policy_of
from reference_controller.kueue.release import LOOKS_AGAIN_US, forget, leave, pods_left
from reference_controller.kueue.workload import Workload
from reference_controller.kueue.workload_status import Seen, next_status
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.events import Told, send
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import Reading, read
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, Kind
from vocabulary.objects import (
    Object,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    owner_references,
    uid_of,
)
from vocabulary.requests import Create, Patch, Reconcile, Request, Update

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class JobController:
    """Jobs of one kind. Its memory are its own writes and the books."""

    def __init__(self, integration: Integration, office: Office) -> None:
        self.name: Final = integration.prefix
        self.watches: Final = tuple(
            dict.fromkeys((*integration.watches, WORKLOAD, POD, CLUSTER_QUEUE, LOCAL_QUEUE))
        )
        self._integration = integration
        self._office = office
        self._writes = OwnWrites()
        self._told = Told()

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock = clock
        self._office.rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The job itself, or the one that a Workload stands for, or that of a pod's Workload, or
        those that hold quota of a queue."""
        if kind == WORKLOAD:
            return self._of(Workload(old or obj))
        if kind in (CLUSTER_QUEUE, LOCAL_QUEUE):
            return self._stopped_by(kind, obj)
        keys: list[Key] = []
        if kind in self._integration.watches:
            keys += filter(None, (self._integration.job_of(obj),))
        if kind == POD:
            name = labels_of(obj).get(OF_WORKLOAD, "")
            workload = caches[WORKLOAD].get(namespace_of(obj), name)
            keys += () if workload is None else self._of(Workload(workload))
        return dict.fromkeys(keys)

    def _stopped_by(self, kind: Kind, queue: Object) -> Iterable[Key]:
        """The jobs that hold quota of a queue which is drained."""
        if not self._office.rules.drains(stop_policy_of(queue)):
            return
        is_local = kind == LOCAL_QUEUE
        name = get_path(queue, "spec.clusterQueue", "") if is_local else name_of(queue)
        for each in self._office.books.holders.get(name, {}).values():
            if not is_local or each.queue == key_of(queue):
                yield from self._of(each)

    def _of(self, workload: Workload) -> tuple[Key, ...]:
        """The job that a Workload stands for, if it is of this kind."""
        kind = self._integration.kind
        if workload.owner is None or workload.owner[:2] != (kind.api_version, kind.kind):
            return ()
        return (workload.owner[2],)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        its = _Pass(key, self._integration, self._office, self._writes, self._told, self._clock)
        due_us = yield from its.run()
        if not its.looks_again:
            return due_us
        again_us = now_us + LOOKS_AGAIN_US
        return again_us if due_us is None else min(due_us, again_us)


@dataclass(slots=True)
class _Pass:
    """One pass over one job."""

    key: Key
    integration: Integration
    office: Office
    writes: OwnWrites
    told: Told
    clock: Callable[[], Micros]
    job: Object = field(default_factory=dict)
    looks_again: bool = False
    """No event may tell when its pods are gone."""

    def run(self) -> Reconcile:
        known = self.office.books.of_job(self.integration.kind, self.key)
        cached = yield from self._find(known)
        if cached is None:
            self.writes.forget(self.key)
        else:
            self.job = self.writes.later(self.key, cached)
        is_managed = cached is not None and (yield from self.office.is_managed(self.job))
        workload = None
        for each in known:
            is_its = is_managed and self.office.rules.stands_for(each.owner_uid, uid_of(self.job))
            if is_its and workload is None:
                workload = each
            else:
                yield from self._leave(each)
        if not is_managed:
            return None
        if workload is None:
            return (yield from self._begin())
        if self.office.rules.leaves_job(is_terminating(self.job)):
            yield from self._leave(workload, is_orphaned=True)
            return None
        is_over = is_terminating(self.job) and not workload.has_quota
        if workload.is_terminating or is_over:
            if not is_over:
                yield from self._stop()
            yield from self._leave(workload)
            return None
        return (yield from self._follow(workload))

    def _find(self, known: Sequence[Workload]) -> Reading[Object | None]:
        """The job. Its cache may be behind that of Workloads, which another replica can create: it
        is not believed where one would be deleted for that."""
        first = known[0].object if known else None
        cached = yield from self.integration.find(self.key, first, live=False)
        rules = self.office.rules
        is_its = cached is not None and all(
            rules.stands_for(each.owner_uid, uid_of(cached)) for each in known
        )
        if not known or not rules.looks_live(not is_its):
            return cached
        return (yield from self.integration.find(self.key, first, live=True))

    def _begin(self) -> Reconcile:
        """Suspend a job that has no Workload, and create one; a cache that is behind may show one
        that is deleted."""
        if is_terminating(self.job) or self.integration.end(self.job) is not None:
            return None
        standing = yield from self.integration.find(self.key, None, live=True)
        if standing is None or is_terminating(standing):
            return None
        self.job = standing
        if not self.office.rules.waits_running(bool(self.integration.stop(standing))):
            return None
        yield from self._stop()
        pod_sets = self.integration.pod_sets(self.job)
        if not pod_sets:
            return None  # its controller has yet to say
        priority = yield from priority_of(self.job, pod_sets)
        made = new_workload(self.integration, self.job, pod_sets, priority)
        workload = self.office.rules.companion(made)
        stored: Object = yield Create(WORKLOAD, workload, self.key.namespace, name_of(workload))
        self.office.books.take(Workload(stored))
        return None

    def _follow(self, workload: Workload) -> Reconcile:
        """Take the next step of a job and its Workload."""
        is_over = workload.is_evicted or self.integration.end(self.job) is not None
        left = yield from pods_left(workload, is_sure=is_over and workload.has_quota)
        stopped = yield from self._stopped(workload)
        self.looks_again |= self.office.rules.looks_for_pods(left.is_unseen)
        seen = Seen(workload, self.integration, self.job, left.by_pod_set, self.clock(), stopped)
        step = next_status(seen, self.office.config, self.office.rules)
        if step.status != (workload.object.get("status") or {}):
            stored: Object = yield Update(
                WORKLOAD, {**workload.object, "status": step.status}, subresource="status"
            )
            workload = self._took(stored)
            self.office.metrics.count_write(seen.workload, workload)
        if step.deactivates:
            stored = yield Patch(WORKLOAD, *workload.key, {"spec": {"active": False}})
            workload = self._took(stored)
        yield from self._tell(workload)
        workload = yield from self._own(workload)
        if workload.is_finished:
            yield from forget(workload, self.office)
        elif is_terminating(self.job) or self.integration.end(self.job) is not None:
            pass
        elif not same_shape(workload, self.integration, self.job):
            yield from self._reshape(workload)
        elif self.office.rules.runs(workload):
            yield from self._start(workload)
        elif self.office.rules.stops(workload):
            yield from self._stop()
            if not workload.has_quota:
                yield from self._restore(workload)
        return step.wake_at_us

    def _own(self, workload: Workload) -> Generator[Request, Any, Workload]:
        """Make a Workload depend on all parts of its job; else it goes with those of its start."""
        if not self.integration.is_joined:
            return workload
        owners = self.integration.head(self.job)["ownerReferences"]
        known = owner_references(workload.object)
        new = [each for each in owners if each["uid"] not in {ref["uid"] for ref in known}]
        if not new:
            return workload
        version = meta(workload.object)["resourceVersion"]
        body = {"metadata": {"ownerReferences": [*known, *new], "resourceVersion": version}}
        stored: Object = yield Patch(WORKLOAD, *workload.key, body)
        return self._took(stored)

    def _reshape(self, workload: Workload) -> Generator[Request, Any, None]:
        """Follow a job that was changed. Quota that was reserved is for what it was, and goes when
        the job has stopped."""
        yield from self._stop()
        if workload.has_quota:
            if not self.integration.is_active(self.job):
                yield from self._leave(workload)
            return
        pod_sets = self.integration.pod_sets(self.job)
        if self.integration.is_placed(self.job):
            if _names(workload.pod_sets) == _names(pod_sets):
                yield from self._restore(workload)
            else:  # somebody else's, which do not say how its templates were
                yield from self._leave(workload)
            return
        priority = yield from priority_of(self.job, pod_sets)
        wanted = new_workload(self.integration, self.job, pod_sets, priority)["spec"]
        version = meta(workload.object)["resourceVersion"]
        body = {
            "metadata": {"resourceVersion": version},
            "spec": {key: wanted[key] for key in wanted if key != "active"},
        }
        stored: Object = yield Patch(WORKLOAD, *workload.key, body)
        self._took(stored)

    def _stopped(self, workload: Workload) -> Generator[Request, Any, str]:
        """The reason to evict a Workload since its queue is drained; empty: there is none."""
        if not workload.has_quota:
            return ""
        for kind, key, reason in (
            (CLUSTER_QUEUE, Key("", workload.cluster_queue), Reason.CLUSTER_QUEUE_STOPPED),
            (LOCAL_QUEUE, workload.queue, Reason.LOCAL_QUEUE_STOPPED),
        ):
            queue = yield from read(kind, *key, live=False)
            if queue is not None and self.office.rules.drains(stop_policy_of(queue)):
                return reason
        return ""

    def _tell(self, workload: Workload) -> Generator[Request, Any, None]:
        """Send the Events about a Workload that were not sent yet."""
        for identity, note in notes_of(workload, self.office.rules):
            if identity not in self.told:
                event = event_for(workload, identity, note, self.clock())
                yield from send(event, identity, self.told, _drop)

    def _took(self, stored: Object) -> Workload:
        workload = Workload(stored)
        self.office.books.take_answer(workload)
        return workload

    def _start(self, workload: Workload) -> Generator[Request, Any, None]:
        """Let a job run under its admission."""
        assigned = workload.admission.get("podSetAssignments") or ()
        if _names(assigned) != _names(workload.pod_sets):
            return  # somebody else's, which are not for its pods
        infos = []
        for each in assigned:
            labels = {OF_WORKLOAD: workload.key.name, POD_SET: each["name"]}
            selector: dict[str, str] = {}
            tolerations: list[Object] = []
            for flavor in dict.fromkeys((each.get("flavors") or {}).values()):
                found = yield from read(RESOURCE_FLAVOR, "", flavor, live=False)
                node_labels = get_path(found or {}, "spec.nodeLabels") or {}
                selector.update(self.office.rules.node_selector(node_labels))
                tolerations += get_path(found or {}, "spec.tolerations") or ()
            infos.append(PodSetInfo(labels, selector, tolerations))
        yield from self._send(self.integration.start(self.job, workload.pod_sets, infos))

    def _stop(self) -> Generator[Request, Any, None]:
        if self.integration.end(self.job) is None:
            yield from self._send(self.integration.stop(self.job))

    def _restore(self, workload: Workload) -> Generator[Request, Any, None]:
        """Take back what an admission has changed."""
        if self.office.rules.takes_back(self.integration.is_placed(self.job)):
            yield from self._send(self.integration.restore(self.job, workload.pod_sets))

    def _send(self, requests: Iterable[Request]) -> Generator[Request, Any, None]:
        for request in requests:
            written: Object = yield request
            if isinstance(request, Patch) and request.kind == self.integration.kind:
                self.writes.remember(self.key, written)
                self.job = written

    def _leave(
        self, workload: Workload, *, is_orphaned: bool = False
    ) -> Generator[Request, Any, None]:
        is_unseen = yield from leave(workload, self.office, is_orphaned=is_orphaned)
        self.looks_again |= is_unseen


def _names(pod_sets: Sequence[Object]) -> list[str]:
    return [each["name"] for each in pod_sets]


def _drop(error: ApiError) -> None:
    """An Event that the API server does not take keeps nothing from going on."""
    del error
