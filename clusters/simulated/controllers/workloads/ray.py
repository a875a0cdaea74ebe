"""The controllers of RayClusters and RayJobs (ray.io/v1), as far as Kueue and pods show them.

A RayCluster has a head and groups of workers; a RayJob has a RayCluster of its own, and once that
is ready a Job that submits to it. There is no Ray here: the RayJob ends as its submitter does.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Final, NamedTuple

from clusters.simulated.controllers.base import Work
from clusters.simulated.controllers.workloads.pods import (
    FINAL_PHASES,
    controller_reference,
    is_active,
    is_ready,
    phase_of,
    pod_from_template,
)
from clusters.simulated.controllers.workloads.workload import WorkloadController
from vocabulary.canonical import digest
from vocabulary.clock import SECOND, Micros, parse_rfc3339, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, POD, RAY_CLUSTER, RAY_JOB, Kind
from vocabulary.objects import (
    Object,
    annotations_of,
    condition,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Create, Delete, Request, Update

PREFIX: Final = "ray.io/"
_OPERATOR: Final = "ray.io/kuberay-operator"
_SUSPENDING: Final = "RayClusterSuspending"
_SUSPENDED: Final = "RayClusterSuspended"
_RETRY_US: Final = 3 * SECOND
"""From one look at what is being deleted to the next."""


class _Group(NamedTuple):
    name: str
    node_type: str
    size: int
    template: Object


class RayClusterController(WorkloadController):
    """KubeRay's part for RayClusters. Once `ready` they stay so until they are suspended, whatever
    becomes of their pods."""

    name = "raycluster-controller"
    kind = RAY_CLUSTER
    owns = (POD,)

    def sync(self, key: Any) -> Work:
        cluster = self.informers.get(RAY_CLUSTER, *key)
        if cluster is None or is_terminating(cluster) or _is_of_others(cluster):
            return None
        pods = list(self.informers.controlled_by(uid_of(cluster)))
        groups = list(_groups(cluster["spec"]))
        if _shows(cluster, _SUSPENDING):
            for pod in pods:
                if not is_terminating(pod):
                    yield from self.delete(POD, pod)
        elif not (_shows(cluster, _SUSPENDED) or cluster["spec"].get("suspend")):
            for group in groups:
                yield from self._replicate(cluster, group, pods)
        status = _cluster_status(cluster, groups, pods, to_rfc3339(self.loop.now_us))
        if status != (cluster.get("status") or {}):
            yield Update(RAY_CLUSTER, {**cluster, "status": status}, subresource="status")
        return None

    def _replicate(
        self, cluster: Object, group: _Group, pods: list[Object]
    ) -> Generator[Request, Any, None]:
        """Delete pods that have ended, and create those that are missing."""
        its = [pod for pod in pods if labels_of(pod).get(f"{PREFIX}group") == group.name]
        for pod in its:
            if phase_of(pod) in FINAL_PHASES and not is_terminating(pod):
                yield from self.delete(POD, pod)
        for _ in range(group.size - sum(not is_terminating(pod) for pod in its)):
            pod = pod_from_template(cluster, RAY_CLUSTER, group.template)
            pod["metadata"]["generateName"] = f"{name_of(cluster)}-{group.node_type}-"
            pod["metadata"]["labels"] |= {
                f"{PREFIX}cluster": name_of(cluster),
                f"{PREFIX}group": group.name,
                f"{PREFIX}node-type": group.node_type,
            }
            yield Create(POD, pod, namespace_of(cluster))


def _is_of_others(obj: Object) -> bool:
    """True if it names another controller than KubeRay."""
    return bool(obj["spec"].get("managedBy", _OPERATOR) != _OPERATOR)


def _groups(spec: Object) -> Iterator[_Group]:
    """Where no definition asks for a name or a template, either may be missing."""
    head = get_path(spec, "headGroupSpec.template")
    if head is not None:
        yield _Group("headgroup", "head", 1, head)
    for number, each in enumerate(spec.get("workerGroupSpecs") or ()):
        count = int(each.get("replicas", 1)) * int(each.get("numOfHosts", 1))
        if "template" in each:
            yield _Group(each.get("groupName", f"{number}"), "worker", count, each["template"])


def _cluster_status(cluster: Object, groups: list[_Group], pods: list[Object], now: str) -> Object:
    workers = sum(group.size for group in groups if group.node_type == "worker")
    ready = [pod for pod in pods if is_active(pod) and is_ready(pod)]
    heads = sum(labels_of(pod).get(f"{PREFIX}node-type") == "head" for pod in ready)
    status = {
        **(cluster.get("status") or {}),
        "desiredWorkerReplicas": workers,
        "readyWorkerReplicas": len(ready) - heads,
        "observedGeneration": meta(cluster)["generation"],
        "conditions": list(_suspension(cluster, bool(pods), now)),
    }
    if len(pods) == len(ready) == workers + 1:
        status["state"] = "ready"
    if cluster["spec"].get("suspend") and not pods:
        status["state"] = "suspended"
    return status


def _suspension(cluster: Object, has_pods: bool, now: str) -> Iterator[Object]:
    """It is suspended as a whole: one that has begun to be is so before it is resumed."""
    suspends = bool(cluster["spec"].get("suspend"))
    is_suspending, is_suspended = _shows(cluster, _SUSPENDING), _shows(cluster, _SUSPENDED)
    if is_suspending:
        is_suspending, is_suspended = has_pods, not has_pods
    elif is_suspended:
        is_suspended = suspends
    else:
        is_suspending = suspends
    for type_, is_true in ((_SUSPENDING, is_suspending), (_SUSPENDED, is_suspended)):
        status = "True" if is_true else "False"
        old = condition(cluster, type_) or {}
        since = old["lastTransitionTime"] if old.get("status") == status else now
        yield {
            "type": type_,
            "status": status,
            "reason": type_,
            "message": "",
            "lastTransitionTime": since,
        }


def _shows(cluster: Object, type_: str) -> bool:
    return condition_status(cluster, type_) == "True"


class RayJobController(WorkloadController):
    """KubeRay's part for RayJobs that have a cluster of their own, and a Job that submits."""

    name = "rayjob-controller"
    kind = RAY_JOB
    owns = ()

    def listen(self) -> None:
        super().listen()
        for kind in (RAY_CLUSTER, JOB):
            self.on(kind, self._owned_changed)

    def sync(self, key: Any) -> Work:
        job = self.informers.get(RAY_JOB, *key)
        if job is None or is_terminating(job) or _is_of_others(job):
            return None
        if "rayClusterSpec" not in job["spec"]:
            return None
        status = dict(job.get("status") or {})
        stage = status.get("jobDeploymentStatus", "")
        wake_at_us: Micros | None = None
        if stage in ("Initializing", "Running") and job["spec"].get("suspend"):
            status["jobDeploymentStatus"] = "Suspending"
        elif stage in ("Suspending", "Retrying"):
            wake_at_us = yield from self._clear(job, status)
        elif stage in ("Complete", "Failed"):
            return (yield from self._shut_down(job))
        elif stage == "Initializing":
            yield from self._set_up(job, status)
        elif stage == "Running":
            self._judge(job, status)
        elif not (stage == "Suspended" and job["spec"].get("suspend")):
            self._renew(job, status)
        if status != (job.get("status") or {}):
            yield Update(RAY_JOB, {**job, "status": status}, subresource="status")
        return wake_at_us

    def _renew(self, job: Object, status: dict[str, Any]) -> None:
        """Name the cluster of the next attempt before it is created."""
        suffix = digest([uid_of(job), meta(job)["resourceVersion"]])[:5]
        status["rayClusterName"] = f"{name_of(job)}-{suffix}"
        status["jobStatus"] = ""
        status["jobDeploymentStatus"] = "Initializing"

    def _set_up(self, job: Object, status: dict[str, Any]) -> Generator[Request, Any, None]:
        """Create the cluster, and its submitter once it is ready."""
        cluster = self.informers.get(RAY_CLUSTER, namespace_of(job), status["rayClusterName"])
        if cluster is None:
            yield from self._create(RAY_CLUSTER, _cluster_of(job, status["rayClusterName"]))
            return
        status["rayClusterStatus"] = cluster.get("status") or {}
        if status["rayClusterStatus"].get("state") != "ready":
            return
        is_submitted = self.informers.get(JOB, namespace_of(job), name_of(job)) is not None
        if not (is_submitted or _by_http(job)):
            yield from self._create(JOB, _submitter_of(job))
        status["jobDeploymentStatus"] = "Running"

    def _judge(self, job: Object, status: dict[str, Any]) -> None:
        """End with the submitter, or as a client writes, where there is none."""
        submitter = self.informers.get(JOB, namespace_of(job), name_of(job)) or {}
        said = status.get("jobStatus", "") if _by_http(job) else ""
        if said == "SUCCEEDED" or condition_status(submitter, "Complete") == "True":
            status |= {"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Complete"}
        elif said == "FAILED" or condition_status(submitter, "Failed") == "True":
            failed = int(status.get("failed", 0)) + 1
            is_last = failed > int(job["spec"].get("backoffLimit", 0))
            status |= {
                "failed": failed,
                "jobStatus": "FAILED",
                "jobDeploymentStatus": "Failed" if is_last else "Retrying",
            }
        else:
            return
        status["endTime"] = to_rfc3339(self.loop.now_us)

    def _clear(self, job: Object, status: dict[str, Any]) -> Work:
        """Delete the cluster and its submitter; their pods may take longer to go than they."""
        standing = [
            (kind, found)
            for kind, name in ((RAY_CLUSTER, status["rayClusterName"]), (JOB, name_of(job)))
            if (found := self.informers.get(kind, namespace_of(job), name)) is not None
        ]
        for kind, found in standing:
            if not is_terminating(found):
                yield Delete(
                    kind,
                    namespace_of(found),
                    name_of(found),
                    uid=uid_of(found),
                    propagation_policy="Background",
                )
        if standing:
            return self.loop.now_us + _RETRY_US
        is_suspended = status["jobDeploymentStatus"] == "Suspending"
        for field in ("rayClusterName", "rayClusterStatus", "jobStatus", "endTime"):
            status.pop(field, None)
        status["jobDeploymentStatus"] = "Suspended" if is_suspended else ""
        return None

    def _shut_down(self, job: Object) -> Work:
        """Delete the cluster of one that has ended, if it says so; the submitter stays."""
        if not job["spec"].get("shutdownAfterJobFinishes"):
            return None
        ttl_us = int(job["spec"].get("ttlSecondsAfterFinished", 0)) * SECOND
        due_us: Micros = parse_rfc3339(job["status"]["endTime"]) + ttl_us
        if self.loop.now_us < due_us:
            return due_us
        cluster = self.informers.get(
            RAY_CLUSTER, namespace_of(job), job["status"]["rayClusterName"]
        )
        if cluster is not None and not is_terminating(cluster):
            yield from self.delete(RAY_CLUSTER, cluster)
        return None

    def _create(self, kind: Kind, obj: Object) -> Generator[Request, Any, None]:
        try:
            yield Create(kind, obj, namespace_of(obj))
        except ApiError as refused:
            if not refused.is_already_exists:
                raise


