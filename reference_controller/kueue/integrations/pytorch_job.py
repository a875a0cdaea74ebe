"""PyTorchJobs: a pod set for each replica type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from reference_controller.kueue.integrations import End, PodSetInfo
from reference_controller.kueue.integrations.batch_job import ended
from reference_controller.kueue.integrations.suspended import SuspendedKind
from reference_controller.kueue.integrations.templates import (
    bare,
    is_placed,
    placed,
    placement_patch,
)
from vocabulary.kinds import PYTORCH_JOB
from vocabulary.objects import Object, condition_status, get_path

_TYPES: Final = ("Master", "Worker")


class PyTorchJob(SuspendedKind):
    """They are suspended by their run policy, and their templates may change at any time."""

    framework: Final = "kubeflow.org/pytorchjob"
    kind = PYTORCH_JOB
    prefix = "pytorchjob"
    switch = "spec.runPolicy.suspend"

    def is_active(self, job: Object) -> bool:
        """Until its controller has seen the suspension, its counts may be behind."""
        seen = condition_status(job, "Suspended") == "True"
        counts = get_path(job, "status.replicaStatuses") or {}
        return not (self.is_suspended(job) and seen) or any(
            each.get("active", 0) for each in counts.values()
        )

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        return tuple(
            {
                "name": type_.lower(),
                "count": int(replica.get("replicas", 1)),
                "template": bare(replica["template"]),
            }
            for type_, replica in _replicas(job)
        )

    def end(self, job: Object) -> End | None:
        return ended(job, success="Succeeded", failure="Failed")

    def are_pods_ready(self, job: Object) -> bool:
        return condition_status(job, "Running") == "True"

    def done(self, job: Object) -> Mapping[str, int]:
        del job
        return {}

    def _started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        templates = [
            placed(each["template"], info) for each, info in zip(pod_sets, infos, strict=True)
        ]
        return _with_templates(job, templates, suspend=False)

    def is_placed(self, job: Object) -> bool:
        return any(is_placed(replica["template"]) for _, replica in _replicas(job))

    def _restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        return _with_templates(job, [each["template"] for each in pod_sets], suspend=True)


def _replicas(job: Object) -> Iterator[tuple[str, Object]]:
    known = get_path(job, "spec.pytorchReplicaSpecs") or {}
    return ((type_, known[type_]) for type_ in _TYPES if type_ in known)


def _with_templates(job: Object, templates: Sequence[Object], *, suspend: bool) -> Object:
    replicas = {
        type_: {"template": placement_patch(replica["template"], template)}
        for (type_, replica), template in zip(_replicas(job), templates, strict=True)
    }
    return {"spec": {"runPolicy": {"suspend": suspend}, "pytorchReplicaSpecs": replicas}}
