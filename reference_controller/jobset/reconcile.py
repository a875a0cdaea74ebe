"""One pass over one JobSet, one request at a time. No I/O here: each yield is a crash point.

The order of requests is what makes a crash at any of them harmless:

- a restart, and every other verdict, is written before anything follows from it, under the
  resourceVersion that was read: one decided on a stale JobSet ends in a conflict;
- what follows is derived from the written status: Jobs of an older number of restarts are marked
  or deleted, by their uids, and what is missing is created;
- a Job can only be created once its predecessor is gone, since their names are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Final

from reference_controller.jobset.children import changes, wanted_names
from reference_controller.jobset.events import Identity, event_for, identity_of
from reference_controller.jobset.job_set import is_finished, spec_of, status_of
from reference_controller.jobset.metrics import Metrics
from reference_controller.jobset.names import CONTROLLER_NAME, JOB_SET, Condition, Reason
from reference_controller.jobset.observation import Job, Observation, job_of
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.templates import build_service, needs_service, subdomain_of
from reference_controller.jobset.verdict import Note, Verdict, judge
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, SERVICE
from vocabulary.objects import (
    Object,
    condition,
    is_terminating,
    meta,
    name_of,
    uid_of,
)
from vocabulary.requests import Create, Delete, Get, List, Reconcile, Request, Update

_BEHIND_US: Final = SECOND
"""The time to look again after the cache of Jobs was seen to be behind: no event need come."""
_MAX_TOLD: Final = 10_000


@dataclass(slots=True)
class Reconciliation:
    """One pass over one JobSet."""

    namespace: str
    name: str
    rules: Rules
    clock: Callable[[], Micros]
    metrics: Metrics
    wrote: Callable[[Object], None]
    """Called with each JobSet that we wrote, so that our own echo can be recognized."""
    told: set[Identity] = field(default_factory=set)
    """The Events that this process has sent; it may forget them."""
    job_set: Object = field(default_factory=dict)

    def run(self, own: Object | None) -> Reconcile:
        """`own` is what our last write was answered, if it is remembered."""
        job_set = yield from _read(Get(JOB_SET, self.namespace, self.name))
        if job_set is None or is_terminating(job_set) or not _is_managed(job_set):
            return None
        if (
            own is not None
            and uid_of(own) == uid_of(job_set)
            and _revision(own) > _revision(job_set)
        ):
            job_set = own
        self.job_set = job_set
        seen = yield from self._observe()
        verdict = judge(seen, self.rules)
        if verdict.status != status_of(self.job_set):
            yield from self._record(verdict)
            seen = _looked_at(self.job_set, (*seen.stale, *seen.current), seen, self.rules)
        return (yield from self._follow(seen))

    def _observe(self) -> Generator[Request, Any, Observation]:
        listed = yield List(JOB, self.namespace)
        service = yield from _read(Get(SERVICE, self.namespace, subdomain_of(self.job_set)))
        wanted = wanted_names(self.job_set)
        jobs = [
            job_of(obj, wanted[name_of(obj)])
            for obj in listed.items
            if name_of(obj) in wanted and self.rules.is_ours(obj, self.job_set)
        ]
        has_service = service is not None and self.rules.is_ours(service, self.job_set)
        seen = Observation(self.job_set, self.clock(), (), (), has_service)
        return _looked_at(self.job_set, tuple(jobs), seen, self.rules)

    def _record(self, verdict: Verdict) -> Generator[Request, Any, None]:
        """Write the status under optimistic lock; then tell people."""
        written = yield Update(
            JOB_SET, {**self.job_set, "status": verdict.status}, subresource="status"
        )
        self.metrics.count_verdict(self.namespace, self.job_set, written)
        self.job_set = written
        self.wrote(written)
        if verdict.note is not None:
            yield from self._tell(verdict.note)

    def _tell(self, note: Note) -> Generator[Request, Any, None]:
        identity = identity_of(self.job_set, note)
        if identity in self.told:
            return
        try:
            yield event_for(self.job_set, note, self.clock())
        except ApiError as error:
            if not error.is_already_exists:
                self.metrics.count("jobset_event_dropped_total", reason=error.reason)
                return
        if len(self.told) >= _MAX_TOLD:
            self.told.clear()
        self.told.add(identity)

    def _follow(self, seen: Observation) -> Reconcile:
        """Carry out what follows from the status."""
        if is_finished(self.job_set):
            return (yield from self._end(seen))
        wanted = changes(seen, self.rules)
        for patch in (*wanted.marks, *wanted.patches):
            yield from _unless_gone(patch)
        for delete in wanted.deletes:
            yield from _unless_gone(delete)
            self.metrics.count("jobset_job_deleted_total", namespace=self.namespace)
        if wanted.creates or not seen.has_service:
            yield from self._require_service(seen)
        wake_at_us = wanted.wake_at_us
        refused: ApiError | None = None
        for create in wanted.creates:
            try:
                late = yield from self._create(create)
            except ApiError as error:
                if error.code == 0:
                    raise
                refused = error
                continue
            if late:
                soon_us = self.clock() + _BEHIND_US
                wake_at_us = soon_us if wake_at_us is None else min(soon_us, wake_at_us)
        if refused is not None:
            try:
                raise refused
            finally:
                refused = None  # its traceback holds this frame
        return wake_at_us

    def _end(self, seen: Observation) -> Reconcile:
        """Delete what a finished JobSet leaves, and then the JobSet itself, if it has a TTL."""
        for delete in changes(seen, self.rules).deletes:
            yield from _unless_gone(delete)
        ttl = spec_of(self.job_set).get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        due_us = _finished_at_us(self.job_set) + int(ttl) * SECOND
        if self.clock() < due_us:
            return due_us
        yield from _unless_gone(
            Delete(
                JOB_SET,
                self.namespace,
                self.name,
                propagation_policy=self.rules.propagation(),
                uid=uid_of(self.job_set),
            )
        )
        return None

    def _require_service(self, seen: Observation) -> Generator[Request, Any, None]:
        """Create the Service before the first Job, whose pods look for it."""
        if seen.has_service or not needs_service(self.job_set):
            return
        service = build_service(self.job_set, self.rules)
        try:
            yield Create(SERVICE, service, self.namespace, name_of(service))
        except ApiError as error:
            standing = None
            if error.is_already_exists:
                standing = yield from _read(
                    Get(SERVICE, self.namespace, name_of(service), live=True)
                )
            if standing is None or not self.rules.is_ours(standing, self.job_set):
                yield from self._tell(Note(Reason.SERVICE_CREATION_FAILED, error.message, True))
                raise

    def _create(self, create: Create) -> Generator[Request, Any, bool]:
        """Create a Job; True if one of ours stands under its name that the cache does not have."""
        try:
            yield create
        except ApiError as error:
            if error.is_already_exists:
                standing = yield from _read(Get(JOB, self.namespace, create.name, live=True))
                if standing is None:
                    return True
                if self.rules.on_taken_name(standing, self.job_set) == "ours":
                    return True
            if error.code:
                yield from self._tell(Note(Reason.JOB_CREATION_FAILED, error.message, True))
            raise
        self.metrics.count("jobset_job_created_total", namespace=self.namespace)
        return False


def _looked_at(
    job_set: Object, jobs: tuple[Job, ...], seen: Observation, rules: Rules
) -> Observation:
    """The Jobs as a status has them: stale or current."""
    stale = tuple(job for job in jobs if rules.is_stale(job, job_set))
    current = tuple(job for job in jobs if job not in stale)
    return Observation(job_set, seen.now_us, stale, current, seen.has_service)


def _read(get: Get) -> Generator[Request, Any, Object | None]:
    try:
        found: Object = yield get
    except ApiError as error:
        if error.is_not_found:
            return None
        raise
    return found


def _unless_gone(request: Request) -> Generator[Request, Any, None]:
    """Send a request; an object that is gone, or another one by now, needs it no more."""
    try:
        yield request
    except ApiError as error:
        if not (error.is_not_found or error.is_conflict):
            raise


def _finished_at_us(job_set: Object) -> Micros:
    """The time of the terminal condition."""
    found = condition(job_set, Condition.COMPLETED) or condition(job_set, Condition.FAILED) or {}
    return parse_rfc3339(found["lastTransitionTime"])


def _revision(obj: Object) -> int:
    return int(meta(obj)["resourceVersion"])


def _is_managed(job_set: Object) -> bool:
    return spec_of(job_set).get("managedBy") in (None, CONTROLLER_NAME)
