"""Jobs, their Workloads and the queues, as scenarios handle them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Self

from conformance.handle import Handle
from conformance.suites.kueue.api import (
    APP_WRAPPER,
    CLUSTER_QUEUE,
    GROUP_NAME,
    GROUP_TOTAL,
    JOB_SET,
    LOCAL_QUEUE,
    PRIORITY_CLASS,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    RESOURCE_FLAVOR,
    WORKLOAD,
)
from conformance.suites.kueue.kind import WorkloadState
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.kinds import (
    DEPLOYMENT,
    JOB,
    POD,
    PYTORCH_JOB,
    RAY_CLUSTER,
    RAY_JOB,
    REPLICA_SET,
    STATEFUL_SET,
    Kind,
)
from vocabulary.objects import (
    Object,
    controller_of,
    get_path,
    labels_of,
    name_of,
    owner_references,
    uid_of,
    with_path,
)
from vocabulary.requests import PropagationPolicy

MAIN: Final = "main"


class Queued(Handle):
    """A job that waits in a queue, with the Workload that stands for it."""

    @property
    def workload(self) -> Object:
        """Its Workload as it is stored now; empty if there is none."""
        uid = uid_of(self.now)
        return next(
            (
                each
                for each in self.world.list(WORKLOAD, namespace=self.namespace)
                if (controller_of(each) or {}).get("uid") == uid
            ),
            {},
        )

    @property
    def state(self) -> WorkloadState:
        """Its Workload's fields as they are stored now."""
        return WorkloadState(self.workload)

    @property
    def workloads(self) -> Sequence[Object]:
        """Those that stand for it: several where each of its pods waits for itself."""
        return (self.workload,) if self.workload else ()

    def _all(self, text: str, holds: Callable[[WorkloadState], bool]) -> Condition:
        """A condition of each of its Workloads."""

        def check() -> bool:
            states = [WorkloadState(each) for each in self.workloads]
            return bool(states) and all(map(holds, states))

        return Condition(f"{self} {text}", check)

    # Conditions to wait for.

    def is_admitted(self) -> Condition:
        return self._all("is admitted", lambda state: state.is_admitted)

    def waits(self) -> Condition:
        """It has a Workload, without quota."""
        return Condition(
            f"{self} waits", lambda: bool(self.workload) and not self.state.has_reservation
        )

    def is_ready(self) -> Condition:
        return self._all("is ready", lambda state: state.are_pods_ready)

    def was_requeued(self, times: int) -> Condition:
        """It was evicted for the times-th time since its pods were not ready."""
        return Condition(f"{self} requeued {times} times", lambda: self.state.count >= times)

    def has_released(self) -> Condition:
        """It was evicted, and holds no quota any more."""
        return Condition(
            f"{self} has released its quota",
            lambda: self.state.is_evicted and not self.state.has_reservation,
        )

    def is_deactivated(self) -> Condition:
        return Condition(f"{self} is deactivated", lambda: not self.state.is_active)

    def is_finished(self) -> Condition:
        return Condition(f"{self} is finished", lambda: self.state.is_finished)

    # Its user's actions.

    def annotate(self, key: str, text: str) -> None:
        """Annotate its Workload."""
        body = {"metadata": {"annotations": {key: text}}}
        self.world.patch(WORKLOAD, name_of(self.workload), body, namespace=self.namespace)

    def activate(self, active: bool) -> None:
        """Set `spec.active` of its Workload, or of each."""
        body = {"spec": {"active": active}}
        for each in self.workloads:
            self.world.patch(WORKLOAD, name_of(each), body, namespace=self.namespace)


class _Made(Queued):
    """A job that one function makes, such as `job`."""

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, **changes: Any) -> Self:
        """Submit one whose pods behave so; see its function."""
        return cls.submit(world, _MAKERS[cls.kind](name, **changes), behaviour)


class QueuedJob(_Made):
    """A batch/v1 Job in a queue."""

    kind: ClassVar[Kind] = JOB


class QueuedJobSet(_Made):
    """A JobSet in a queue, of the replicated job `workers`, and of a `driver` if it is given."""

    kind: ClassVar[Kind] = JOB_SET


class QueuedAppWrapper(_Made):
    """An AppWrapper in a queue, of one Job."""

    kind: ClassVar[Kind] = APP_WRAPPER


class QueuedPyTorchJob(_Made):
    """A PyTorchJob in a queue, of a master alone."""

    kind: ClassVar[Kind] = PYTORCH_JOB


class QueuedRayCluster(_Made):
    """A RayCluster in a queue, of a head and a worker."""

    kind: ClassVar[Kind] = RAY_CLUSTER


class QueuedRayJob(_Made):
    """A RayJob in a queue, of a head and a pod that submits."""

    kind: ClassVar[Kind] = RAY_JOB


class QueuedPod(_Made):
    """A pod in a queue."""

    kind: ClassVar[Kind] = POD