def _by_http(job: Object) -> bool:
    """True if no pod submits to the cluster: KubeRay does so itself."""
    return bool(job["spec"].get("submissionMode") == "HTTPMode")


def _cluster_of(job: Object, name: str) -> Object:
    return {
        "apiVersion": RAY_CLUSTER.api_version,
        "kind": RAY_CLUSTER.kind,
        "metadata": {
            "name": name,
            "namespace": namespace_of(job),
            "labels": {**labels_of(job), f"{PREFIX}originated-from-cr-name": name_of(job)},
            "annotations": dict(annotations_of(job)),
            "ownerReferences": [controller_reference(job, RAY_JOB)],
        },
        "spec": job["spec"]["rayClusterSpec"],
    }


def _submitter_of(job: Object) -> Object:
    """A template that is not given is KubeRay's own."""
    container = {
        "name": "ray-job-submitter",
        "image": get_path(
            job, "spec.rayClusterSpec.headGroupSpec.template.spec.containers.0.image"
        ),
        "resources": {"requests": {"cpu": "500m", "memory": "200Mi"}},
    }
    default = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.kind,
        "metadata": {
            "name": name_of(job),
            "namespace": namespace_of(job),
            "labels": {f"{PREFIX}originated-from-cr-name": name_of(job)},
            "ownerReferences": [controller_reference(job, RAY_JOB)],
        },
        "spec": {
            "backoffLimit": int(get_path(job, "spec.submitterConfig.backoffLimit", 2)),
            "template": job["spec"].get("submitterPodTemplate") or default,
        },
    }
