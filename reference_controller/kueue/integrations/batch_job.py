"""batch/v1 Jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reference_controller.kueue.integrations import End, PodSetInfo
from vocabulary.kinds import JOB
from vocabulary.objects import Object, condition, condition_status, get_path, meta

_POD_SET: Final = "main"


class BatchJob:
    """Each Job has one pod set."""

    framework: Final = "batch/job"
    kind: Final = JOB
    prefix: Final = "job"

    def is_suspended(self, job: Object) -> bool:
        return bool(job["spec"].get("suspend"))

    def is_active(self, job: Object) -> bool:
        """Until its controller has seen the suspension, its count of pods may be behind."""
        seen = condition_status(job, "Suspended") == "True"
        return not (self.is_suspended(job) and seen) or int(get_path(job, "status.active", 0)) > 0

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        return ({"name": _POD_SET, "count": _wanted(job), "template": _template(job)},)

    def end(self, job: Object) -> End | None:
        for type_ in ("Complete", "Failed"):
            if condition_status(job, type_) == "True":
                found = condition(job, type_) or {}
                return End(type_ == "Complete", str(found.get("message") or type_))
        return None

    def are_pods_ready(self, job: Object) -> bool:
        ready = int(get_path(job, "status.ready", 0))
        return ready + int(get_path(job, "status.succeeded", 0)) >= _wanted(job)

    def suspended(self) -> Object:
        return {"spec": {"suspend": True}}

    def started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        del job
        (pod_set,), (info,) = pod_sets, infos
        template = pod_set["template"]
        labels = {**(meta(template).get("labels") or {}), **info.labels}
        selector = {**(template["spec"].get("nodeSelector") or {}), **info.node_selector}
        changed: Object = {"metadata": {"labels": labels}}
        if selector:
            changed = {**changed, "spec": {"nodeSelector": selector}}
        return {"spec": {"suspend": False, "template": changed}}


def _wanted(job: Object) -> int:
    """How many of its pods run side by side at most."""
    parallelism = int(job["spec"].get("parallelism", 1))
    completions = job["spec"].get("completions")
    return parallelism if completions is None else min(parallelism, int(completions))


def _template(job: Object) -> Object:
    """Its pod template without what its API server and an admission have added."""
    template = job["spec"]["template"]
    metadata = {key: each for key, each in meta(template).items() if key != "creationTimestamp"}
    return {**template, "metadata": metadata}
