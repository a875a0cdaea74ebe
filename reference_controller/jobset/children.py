"""The Jobs that are missing, to be deleted, marked, suspended or resumed: pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reference_controller.jobset.job_set import (
    ChildId,
    children_of,
    is_finished,
    is_suspended,
    job_name,
    partial_restarts_of,
)
from reference_controller.jobset.names import RESTART
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.startup import may_start
from reference_controller.jobset.templates import build, resumed_template
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.kinds import JOB
from vocabulary.objects import Object, get_path, namespace_of
from vocabulary.requests import Create, Delete, Patch


@dataclass(frozen=True, slots=True)
class Changes:
    """The requests to send, in this order, and the time to look again."""

    marks: tuple[Patch, ...] = ()
    deletes: tuple[Delete, ...] = ()
    patches: tuple[Patch, ...] = ()
    creates: tuple[Create, ...] = ()
    wake_at_us: Micros | None = None


def changes(seen: Observation, rules: Rules) -> Changes:
    """The requests that bring the Jobs to what spec and status ask for."""
    job_set, namespace = seen.job_set, namespace_of(seen.job_set)
    if is_finished(job_set):
        left = [job for job in (*seen.stale, *seen.current) if rules.goes_at_the_end(job)]
        return Changes(deletes=_deletes(left, namespace, rules))
    unmarked = [job for job in seen.stale if rules.needs_mark(job, job_set)]
    creates, wake_at_us = _creates(seen, rules)
    return Changes(
        marks=tuple(_mark(job, namespace) for job in unmarked if not job.is_terminating),
        deletes=_deletes([job for job in seen.stale if job not in unmarked], namespace, rules),
        patches=tuple(_patches(seen, rules)),
        creates=creates,
        wake_at_us=wake_at_us,
    )


def _deletes(jobs: list[Job], namespace: str, rules: Rules) -> tuple[Delete, ...]:
    return tuple(rules.delete(job, namespace) for job in jobs if not job.is_terminating)


def _mark(job: Job, namespace: str) -> Patch:
    """Mark a Job for a restart that does not count, unless it is another one by now."""
    body = {"metadata": {"uid": job.uid, "annotations": {RESTART: "true"}}}
    return Patch(JOB, namespace, job.name, body)


def _creates(seen: Observation, rules: Rules) -> tuple[tuple[Create, ...], Micros | None]:
    job_set = seen.job_set
    strategy = str(get_path(job_set, "spec.failurePolicy.restartStrategy", "Recreate"))
    if seen.stale and rules.waits_for_stale(strategy):
        return (), None
    allowed = may_start(seen, rules)
    standing = {job.name for job in (*seen.stale, *seen.current)}
    due: list[Create] = []
    wake_at_us: Micros | None = None
    for position, (child, replicated_job) in enumerate(children_of(job_set)):
        name = job_name(job_set, child)
        if name in standing or not (is_suspended(job_set) or child.replicated_job in allowed):
            continue
        at_us = _not_before_us(job_set, child, name)
        if at_us > seen.now_us:
            wake_at_us = at_us if wake_at_us is None else min(at_us, wake_at_us)
            continue
        obj = build(job_set, child, replicated_job, position, rules)
        due.append(Create(JOB, obj, namespace_of(job_set), name))
    return tuple(due), wake_at_us


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


def _patches(seen: Observation, rules: Rules) -> Iterator[Patch]:
    """Suspend and resume Jobs as the JobSet is."""
    job_set, namespace = seen.job_set, namespace_of(seen.job_set)
    suspended, allowed = is_suspended(job_set), may_start(seen, rules)
    templates = {name: rj for (name, _), rj in children_of(job_set)}
    for job in seen.current:
        if job.is_finished or job.is_terminating or job.is_suspended == suspended:
            continue
        if suspended:
            yield Patch(JOB, namespace, job.name, _of(job, {"suspend": True}))
        elif job.child.replicated_job in allowed:
            template = resumed_template(templates[job.child.replicated_job], job)
            body = {"suspend": False, **({"template": template} if template else {})}
            yield Patch(JOB, namespace, job.name, _of(job, body))


def _of(job: Job, spec: Object) -> Object:
    return {"metadata": {"uid": job.uid}, "spec": spec}


def wanted_names(job_set: Object) -> dict[str, ChildId]:
    """The Jobs that the spec asks for, by name."""
    return {job_name(job_set, child): child for child, _ in children_of(job_set)}
