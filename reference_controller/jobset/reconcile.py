"""One pass over one JobSet, one request at a time. No I/O here: each yield is a crash point.

The order of requests is what makes a crash at any of them harmless:

- a restart, and every other verdict, is written before anything follows from it, under the
  resourceVersion that was read: one decided on a stale JobSet ends in a conflict;
- what follows is derived from the written status: Jobs of an older number of restarts are marked
  or deleted, by their uids. Numbers of restarts only grow and an end is final, so a status that is
  not current makes no Job stale that is not;
- what a JobSet that has ended or is suspended meanwhile would not want (creating and resuming
  Jobs, deleting the JobSet) is preceded by a live read of it;
- a Job can only be created once its predecessor is gone, since their names are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from reference_controller.jobset.children import changes, leftovers
from reference_controller.jobset.events import event_for, identity_of
from reference_controller.jobset.expectations import BEHIND_US, Expectations
from reference_controller.jobset.job_set import spec_of, status_of
from reference_controller.jobset.metrics import Metrics
from reference_controller.jobset.names import (
    CONTROLLER_NAME,
    JOB_SET,
    PARTIAL_RESTARTS,
    RESTARTS,
    Condition,
    Reason,
)
from reference_controller.jobset.network import build_service, has_dns
from reference_controller.jobset.observation import Observation
from reference_controller.jobset.observe import observe, under
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.verdict import Verdict, judge
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.events import Note, Told, send
from reference_controller.shared.own_writes import OwnWrites, revision_of
from reference_controller.shared.reading import read
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, SERVICE
from vocabulary.objects import Object, condition, is_terminating, labels_of, meta, name_of, uid_of
from vocabulary.requests import Create, Delete, Patch, Reconcile, Request, Update

_MAX_LOOKS: Final = 10
"""A JobSet that changes more often than that during one pass is looked at again later."""


@dataclass(slots=True)
class Reconciliation:
    """One pass over one JobSet."""

    key: Key
    rules: Rules
    clock: Callable[[], Micros]
    metrics: Metrics
    writes: OwnWrites
    job_writes: OwnWrites
    told: Told
    expected: Expectations
    job_set: Object = field(default_factory=dict)
    is_fresh: bool = False
    """True if `job_set` is an API server's response, and no request has been sent since."""

    def run(self) -> Reconcile:
        cached = yield from read(JOB_SET, *self.key, live=False)
        if cached is None:
            self.writes.forget(self.key)
            return None
        self.job_set = self.writes.later(self.key, cached)
        for _ in range(_MAX_LOOKS):
            if is_terminating(self.job_set) or not _is_managed(self.job_set):
                return None
            known = self.job_set
            seen = yield from observe(known, self.clock(), self.job_writes, self.rules)
            verdict = judge(seen, self.rules)
            if verdict.status != status_of(known):
                yield from self._record(verdict)
                seen = under(seen, self.job_set, self.rules)
            known = self.job_set
            wake_at_us = yield from self._follow(seen)
            if self.job_set == known:
                return wake_at_us
            if not self.job_set:
                return None
        return self.clock() + BEHIND_US

    def _record(self, verdict: Verdict) -> Generator[Request, Any, None]:
        """Write the status under optimistic lock; then tell people."""
        before = self.job_set
        written = yield Update(JOB_SET, {**before, "status": verdict.status}, subresource="status")
        self.metrics.count_verdict(self.key.namespace, before, written)
        self.job_set = written
        self.is_fresh = True
        self.writes.remember(self.key, written)
        if verdict.note is not None:
            yield from self._tell(verdict.note)

    def _tell(self, note: Note) -> Generator[Request, Any, None]:
        identity = identity_of(self.job_set, note)
        if identity not in self.told:
            self.is_fresh = False
            event = event_for(self.job_set, note, self.clock())
            yield from send(event, identity, self.told, self._dropped)

    def _dropped(self, error: ApiError) -> None:
        self.metrics.count("jobset_event_dropped_total", reason=error.reason)

    def _is_current(self) -> Generator[Request, Any, bool]:
        """Read the JobSet live; False if it is another one by now, and all has to be decided
        anew. It is empty if it is gone."""
        if self.is_fresh:
            return True
        known = self.job_set
        self.job_set = (yield from read(JOB_SET, *self.key, live=True)) or {}
        self.is_fresh = True
        return meta(known).get("resourceVersion") == meta(self.job_set).get("resourceVersion")

    def _is_overtaken(self) -> Generator[Request, Any, bool]:
        """True if the cache has a later JobSet by now: a pass that creates thousands of Jobs takes
        long enough for it to be suspended or deleted meanwhile."""
        cached = yield from read(JOB_SET, *self.key, live=False)
        if cached is not None and revision_of(cached) <= revision_of(self.job_set):
            return False
        self.job_set = cached or {}
        self.is_fresh = False
        return True

    def _follow(self, seen: Observation) -> Reconcile:
        """Carry out what follows from the status."""
        if self.rules.is_over(self.job_set):
            return (yield from self._end(seen))
        wanted = changes(seen, self.rules)
        lacks_service = has_dns(self.job_set) and not seen.has_service
        refused = yield from self._send((*wanted.marks, *wanted.suspensions, *wanted.deletes))
        if wanted.resumptions or wanted.creates or lacks_service:
            if not (yield from self._is_current()):
                return None
            refused = (yield from self._send(wanted.resumptions)) or refused
            if lacks_service:
                yield from self._create_service()
            is_behind, unmade = yield from self._create_jobs(wanted.creates)
            refused = unmade or refused
            if is_behind:
                soon_us = self.clock() + BEHIND_US
                return min(soon_us, wanted.wake_at_us or soon_us)
        _raise(refused)
        return wanted.wake_at_us

    def _send(self, requests: Iterable[Patch | Delete]) -> Generator[Request, Any, ApiError | None]:
        """Send requests about objects that may be gone. One that is refused keeps none of the
        others back; no answer does. Returns the last refusal."""
        refused: ApiError | None = None
        for request in requests:
            self.is_fresh = False
            try:
                answer = yield request
            except ApiError as error:
                if error.code == 0:
                    raise
                if not error.is_not_found:
                    refused = error
                continue
            if request.kind == JOB and uid_of(answer):
                self.job_writes.remember(key_of(answer), answer)
            self._count_delete(request)
        return refused

    def _count_delete(self, request: Request) -> None:
        if isinstance(request, Delete) and request.kind == JOB:
            self.metrics.count("jobset_job_deleted_total", namespace=self.key.namespace)

    def _create_service(self) -> Generator[Request, Any, None]:
        """Create the Service before the first Job, whose pods look for it."""
        service = build_service(self.job_set, self.rules)
        try:
            yield Create(SERVICE, service, self.key.namespace, name_of(service))
        except ApiError as error:
            standing = None
            if error.is_already_exists:
                standing = yield from read(SERVICE, self.key.namespace, name_of(service), live=True)
            if standing is None or not self.rules.is_ours(standing, self.job_set):
                yield from self._tell(Note(Reason.SERVICE_CREATION_FAILED, error.message, True))
                raise

    def _create_jobs(
        self, creates: Iterable[Create]
    ) -> Generator[Request, Any, tuple[bool, ApiError | None]]:
        """Create Jobs, and tell of the first refusal. Returns it, and True if a Job stands already
        that the cache does not have."""
        is_behind = False
        refused: ApiError | None = None
        for create in creates:
            if (yield from self._is_overtaken()):
                return False, None
            if self.expected.holds(_attempt(create), self.clock()):
                is_behind = True
                continue
            try:
                yield create
            except ApiError as error:
                if error.code == 0:
                    raise
                if error.is_already_exists and (yield from self._stands(create)):
                    is_behind = True
                else:
                    refused = refused or error
            else:
                self.expected.add(_attempt(create), self.clock())
                self.metrics.count("jobset_job_created_total", namespace=self.key.namespace)
        if refused is not None:
            yield from self._tell(Note(Reason.JOB_CREATION_FAILED, refused.message, True))
        return is_behind, refused

    def _stands(self, create: Create) -> Generator[Request, Any, bool]:
        """True if a Job of ours has the name, or had it until just now."""
        standing = yield from read(JOB, create.namespace, create.name, live=True)
        return standing is None or self.rules.on_taken_name(standing, self.job_set) == "ours"

    def _end(self, seen: Observation) -> Reconcile:
        """Delete what a finished JobSet leaves, and then the JobSet itself, if it has a TTL."""
        _raise((yield from self._send(leftovers(seen, self.rules))))
        ttl = spec_of(self.job_set).get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        due_us = self.rules.lives_until_us(_finished_at_us(self.job_set), int(ttl))
        if self.clock() < due_us:
            return due_us
        if not (yield from self._is_current()):
            return None
        revision = str(meta(self.job_set)["resourceVersion"])
        delete = Delete(
            JOB_SET,
            *self.key,
            propagation_policy=self.rules.propagation(),
            uid=uid_of(self.job_set),
            resource_version=revision,
        )
        _raise((yield from self._send([delete])))
        return None


def _attempt(create: Create) -> Hashable:
    """A key of a creation; that of another attempt has another one."""
    marks = labels_of(create.object)
    return Create, create.namespace, create.name, marks[RESTARTS], marks[PARTIAL_RESTARTS]


def _raise(refused: ApiError | None) -> None:
    """Have a refused request tried again later."""
    if refused is not None:
        try:
            raise refused
        finally:
            refused = None  # its traceback holds this frame


def _finished_at_us(job_set: Object) -> Micros:
    """The time of the terminal condition."""
    ends = (condition(job_set, type_) for type_ in (Condition.COMPLETED, Condition.FAILED))
    return max(parse_rfc3339(end["lastTransitionTime"]) for end in ends if end is not None)


def _is_managed(job_set: Object) -> bool:
    return spec_of(job_set).get("managedBy") in (None, CONTROLLER_NAME)
