"""The Jobs that are missing, to be deleted, marked, suspended or resumed: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from msgspec import structs

from reference_controller.jobset.expectations import shown_by_us
from reference_controller.jobset.job_set import (
    ChildId,
    children_of,
    is_suspended,
    partial_restarts_of,
    replicated_jobs,
    restart_strategy,
)
from reference_controller.jobset.names import RESTART
from reference_controller.jobset.numbering import Numbering
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.resumption import is_at_rest
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.startup import may_start
from reference_controller.jobset.templates import build
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.kinds import JOB
from vocabulary.objects import Object, namespace_of
from vocabulary.requests import Create, Delete, Patch


@dataclass(frozen=True, slots=True)
class Changes:
    """The requests to send, in this order, and the time to look again."""

    marks: tuple[Patch, ...] = ()
    suspensions: tuple[Patch, ...] = ()
    deletes: tuple[Delete, ...] = ()
    resumptions: tuple[Patch, ...] = ()
    creates: tuple[Create, ...] = ()
    wake_at_us: Micros | None = None


def changes(seen: Observation, rules: Rules) -> Changes:
    """The requests that bring the Jobs of a JobSet to what spec and status ask for."""
    namespace = namespace_of(seen.job_set)
    marked = {job: not rules.needs_mark(job, seen.job_set) for job in seen.stale}
    suspended = is_suspended(seen.job_set)
    allowed = may_start(seen, rules)
    creates, wake_at_us = _creates(seen, allowed, rules)
    return Changes(
        marks=tuple(
            _mark(job, namespace, rules) for job, is_marked in marked.items() if not is_marked
        ),
        suspensions=tuple(_suspensions(seen, rules)) if suspended else (),
        deletes=_deletes([job for job, is_marked in marked.items() if is_marked], seen, rules),
        resumptions=() if suspended else tuple(_resumptions(seen, allowed, rules)),
        creates=creates,
        wake_at_us=wake_at_us,
    )


def leftovers(seen: Observation, rules: Rules) -> tuple[Delete, ...]:
    """The deletes of what a finished JobSet leaves. Jobs that have changed unseen are spared: one
    of them may have finished, and is kept then."""
    left = [job for job in (*seen.stale, *seen.current) if rules.goes_at_the_end(job, seen.job_set)]
    return tuple(
        structs.replace(rules.delete(job, seen.job_set), resource_version=job.resource_version)
        for job in left
        if rules.needs_delete(job)
    )


def _deletes(jobs: list[Job], seen: Observation, rules: Rules) -> tuple[Delete, ...]:
    return tuple(rules.delete(job, seen.job_set) for job in jobs if rules.needs_delete(job))


def _mark(job: Job, namespace: str, rules: Rules) -> Patch:
    """Mark a Job for a restart that does not count, unless it is another one by now."""
    body = {"metadata": {**rules.identity(job), "annotations": {RESTART: "true"}}}
    return Patch(JOB, namespace, job.name, body)


def _creates(
    seen: Observation, allowed: Collection[str], rules: Rules
) -> tuple[tuple[Create, ...], Micros | None]:
    job_set = seen.job_set
    if seen.stale and rules.waits_for_stale(restart_strategy(job_set)):
        return (), None
    standing = {job.child for job in (*seen.stale, *seen.current)}
    gone = seen.left_failed | seen.succeeded
    numbering = Numbering(job_set)
    due: list[Create] = []
    wake_at_us: list[Micros] = []
    for child, replicated_job in children_of(job_set):
        may = is_suspended(job_set) or child.replicated_job in allowed
        if not rules.is_missing(child in standing) or child in gone or not may:
            continue
        name = rules.job_name(job_set, child)
        at_us = _not_before_us(job_set, child, name)
        if at_us > seen.now_us and rules.waits_for_back_off(job_set):
            wake_at_us.append(at_us)
            continue
        obj = build(job_set, child, replicated_job, numbering, rules)
        due.append(Create(JOB, obj, namespace_of(job_set), name, strict=True))
        wake_at_us.append(shown_by_us(seen.now_us))  # it may be gone before its event comes
    return tuple(due), min(wake_at_us, default=None)


def _not_before_us(job_set: Object, child: ChildId, name: str) -> Micros:
    """The end of the back-off of the partial restarts that concern the Job."""
    return max(
        (
            parse_rfc3339(record["notBefore"])
            for record in partial_restarts_of(job_set)
            if record["replicatedJob"] == child.replicated_job and record["job"] in ("", name)
        ),
        default=0,
    )


def _suspensions(seen: Observation, rules: Rules) -> Iterator[Patch]:
    for job in seen.current:
        if rules.is_to_suspend(job):
            yield _patch(job, seen, {"suspend": True}, rules)


def _resumptions(seen: Observation, allowed: Collection[str], rules: Rules) -> Iterator[Patch]:
    """Resume Jobs with the pod templates as a queue left them in the JobSet. A Job that is still
    stopping takes no other template; it is resumed once it has stopped."""
    of_name = {each["name"]: each for each in replicated_jobs(seen.job_set)}
    for job in seen.current:
        if job.child.replicated_job not in allowed or not rules.is_to_resume(job):
            continue
        template = rules.resumed_template(of_name[job.child.replicated_job], job)
        if not template:
            yield _patch(job, seen, {"suspend": False}, rules)
        elif is_at_rest(job):
            yield _patch(job, seen, {"suspend": False, "template": template}, rules)


def _patch(job: Job, seen: Observation, spec: Object, rules: Rules) -> Patch:
    """Patch a Job's spec, unless it is another one by now."""
    body = {"metadata": rules.identity(job), "spec": spec}
    return Patch(JOB, namespace_of(seen.job_set), job.name, body)
