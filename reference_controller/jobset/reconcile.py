"""One pass over one JobSet, one request at a time. No I/O here: each yield is a crash point.

The order of requests is what makes a crash at any of them harmless:

- a restart, and every other verdict, is written before anything follows from it, under the
  resourceVersion that was read: one decided on a stale JobSet ends in a conflict;
- what follows is derived from the written status: Jobs of an older number of restarts are marked
  or deleted, by their uids. Numbers of restarts only grow and an end is final, so a status that is
  not current makes no Job stale that is not;
- the Jobs that an end leaves running are deleted by their resourceVersions: a cache that is behind
  may show as running what has finished;
- what a JobSet that has ended or is suspended meanwhile would not want (creating and resuming
  Jobs) is preceded by a live read of it, and its own deletion names its resourceVersion;
- a Job can only be created once its predecessor is gone, since their names are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from reference_controller.jobset.children import changes, leftovers
from reference_controller.jobset.events import event_for, identity_of
from reference_controller.jobset.expectations import Expectations
from reference_controller.jobset.freshness import is_current
from reference_controller.jobset.job_set import restart_strategy, spec_of, status_of
from reference_controller.jobset.metrics import Metrics
from reference_controller.jobset.names import (
    JOB_SET,
    NAME,
    Reason,
)
from reference_controller.jobset.network import build_service, has_dns
from reference_controller.jobset.observation import Observation
from reference_controller.jobset.observe import observe, under
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.specs import Specs
from reference_controller.jobset.verdict import Verdict, judge
from reference_controller.runtime.controller import Key
from reference_controller.shared.events import Note, Told, send
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import Reading, read
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, SERVICE
from vocabulary.objects import Object, condition, controller_of, get_path, meta, name_of
from vocabulary.requests import (
    Create,
    Delete,
    List,
    ObjectList,
    Patch,
    Reconcile,
    Request,
    Update,
)

_Refusal: TypeAlias = Generator[Request, Any, ApiError | None]
"""Requests, of which one may have been refused."""
_LOOKS_AGAIN_US: Final = 2 * SECOND
"""No event of theirs tells when pods are gone: they are not watched."""


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
    specs: Specs
    job_set: Object = field(default_factory=dict)

    def run(self) -> Reconcile:
        cached = yield from read(JOB_SET, *self.key, live=False)
        if cached is None:
            self.writes.forget(self.key)
            self.specs.forget(self.key)
            return None
        self.job_set = self.specs.completed(self.key, self.writes.later(self.key, cached))
        if not (self.rules.works_on(self.job_set) and self.rules.manages(self.job_set)):
            return None
        flaws = self.specs.flaws(self.key, self.job_set)
        if flaws:
            generation = meta(self.job_set)["generation"]
            message = f"generation {generation} of the spec is not run: {flaws}"
            yield from self._tell(Note(Reason.INVALID, message, is_warning=True))
            return None
        seen = yield from observe(self.job_set, self.clock(), self.job_writes, self.rules)
        verdict = judge(seen, self.rules)
        if self.rules.is_news(verdict.status, status_of(self.job_set)):
            yield from self._record(verdict)
            seen = under(seen, self.job_set, self.rules)
        return (yield from self._follow(seen))

    def _record(self, verdict: Verdict) -> Generator[Request, Any, None]:
        """Write the status under optimistic lock; then tell people."""
        before = self.job_set
        written = yield Update(JOB_SET, {**before, "status": verdict.status}, subresource="status")
        self.metrics.count_verdict(self.key.namespace, before, written)
        self.job_set = self.specs.completed(self.key, written)
        self.writes.remember(self.key, written)
        if verdict.note is not None:
            yield from self._tell(verdict.note)

    def _tell(self, note: Note) -> Generator[Request, Any, None]:
        identity = identity_of(self.job_set, note)
        if identity not in self.told:
            event = event_for(self.job_set, note, self.clock())
            yield from send(event, identity, self.told, self._dropped)

    def _dropped(self, error: ApiError) -> None:
        self.metrics.count("jobset_event_dropped_total", reason=error.reason)

    def _follow(self, seen: Observation) -> Reconcile:
        """Carry out what follows from the status."""
        if self.rules.is_over(self.job_set):
            return (yield from self._end(seen))
        wanted, now_us = changes(seen, self.rules), self.clock()
        wake_at_us = wanted.wake_at_us
        lacks_service = has_dns(self.job_set) and not seen.has_service
        refused = yield from self._send((*wanted.marks, *wanted.suspensions, *wanted.deletes))
        if wanted.resumptions or wanted.creates or lacks_service:
            if not (yield from is_current(self.job_set)):
                return None  # the event of the later one has all decided anew
            if lacks_service:
                yield from self._create_service()
            unsent = [each for each in wanted.creates if not self.expected.holds(each, now_us)]
            free = yield from self._free(unsent)
            refused = (yield from self._send((*wanted.resumptions, *free))) or refused
            if len(free) < len(unsent):
                again_us = now_us + _LOOKS_AGAIN_US
                wake_at_us = again_us if wake_at_us is None else min(again_us, wake_at_us)
        if refused is not None:
            raise refused  # and have it tried again later
        return wake_at_us

    def _free(self, creates: Sequence[Create]) -> Reading[Sequence[Create]]:
        """Those whose predecessors, which are gone, have no pods left that may run. Pods that were
        made orphans are of no Job any more."""
        if not (creates and self.rules.waits_for_pods(restart_strategy(self.job_set))):
            return creates
        selector = f"{NAME}={self.key.name}"
        pods: ObjectList = yield List(POD, self.key.namespace, label_selector=selector, live=True)
        left = {
            (controller_of(pod) or {}).get("name")
            for pod in pods.items
            if get_path(pod, "status.phase") not in ("Succeeded", "Failed")
        }
        return [each for each in creates if each.name not in left]

    def _send(self, requests: Iterable[Create | Patch | Delete]) -> _Refusal:
        """Send requests about Jobs, which may be gone. One that is refused keeps none of the others
        back. Returns the last refusal."""
        refused: ApiError | None = None
        for request in requests:
            try:
                answer = yield request
            except ApiError as error:
                if self.rules.is_sent_again(error):
                    yield from self._tell_refusal(request, error)
                    refused = error
            else:
                self.job_writes.remember(Key(request.namespace, request.name), answer)
                self._count(request)
        return refused

    def _tell_refusal(
        self, request: Create | Patch | Delete, error: ApiError
    ) -> Generator[Request, Any, None]:
        if isinstance(request, Create):
            yield from self._tell(Note(Reason.JOB_CREATION_FAILED, error.message, True))

    def _count(self, request: Create | Patch | Delete) -> None:
        """Remember a creation, and count what was done."""
        if isinstance(request, Create):
            self.expected.add(request, self.clock())
        self.metrics.count_request(request)

    def _create_service(self) -> Generator[Request, Any, None]:
        """Create the Service before the first Job runs, whose pods look for it."""
        service = build_service(self.job_set, self.rules)
        try:
            yield Create(SERVICE, service, self.key.namespace, name_of(service))
        except ApiError as error:
            standing = yield from read(SERVICE, self.key.namespace, name_of(service), live=True)
            if standing is None or not self.rules.is_ours(standing, self.job_set):
                yield from self._tell(Note(Reason.SERVICE_CREATION_FAILED, error.message, True))
                raise

    def _end(self, seen: Observation) -> Reconcile:
        """Delete what a finished JobSet leaves, and then the JobSet itself, if it has a TTL."""
        refused = yield from self._send(leftovers(seen, self.rules))
        if refused is not None:
            raise refused
        ttl = spec_of(self.job_set).get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        due_us = self.rules.lives_until_us(_finished_at_us(self.job_set), int(ttl))
        if self.clock() < due_us:
            return due_us
        yield Delete(
            JOB_SET,
            *self.key,
            resource_version=str(meta(self.job_set)["resourceVersion"]),
        )
        return None


def _finished_at_us(job_set: Object) -> Micros:
    """The time of the terminal condition."""
    end = condition(job_set, status_of(job_set)["terminalState"])
    assert end is not None, f"{name_of(job_set)} has not ended"
    return parse_rfc3339(end["lastTransitionTime"])
