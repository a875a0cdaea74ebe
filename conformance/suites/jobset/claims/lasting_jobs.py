"""JS-109: the replicated jobs of a JobSet stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.jobset.decisions import LASTING_JOBS
from conformance.suites.jobset.judging import claim_of_history
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import JobSetHistory
from conformance.suites.jobset.view.submissions import refused_changes
from vocabulary.objects import Object, get_path, with_path, without_path

_PODS: Final = "template.spec.template"
_CONTAINERS: Final = (f"{_PODS}.spec.initContainers", f"{_PODS}.spec.containers")
_PLACEMENT: Final = (
    "metadata.labels",
    "metadata.annotations",
    "spec.nodeSelector",
    "spec.tolerations",
    "spec.schedulingGates",
)
"""The fields of a pod template that queues change while a JobSet is suspended."""


@claim_of_history(
    "JS-109",
    field("JobSetSpec.replicatedJobs", 1),
    level=Level.PROVISIONAL,
    decision=LASTING_JOBS,
    armed_by="change of replicated jobs was asked for",
    from_any_versions=True,
)
def replicated_jobs_stay(view: JobSetHistory) -> Obligations:
    """The replicated jobs of a JobSet MUST NOT be changed once it exists. The placement of their
    pods MAY be, while it is suspended, and in the update that suspends or resumes it."""
    for run in view.subjects:
        for before, after in run.changes:
            # Between two versions that a watch was told of it may have been suspended.
            is_open = not view.history.shows_every_version
            if changed := _changed(before.object, after.object, is_open):
                yield violated(
                    after,
                    f"{when(after)}: {run} is changed in its replicated jobs {listed(changed)}.",
                    before,
                )
            elif _is_placement(before.object, after.object):
                yield met(after)
    for write, standing in refused_changes(view.history):
        if write.submitted is None:
            continue
        if _changed(standing, write.submitted, is_open=False):
            yield met(write)
        elif _is_placement(standing, write.submitted):
            name = f"jobset/{write.name}"
            yield violated(
                write,
                f"{when(write)}: {name} is refused another placement of its pods, which may "
                f"change with its suspension: {write.message}",
            )


def _changed(before: Object, after: Object, is_open: bool) -> list[str]:
    """The names of the replicated jobs that did not stay as they were; where `is_open`, queues
    may have placed their pods meanwhile."""
    was, now = (get_path(each, "spec.replicatedJobs") or () for each in (before, after))
    if was == now:
        return []
    is_open = is_open or any(get_path(each, "spec.suspend", False) for each in (before, after))
    old, new = (
        {str(each.get("name")): _filled(_lasting(each, is_open)) for each in jobs}
        for jobs in (was, now)
    )
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def _is_placement(standing: Object, submitted: Object) -> bool:
    """True if a change asks for another placement of pods, and at most for a suspension besides."""
    was, now = ({**each["spec"], "suspend": None} for each in (standing, submitted))
    differing = {key for key in was | now if _filled(was.get(key)) != _filled(now.get(key))}
    return differing == {"replicatedJobs"}


def _lasting(replicated_job: Object, is_open: bool) -> Object:
    """The part of a replicated job that is judged."""
    if not is_open:
        return replicated_job
    for path in _PLACEMENT:
        replicated_job = without_path(replicated_job, f"{_PODS}.{path}")
    for path in _CONTAINERS:
        containers = get_path(replicated_job, path)
        if containers:
            others = [without_path(each, "resources") for each in containers]
            replicated_job = with_path(replicated_job, path, others)
    return replicated_job


def _filled(value: Any) -> Any:
    """Without empty fields: clients with types of their own write them where none were."""
    if isinstance(value, Mapping):
        found = {key: _filled(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each not in (None, {}, [])}
    return [_filled(each) for each in value] if isinstance(value, list) else value
