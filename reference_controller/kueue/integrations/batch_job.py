"""batch/v1 Jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from reference_controller.kueue.integrations import End, PodSetInfo
from reference_controller.kueue.integrations.suspended import SuspendedKind
from reference_controller.kueue.integrations.templates import (
    bare,
    is_placed,
    placed,
    placement_patch,
)
from reference_controller.kueue.rules import Rules
from vocabulary.kinds import JOB
from vocabulary.objects import Object, condition, condition_status, get_path

_POD_SET: Final = "main"


class BatchJob(SuspendedKind):
    """Each Job has one pod set."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    framework: Final = "batch/job"
    kind = JOB
    prefix = "job"

    def is_active(self, job: Object) -> bool:
        """Until its controller has seen the suspension, its count of pods may be behind."""
        seen = condition_status(job, "Suspended") == "True"
        return not (self.is_suspended(job) and seen) or int(get_path(job, "status.active", 0)) > 0

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        template = bare(job["spec"]["template"])
        return (
            {"name": _POD_SET, "count": pods_of(job["spec"], self._rules), "template": template},
        )

    def end(self, job: Object) -> End | None:
        return ended(job, success="Complete", failure="Failed")

    def are_pods_ready(self, job: Object) -> bool:
        ready = int(get_path(job, "status.ready", 0))
        return ready + int(get_path(job, "status.succeeded", 0)) >= pods_of(
            job["spec"], self._rules
        )

    def done(self, job: Object) -> Mapping[str, int]:
        completions = job["spec"].get("completions")
        if completions is None:
            return {}
        left = int(completions) - int(get_path(job, "status.succeeded", 0))
        return {_POD_SET: pods_of(job["spec"], self._rules) - left}

    def _started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        (pod_set,), (info,) = pod_sets, infos
        template = placed(pod_set["template"], info)
        changed = placement_patch(job["spec"]["template"], template)
        return {"spec": {"suspend": False, "template": changed}}

    def is_placed(self, job: Object) -> bool:
        return is_placed(job["spec"]["template"])

    def _restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        """Its API server takes them once its controller has seen the suspension."""
        if self.is_active(job):
            return None
        template = pod_sets[0]["template"]
        return {"spec": {"template": placement_patch(job["spec"]["template"], template)}}


def ended(job: Object, *, success: str, failure: str) -> End | None:
    """How a job has ended that says so by one of two conditions."""
    for type_ in (success, failure):
        if condition_status(job, type_) == "True":
            found = condition(job, type_) or {}
            return End(type_ == success, str(found.get("message") or type_))
    return None


def pods_of(spec: Object, rules: Rules) -> int:
    """How many pods a Job of such a spec runs at once."""
    completions = spec.get("completions")
    return rules.at_once(
        int(spec.get("parallelism", 1)), None if completions is None else int(completions)
    )
