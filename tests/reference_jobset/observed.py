"""Observations of a JobSet and its Jobs, made by hand for pure decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reference_controller.jobset.job_set import ChildId, children_of, job_name
from reference_controller.jobset.names import RESTART
from reference_controller.jobset.numbering import Numbering
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.observe import sorted_out
from reference_controller.jobset.rules import RIGHT
from reference_controller.jobset.templates import build
from tests.reference_jobset.driver import admitted, job_set, replicated_job
from vocabulary.clock import SECOND, SIMULATION_EPOCH_US, Micros, to_rfc3339
from vocabulary.objects import Object, with_path

NOW: Final = SIMULATION_EPOCH_US + 3600 * SECOND


def standing(*replicated_jobs: Object, status: Object | None = None, **spec: Any) -> Object:
    """An admitted JobSet of that status."""
    made = admitted(job_set(*(replicated_jobs or (replicated_job(),)), **spec))
    return {**with_path(made, "metadata.uid", "js-1"), "status": status or {}}


def jobs_of(made: Object, **changed: Object) -> list[Job]:
    """Its Jobs as they were created under its status, changed by their names' last two parts: for
    instance `a_0=failed()`."""
    found = []
    for child, its in children_of(made):
        obj = build(made, child, its, Numbering(made), RIGHT)
        obj = with_path(obj, "metadata.uid", f"{job_name(made, child)}-uid")
        obj = with_path(obj, "metadata.resourceVersion", "7")
        obj = {**obj, **changed.get(f"{child.replicated_job}_{child.number}", {})}
        found.append(Job(obj, ChildId(*child)))
    return found


def seen(made: Object, jobs: list[Job] | None = None, *, has_service: bool = True) -> Observation:
    found = jobs_of(made) if jobs is None else jobs
    return sorted_out(Observation(made, NOW, has_service), found, RIGHT)


def failed(
    reason: str = "BackoffLimitExceeded", *, ago_us: Micros = 0, began_us: Micros | None = None
) -> Object:
    at_us = NOW - ago_us
    entry = _condition("Failed", reason, at_us)
    started = at_us - SECOND if began_us is None else began_us
    return {"status": {"conditions": [entry], "startTime": to_rfc3339(started)}}


def complete() -> Object:
    return {"status": {"conditions": [_condition("Complete", "Completed", NOW)], "succeeded": 1}}


def ready() -> Object:
    return {"status": {"active": 1, "ready": 1, "startTime": to_rfc3339(NOW)}}


def terminating(made: Object, child: Job) -> Job:
    del made
    obj = with_path(child.object, "metadata.deletionTimestamp", to_rfc3339(NOW))
    return Job(obj, child.child)


def marked(child: Job) -> Job:
    """A Job with the annotation by which it is restarted and that does not count."""
    notes: Mapping[str, str] = {**child.annotations, RESTART: "true"}
    return Job(with_path(child.object, "metadata.annotations", notes), child.child)


def _condition(type_: str, reason: str, at_us: Micros) -> Object:
    since = to_rfc3339(at_us)
    return {"type": type_, "status": "True", "reason": reason, "lastTransitionTime": since}
