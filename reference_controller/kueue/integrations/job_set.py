"""JobSets: a pod set for each replicated job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reference_controller.kueue.config import JOB_SET_FRAMEWORK
from reference_controller.kueue.integrations import End, PodSetInfo
from reference_controller.kueue.integrations.batch_job import ended, pods_of
from reference_controller.kueue.integrations.suspended import SuspendedKind
from reference_controller.kueue.integrations.templates import (
    bare,
    is_placed,
    placed,
    with_placement_of,
)
from reference_controller.kueue.names import JOB_SET
from reference_controller.kueue.rules import Rules
from vocabulary.objects import Object, condition_status, get_path, meta, with_path


class JobSet(SuspendedKind):
    """Its counts are of Jobs."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    framework: Final = JOB_SET_FRAMEWORK
    kind = JOB_SET
    prefix = "jobset"

    def is_active(self, job: Object) -> bool:
        """Until its controller has seen the suspension, its counts may be behind."""
        seen = condition_status(job, "Suspended") == "True"
        return not (self.is_suspended(job) and seen) or any(
            each.get("active", 0) for each in _counts(job).values()
        )

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        return tuple(
            {
                "name": each["name"],
                "count": _replicas(each) * pods_of(each["template"]["spec"], self._rules),
                "template": bare(each["template"]["spec"]["template"]),
            }
            for each in _replicated(job)
        )

    def end(self, job: Object) -> End | None:
        return ended(job, success="Completed", failure="Failed")

    def are_pods_ready(self, job: Object) -> bool:
        counts = _counts(job)
        return all(
            int(of.get("ready", 0)) + int(of.get("succeeded", 0)) >= _replicas(each)
            for each in _replicated(job)
            for of in (counts.get(each["name"], {}),)
        )

    def done(self, job: Object) -> Mapping[str, int]:
        counts = _counts(job)
        return {
            each["name"]: pods_of(each["template"]["spec"], self._rules)
            * int(counts.get(each["name"], {}).get("succeeded", 0))
            for each in _replicated(job)
        }

    def may_restart(self, job: Object) -> bool:
        policy = get_path(job, "spec.failurePolicy") or {}
        return bool(policy.get("maxRestarts") or policy.get("rules"))

    def _started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        templates = [
            placed(each["template"], info) for each, info in zip(pod_sets, infos, strict=True)
        ]
        return _with_templates(job, templates, suspend=False)

    def is_placed(self, job: Object) -> bool:
        return any(is_placed(each["template"]["spec"]["template"]) for each in _replicated(job))

    def _restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        return _with_templates(job, [each["template"] for each in pod_sets], suspend=True)


def _with_templates(job: Object, templates: Sequence[Object], *, suspend: bool) -> Object:
    """A merge patch replaces lists as a whole, so it is for this state of the JobSet alone."""
    replicated = [
        with_path(
            each,
            "template.spec.template",
            with_placement_of(each["template"]["spec"]["template"], template),
        )
        for each, template in zip(_replicated(job), templates, strict=True)
    ]
    return {
        "metadata": {"resourceVersion": meta(job)["resourceVersion"]},
        "spec": {"suspend": suspend, "replicatedJobs": replicated},
    }


def _replicated(job: Object) -> Sequence[Any]:
    found: Sequence[Any] = get_path(job, "spec.replicatedJobs") or ()
    return found


def _replicas(replicated: Object) -> int:
    return int(replicated.get("replicas", 1))


def _counts(job: Object) -> dict[str, Object]:
    """The counts of Jobs by replicated job."""
    return {each["name"]: each for each in get_path(job, "status.replicatedJobsStatus") or ()}
