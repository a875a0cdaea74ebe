"""The Job controller's queue, and one sync from the first look to the last write."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.workloads.job import conditions as c
from clusters.simulated.controllers.workloads.job.accounting import account, release_patch
from clusters.simulated.controllers.workloads.job.backoff import (
    BackoffRecord,
    finished_us,
    remaining_us,
)
from clusters.simulated.controllers.workloads.job.indexes import first_pending, index_of
from clusters.simulated.controllers.workloads.job.pods import (
    TRACKING,
    for_removal,
    is_managed_elsewhere,
    is_tracked,
    new_pod,
    replaces_only_failed,
)
from clusters.simulated.controllers.workloads.job.tally import Tally, take, total_failures
from clusters.simulated.controllers.workloads.job.verdict import deadline_us, judge
from clusters.simulated.controllers.workloads.pods import is_ready, is_stopping
from clusters.simulated.controllers.workloads.volume_claims import claim
from clusters.simulated.latencies import MEASURED
from clusters.simulated.store import Change
from vocabulary.clock import MINUTE, SECOND, Micros, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD
from vocabulary.objects import (
    Object,
    controller_of,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    owner_references,
    uid_of,
)
from vocabulary.requests import Create, Delete, Request

_MAX_PER_SYNC: Final = 500
_ORPHAN: Final = "orphan"
_JOB_NAME: Final = "batch.kubernetes.io/job-name"


class JobController(Controller):
    """Runs pods to completion for every Job that is not managed by another controller."""

    name = "job-controller"
    queue_delay_us = MEASURED["job_controller_us"]
    retry_us = (1 * SECOND, 1 * MINUTE)

    def __init__(self, environment: Environment) -> None:
        self._backoff: dict[Hashable, BackoffRecord] = {}
        super().__init__(environment)

    def listen(self) -> None:
        self.on(JOB, self._job_changed)
        self.on(POD, self._pod_changed)

    def everything(self) -> Iterable[Hashable]:
        for job in self.informers.all_of(JOB):
            yield namespace_of(job), name_of(job)
        for pod in self.informers.all_of(POD):
            if is_tracked(pod) and self._job_of(pod) is None:
                yield _ORPHAN, namespace_of(pod), name_of(pod)

    def forget(self) -> None:
        self._backoff.clear()

    def _job_changed(self, change: Change) -> None:
        key = change.key.namespace, change.key.name
        job = change.object
        if change.event == "DELETED" or c.is_finished(job):
            if change.event == "DELETED":
                self._backoff.pop(key, None)
                self.enqueue(key)
            for pod in self.informers.controlled_by(uid_of(job)):
                self._free_if_orphan(pod)
        elif change.old is not None and meta(change.old).get("generation") == meta(job).get(
            "generation"
        ):
            self._gather(key)
        else:
            self.enqueue(key)

    def _pod_changed(self, change: Change) -> None:
        pod, old = change.object, change.old
        if old is not None and owner_references(old) != owner_references(pod):
            left = self._job_of(old)
            if left is not None:
                self._gather((namespace_of(left), name_of(left)))
        job = self._job_of(pod)
        if job is not None and not c.is_finished(job):
            self._gather((namespace_of(job), name_of(job)))
        elif change.event != "DELETED":
            self._free_if_orphan(pod)
            if controller_of(pod) is None and _JOB_NAME in labels_of(pod):
                # Its labels may still select it into a Job.
                self._gather((namespace_of(pod), labels_of(pod)[_JOB_NAME]))

    def _gather(self, key: Hashable) -> None:
        """Sync the Job soon, together with whatever else happens to its pods until then."""
        self.enqueue_after(key, self.settings.job_sync_batch_us)

    def _job_of(self, pod: Object) -> Object | None:
        """The Job that controls a pod, if it is still that very Job."""
        owner = controller_of(pod)
        if owner is None or owner["kind"] != JOB.kind:
            return None
        job = self.informers.get(JOB, namespace_of(pod), owner["name"])
        return job if job is not None and uid_of(job) == owner["uid"] else None

    def _free_if_orphan(self, pod: Object) -> None:
        if is_tracked(pod):
            self.enqueue((_ORPHAN, namespace_of(pod), name_of(pod)))

    def sync(self, key: Any) -> Work:
        return self._free_orphan(*key[1:]) if key[0] == _ORPHAN else self._sync_job(key)

    def _free_orphan(self, namespace: str, name: str) -> Work:
        """Take the tracking finalizer off a pod whose Job is gone or finished."""
        pod = self.informers.get(POD, namespace, name)
        if pod is None or not is_tracked(pod):
            return None
        owner = controller_of(pod)
        if owner is not None and owner["kind"] != JOB.kind:
            return None
        job = self._job_of(pod)
        if job is not None and (is_managed_elsewhere(job) or not c.is_finished(job)):
            return None
        yield release_patch(pod)
        return None

    def _sync_job(self, key: tuple[str, str]) -> Work:
        job = self.informers.get(JOB, *key)
        if job is None or c.is_finished(job):
            self._backoff.pop(key, None)
            return None
        if is_managed_elsewhere(job):
            return None
        pods = yield from claim(self.informers, job, JOB, finalizer=TRACKING)
        record = self._backoff.get(key) or BackoffRecord()
        now_us = self.loop.now_us
        tally = take(job, pods, record, now_us, to_rfc3339(now_us))
        suspended = bool(tally.spec.get("suspend"))
        if "startTime" not in tally.status and not suspended:
            tally.status["startTime"] = tally.now
        tally.finish = judge(tally)
        refused: ApiError | None = None
        turned = False
        wait_us: Micros | None = None
        if tally.finish is not None:
            if not (yield from self._delete_active(tally)):
                tally.finish = None
        else:
            managed = not is_terminating(job)
            if managed:
                refused, wait_us = yield from self._manage(tally, suspended)
            if _is_complete(tally):
                tally.finish = c.job_condition(c.SUCCESS_CRITERIA_MET, *c.COMPLETIONS, tally.now)
            elif managed:
                turned = _show_suspension(tally, suspended)
        changed = _write_counts(tally) or turned
        if (yield from account(tally, changed)):
            self._backoff[key] = tally.backoff
        if refused is not None:
            raise refused
        if tally.finish is not None:
            return None
        waits = [deadline_us(tally), None if wait_us is None else now_us + wait_us]
        return min((at_us for at_us in waits if at_us is not None), default=None)

    def _manage(
        self, tally: Tally, suspended: bool
    ) -> Generator[Request, Any, tuple[ApiError | None, Micros | None]]:
        """Bring the number of active pods to what it should be.

        Answers the refusal that stopped it, and how long to wait before more can be created.
        """
        wanted = 0 if suspended else _wanted_active(tally)
        surplus = for_removal(tally.job, tally.active_pods, max(tally.active - wanted, 0))
        if surplus or suspended:
            return (yield from self._delete_surplus(tally, surplus[:_MAX_PER_SYNC])), None
        stopping = tally.stopping if replaces_only_failed(tally.spec) else 0
        missing = wanted - stopping - tally.active
        if missing <= 0:
            return None, None
        wait_us = 0 if tally.is_per_index else self._remaining(tally.backoff)
        indexes: list[int | None]
        if wait_us == 0 and tally.is_indexed:
            pending = self._pending_indexes(tally, min(missing, _MAX_PER_SYNC))
            waits = {index: self._index_wait_us(tally, index) for index in pending}
            indexes = [index for index in pending if waits[index] == 0]
            if not indexes:
                wait_us = min(waits.values(), default=0)
        else:
            indexes = [None] * min(missing, _MAX_PER_SYNC)
        if wait_us > 0:
            return None, max(wait_us, self.settings.job_sync_batch_us)
        for index in indexes:
            replaced = None if index is None else tally.replaceable.get(index)
            pod = new_pod(tally.job, index, replaced)
            try:
                yield Create(POD, pod, namespace_of(tally.job))
            except ApiError as error:
                # After one refusal the others would most likely be refused as well.
                return error, None
            tally.active += 1
        return None, None

    def _pending_indexes(self, tally: Tally, count: int) -> list[int]:
        busy = list(tally.active_pods)
        if replaces_only_failed(tally.spec):
            busy += [pod for pod in tally.pods if is_stopping(pod)]
        taken = tally.succeeded_indexes | {
            index for pod in busy if (index := index_of(pod)) is not None
        }
        if tally.failed_indexes is not None:
            taken |= tally.failed_indexes
        return first_pending(taken, count, tally.completions or 0)

    def _remaining(self, record: BackoffRecord) -> Micros:
        return remaining_us(
            self.settings, record.failures, record.last_failure_us, self.loop.now_us
        )

    def _index_wait_us(self, tally: Tally, index: int) -> Micros:
        replaced = tally.replaceable.get(index)
        if replaced is None:
            return 0
        return self._remaining(BackoffRecord(total_failures(replaced) + 1, finished_us(replaced)))

    def _delete_active(self, tally: Tally) -> Generator[Request, Any, bool]:
        """Delete what still runs of a Job that is at its end; whether all could be deleted."""
        complete = True
        for pod in tally.active_pods:
            complete = (yield from self._delete(tally, pod)) is None and complete
        return complete

    def _delete_surplus(
        self, tally: Tally, pods: list[Object]
    ) -> Generator[Request, Any, ApiError | None]:
        """Delete pods that are too many. They are released first: they are no failures."""
        refused: ApiError | None = None
        for pod in pods:
            if is_tracked(pod):
                try:
                    yield release_patch(pod)
                except ApiError as error:
                    if not error.is_not_found:
                        refused = error
                        continue
            refused = (yield from self._delete(tally, pod)) or refused
        return refused

    @staticmethod
    def _delete(tally: Tally, pod: Object) -> Generator[Request, Any, ApiError | None]:
        try:
            yield Delete(POD, namespace_of(pod), name_of(pod))
        except ApiError as error:
            if not error.is_not_found:
                return error
        tally.active -= 1
        tally.stopping += 1
        tally.ready -= is_ready(pod)
        return None


def _wanted_active(tally: Tally) -> int:
    parallelism: int = tally.spec["parallelism"]
    if tally.completions is None:
        # Any success means that the work is done: what runs may end, nothing is added.
        return tally.active if tally.succeeded else parallelism
    return max(0, min(tally.completions - tally.succeeded, parallelism))


def _is_complete(tally: Tally) -> bool:
    if tally.active:
        return False
    if tally.completions is None:
        return tally.succeeded > 0
    return tally.succeeded >= tally.completions


def _show_suspension(tally: Tally, suspended: bool) -> bool:
    """Keep the Suspended condition, and with it startTime; whether the status changed."""
    shown = list(tally.status.get("conditions") or ())
    if suspended:
        wanted = c.job_condition(c.SUSPENDED, "JobSuspended", "Job suspended", tally.now)
    else:
        wanted = c.job_condition(c.SUSPENDED, "JobResumed", "Job resumed", tally.now, "False")
    shown, turned = c.ensured(shown, wanted)
    if not turned:
        return False
    tally.status["conditions"] = shown
    if suspended:
        tally.status.pop("startTime", None)
    else:
        tally.status["startTime"] = tally.now
    return True


def _write_counts(tally: Tally) -> bool:
    """Put the numbers of pods into the status; whether that changed it."""
    status = tally.status
    counts = tally.active, tally.ready, tally.stopping
    before = status.get("active", 0), status.get("ready"), status.get("terminating")
    status["active"], status["ready"], status["terminating"] = counts
    if not tally.active:
        del status["active"]
    return before != counts