class QueuedPodGroup(Queued):
    """Pods that wait together; it has the name of the group, and of its Workload."""

    kind: ClassVar[Kind] = WORKLOAD

    @classmethod
    def of(
        cls,
        world: World,
        name: str,
        behaviour: str,
        pods: int,
        total: int,
        annotations: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Self:
        """Submit pods that behave so, of a group that has so many in total; see `job`."""
        namespace = ""
        for number in range(pods):
            made = pod(f"{name}-{number}", **changes)
            made["metadata"]["labels"][GROUP_NAME] = name
            made["metadata"]["annotations"] = {GROUP_TOTAL: str(total), **(annotations or {})}
            namespace = QueuedPod.submit(world, made, behaviour).namespace
        return cls(world, name, namespace)

    @property
    def workload(self) -> Object:
        return self.now

    def delete(self, propagation_policy: PropagationPolicy | None = None) -> None:
        """Delete its pods, as the user."""
        for each in self.world.list(POD, namespace=self.namespace):
            if labels_of(each).get(GROUP_NAME) == self.name:
                handle = QueuedPod(self.world, name_of(each), self.namespace)
                handle.delete(propagation_policy)


class QueuedStatefulSet(_Made):
    """A StatefulSet in a queue: its pods wait together."""

    kind: ClassVar[Kind] = STATEFUL_SET

    @property
    def workload(self) -> Object:
        uid = uid_of(self.now)
        return next(
            (
                each
                for each in self.world.list(WORKLOAD, namespace=self.namespace)
                if any(owner["uid"] == uid for owner in owner_references(each))
            ),
            {},
        )


class QueuedDeployment(_Made):
    """A Deployment in a queue: each of its pods waits for itself."""

    kind: ClassVar[Kind] = DEPLOYMENT

    @property
    def workloads(self) -> Sequence[Object]:
        owned = {uid_of(each) for each in self.owned(REPLICA_SET)}
        for kind in (POD, WORKLOAD):
            objects = self.world.list(kind, namespace=self.namespace)
            its = [each for each in objects if (controller_of(each) or {}).get("uid") in owned]
            owned = set(map(uid_of, its))
        return its

    def has_ready(self, count: int) -> Condition:
        return Condition(
            f"{self} has {count} ready pods",
            lambda: int(get_path(self.now, "status.readyReplicas", 0)) == count,
        )


def serving(kind: Kind, name: str, pods: int = 1, **changes: Any) -> Object:
    """A Deployment or StatefulSet of a queue with so many pods; see `job`."""
    template = with_path(_template(name, **changes), "spec.restartPolicy", "Always")
    labels = {"app": name}
    spec = {
        "replicas": pods,
        "selector": {"matchLabels": labels},
        "template": with_path(template, "metadata.labels", labels),
        **({"serviceName": name} if kind == STATEFUL_SET else {}),
    }
    return _made(kind, name, spec, changes.get("queue", MAIN))


def job(
    name: str,
    queue: str = MAIN,
    pods: int = 1,
    parallelism: int = 0,
    requests: Mapping[str, str] | None = None,
    priority: str = "",
    cpu: int = 1,
    namespace: str = "",
    limits: Mapping[str, str] | None = None,
    **pod: Any,
) -> Object:
    """A Job of a queue, all pods of which run at once unless `parallelism` is given; `priority` is
    a WorkloadPriorityClass, `pod` are fields of its pods."""
    resources = {"requests": dict(requests or {"cpu": str(cpu)})}
    if limits:
        resources["limits"] = dict(limits)
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}
    spec = {
        "suspend": True,
        "parallelism": parallelism or pods,
        "completions": pods,
        "backoffLimit": 0,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container], **pod}},
    }
    made = _made(JOB, name, spec, queue)
    if priority:
        made["metadata"]["labels"][PRIORITY_LABEL] = priority
    return with_path(made, "metadata.namespace", namespace) if namespace else made


def job_set(
    name: str, jobs: int = 1, driver: Mapping[str, Any] | None = None, **changes: Any
) -> Object:
    """A JobSet of so many Jobs of a queue, and of a driver that differs from them so; see `job`."""
    template = _as_template(job(name, **changes))
    sets = [{"name": "workers", "replicas": jobs, "template": template}]
    if driver is not None:
        template = _as_template(job(name, **{**changes, **driver}))
        sets.append({"name": "driver", "replicas": 1, "template": template})
    spec = {"suspend": True, "replicatedJobs": sets}
    return _made(JOB_SET, name, spec, changes.get("queue", MAIN))


def app_wrapper(name: str, **changes: Any) -> Object:
    """An AppWrapper of one Job of a queue; see `job`."""
    template = _as_template(job(name, **changes))
    metadata = {"name": f"{name}-job"}
    wrapped = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, **template}
    spec = {"suspend": True, "components": [{"template": wrapped}]}
    return _made(APP_WRAPPER, name, spec, changes.get("queue", MAIN))


def pytorch_job(name: str, types: Sequence[str] = ("Master",), **changes: Any) -> Object:
    """A PyTorchJob of a queue with a pod of each of these types; see `job`."""
    template = _template(name, **changes)
    (container,) = template["spec"]["containers"]
    named = with_path(template, "spec.containers", [{**container, "name": "pytorch"}])
    replica = {"replicas": 1, "restartPolicy": "Never", "template": named}
    spec = {
        "runPolicy": {"suspend": True},
        "pytorchReplicaSpecs": dict.fromkeys(types, replica),
    }
    return _made(PYTORCH_JOB, name, spec, changes.get("queue", MAIN))


