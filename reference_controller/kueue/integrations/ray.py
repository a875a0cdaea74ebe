"""RayClusters and RayJobs: a pod set for the head, one for each group of workers, and one for the
pod that submits a RayJob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from reference_controller.kueue.integrations import End, PodSetInfo
from reference_controller.kueue.integrations.suspended import SuspendedKind
from reference_controller.kueue.integrations.templates import (
    bare,
    is_placed,
    placed,
    placement_patch,
    with_placement_of,
)
from vocabulary.kinds import RAY_CLUSTER, RAY_JOB
from vocabulary.objects import Object, condition_status, get_path, meta, with_path

_TEMPLATE: Final = "headGroupSpec.template"
_SUBMITTER: Final = "submitterPodTemplate"


class _RayKind(SuspendedKind):
    """Their pods say nothing: readiness and activity are what their status says."""

    state: ClassVar[str]
    """The path of the state of the cluster."""

    def are_pods_ready(self, job: Object) -> bool:
        return bool(get_path(job, self.state) == "ready")

    def done(self, job: Object) -> Mapping[str, int]:
        del job
        return {}

    def pod_sets(self, job: Object) -> tuple[Object, ...]:
        return tuple(
            {"name": name, "count": count, "template": bare(template)}
            for name, count, template in self._templates(job)
        )

    def is_placed(self, job: Object) -> bool:
        return any(is_placed(template) for _, _, template in self._templates(job))

    def _started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object:
        pairs = zip(pod_sets, infos, strict=True)
        return self._patched(job, [placed(each["template"], info) for each, info in pairs], False)

    def _restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        return self._patched(job, [each["template"] for each in pod_sets], True)

    def _patched(self, job: Object, templates: Sequence[Object], suspend: bool) -> Object:
        """A merge patch replaces lists as a whole, so it is for this state of the job alone."""
        return {
            "metadata": {"resourceVersion": meta(job)["resourceVersion"]},
            "spec": {**self._with_templates(job["spec"], templates), "suspend": suspend},
        }

    def _templates(self, job: Object) -> list[tuple[str, int, Object]]:
        return _of_cluster(job["spec"])

    def _with_templates(self, spec: Object, templates: Sequence[Object]) -> Object:
        return _cluster_with(spec, templates)


class RayCluster(_RayKind):
    """It never ends: it is deleted."""

    framework: Final = "ray.io/raycluster"
    kind = RAY_CLUSTER
    prefix = "raycluster"
    state = "status.state"

    def is_active(self, job: Object) -> bool:
        """Its state says `suspended` also while pods start again, or `ready` while some are
        missing."""
        is_over = condition_status(job, "RayClusterSuspended") == "True"
        return not (self.is_suspended(job) and is_over)

    def end(self, job: Object) -> End | None:
        del job
        return None


class RayJob(_RayKind):
    """It has a cluster of its own, which its controller creates once it is not suspended."""

    framework: Final = "ray.io/rayjob"
    kind = RAY_JOB
    prefix = "rayjob"
    state = "status.rayClusterStatus.state"

    def is_active(self, job: Object) -> bool:
        """Suspended ones have no cluster, and new ones none yet."""
        return get_path(job, "status.jobDeploymentStatus", "") not in ("", "Suspended")

    def end(self, job: Object) -> End | None:
        if get_path(job, "status.jobDeploymentStatus") not in ("Complete", "Failed"):
            return None
        status = str(get_path(job, "status.jobStatus", ""))
        return End(status == "SUCCEEDED", str(get_path(job, "status.message") or status))

    def _templates(self, job: Object) -> list[tuple[str, int, Object]]:
        """None of one that has no cluster of its own: it stays suspended."""
        spec = job["spec"]
        if "rayClusterSpec" not in spec:
            return []
        submitter = [("submitter", 1, _submitter(spec))] if _has_submitter(spec) else []
        return [*_of_cluster(spec["rayClusterSpec"]), *submitter]

    def _with_templates(self, spec: Object, templates: Sequence[Object]) -> Object:
        if not _has_submitter(spec):
            return {"rayClusterSpec": _cluster_with(spec["rayClusterSpec"], templates)}
        *of_cluster, wanted = templates
        standing = spec.get(_SUBMITTER)
        return {
            "rayClusterSpec": _cluster_with(spec["rayClusterSpec"], of_cluster),
            _SUBMITTER: wanted if standing is None else placement_patch(standing, wanted),
        }


def _has_submitter(spec: Object) -> bool:
    return bool(spec.get("submissionMode", "K8sJobMode") == "K8sJobMode")


def _submitter(spec: Object) -> Object:
    """The template of the pod that submits, or KubeRay's default."""
    head = get_path(spec["rayClusterSpec"], f"{_TEMPLATE}.spec.containers.0.image")
    requests = {"cpu": "500m", "memory": "200Mi"}
    limits = {"cpu": "1", "memory": "1Gi"}
    container = {
        "name": "ray-job-submitter",
        "image": head,
        "resources": {"requests": requests, "limits": limits},
    }
    default = {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    found: Object = spec.get(_SUBMITTER) or default
    return found


def _of_cluster(spec: Object) -> list[tuple[str, int, Object]]:
    found = [("head", 1, get_path(spec, _TEMPLATE))]
    for group in spec.get("workerGroupSpecs") or ():
        count = int(group.get("replicas", 1)) * int(group.get("numOfHosts", 1))
        found.append((group["groupName"], count, group["template"]))
    return found


def _cluster_with(spec: Object, templates: Sequence[Object]) -> dict[str, Any]:
    head, *workers = templates
    groups = [
        {**group, "template": with_placement_of(group["template"], template)}
        for group, template in zip(spec.get("workerGroupSpecs") or (), workers, strict=True)
    ]
    return {
        **with_path({}, _TEMPLATE, placement_patch(get_path(spec, _TEMPLATE), head)),
        "workerGroupSpecs": groups,
    }