def ray_cluster(name: str, workers: int = 1, **changes: Any) -> Object:
    """A RayCluster of a queue, of a head and so many workers; see `job`."""
    template = _template(name, **changes)
    group = {"groupName": "workers", "replicas": workers, "template": template}
    spec = {
        "suspend": True,
        "headGroupSpec": {"template": template},
        "workerGroupSpecs": [group] if workers else [],
    }
    return _made(RAY_CLUSTER, name, spec, changes.get("queue", MAIN))


def ray_job(name: str, **changes: Any) -> Object:
    """A RayJob of a queue, of a head and a pod that submits; see `job`."""
    cluster = ray_cluster(name, workers=0, **changes)["spec"]
    spec = {
        "suspend": True,
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": {key: each for key, each in cluster.items() if key != "suspend"},
        "submitterPodTemplate": _template(name, **changes),
        "submitterConfig": {"backoffLimit": 0},
        # KubeRay's definition has this default, which a released Kueue goes by.
        "submissionMode": "K8sJobMode",
    }
    return _made(RAY_JOB, name, spec, changes.get("queue", MAIN))


def pod(name: str, **changes: Any) -> Object:
    """A pod of a queue; see `job`."""
    made = _made(POD, name, _template(name, **changes)["spec"], changes.get("queue", MAIN))
    namespace = changes.get("namespace", "")
    return with_path(made, "metadata.namespace", namespace) if namespace else made


_MAKERS: Final[Mapping[Kind, Callable[..., Object]]] = {
    JOB: job,
    JOB_SET: job_set,
    APP_WRAPPER: app_wrapper,
    PYTORCH_JOB: pytorch_job,
    RAY_CLUSTER: ray_cluster,
    RAY_JOB: ray_job,
    POD: pod,
    STATEFUL_SET: partial(serving, STATEFUL_SET),
    DEPLOYMENT: partial(serving, DEPLOYMENT),
}


def _template(name: str, **changes: Any) -> Object:
    """The pod template of a Job; see `job`."""
    found: Object = job(name, **changes)["spec"]["template"]
    return found


def _as_template(job: Object) -> Object:
    """The Job as a part of another object, which waits in the queue for it."""
    spec = {key: each for key, each in job["spec"].items() if key != "suspend"}
    return {"spec": spec}


def queue(
    world: World,
    name: str = MAIN,
    quota: Mapping[str, str] | None = None,
    flavors: Sequence[str] = ("default",),
    limits: Mapping[str, str] | None = None,
    namespaces: Sequence[str] = (),
    local_name: str = "",
    **spec: Any,
) -> str:
    """Create a ClusterQueue with as much quota of each flavor, and a LocalQueue of that name for it
    in the run's namespace, or in these; returns the ClusterQueue's name. `limits` are further
    limits of each resource, `local_name` is another name for the LocalQueue, `spec` are further
    fields of the ClusterQueue."""
    cluster_queue = f"{world.prefix}{name}"
    amounts = {"cpu": "1"} if quota is None else quota
    resources = [
        {"name": each, "nominalQuota": amounts[each], **(limits or {})} for each in amounts
    ]
    group = {
        "coveredResources": list(amounts),
        "flavors": [{"name": flavor(world, each), "resources": resources} for each in flavors],
    }
    if "cohort" in spec:
        spec["cohort"] = f"{world.prefix}{spec['cohort']}"
    made = {"namespaceSelector": {}, **({"resourceGroups": [group]} if amounts else {}), **spec}
    world.create(_made(CLUSTER_QUEUE, cluster_queue, made))
    for namespace in dict.fromkeys(namespaces or (world.namespace,)):
        local = _made(LOCAL_QUEUE, local_name or name, {"clusterQueue": cluster_queue})
        world.create(with_path(local, "metadata.namespace", namespace))
    world.wait(2 * SECOND)  # So that controllers know it, and may be judged by it.
    return cluster_queue


def flavor(world: World, name: str, **spec: Any) -> str:
    """Create a ResourceFlavor unless there is one; returns its name."""
    full = f"{world.prefix}{name}"
    if world.get(RESOURCE_FLAVOR, full) is None:
        world.create(_made(RESOURCE_FLAVOR, full, spec or None))
    return full


def priority_class(world: World, name: str, value: int) -> str:
    """Create a WorkloadPriorityClass; returns its name."""
    full = f"{world.prefix}{name}"
    world.create({**_made(PRIORITY_CLASS, full), "value": value})
    return full


def stop(world: World, kind: Kind, name: str, policy: str) -> None:
    """Set the stopPolicy of a queue."""
    world.patch(kind, name, {"spec": {"stopPolicy": policy}})


def _made(
    kind: Kind, name: str, spec: Mapping[str, Any] | None = None, queue: str = ""
) -> dict[str, Any]:
    labels = {"labels": {QUEUE_LABEL: queue}} if queue else {}
    made = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, **labels},
    }
    return made if spec is None else {**made, "spec": dict(spec)}
