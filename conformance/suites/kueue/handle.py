"""Jobs, their Workloads and the queues, as scenarios handle them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Self

from conformance.handle import Condition, Handle
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
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import DEPLOYMENT, JOB, POD, PYTORCH_JOB, STATEFUL_SET, Kind
from vocabulary.objects import (
    Object,
    controller_of,
    get_path,
    name_of,
    owner_references,
    uid_of,
    with_path,
)

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

    # Conditions to wait for.

    def is_admitted(self) -> Condition:
        return Condition(f"{self} is admitted", lambda: self.state.is_admitted)

    def waits(self) -> Condition:
        """It has a Workload, without quota."""
        return Condition(
            f"{self} waits", lambda: bool(self.workload) and not self.state.has_reservation
        )

    def is_ready(self) -> Condition:
        return Condition(f"{self} is ready", lambda: self.state.are_pods_ready)

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
        """Set `spec.active` of its Workload."""
        body = {"spec": {"active": active}}
        self.world.patch(WORKLOAD, name_of(self.workload), body, namespace=self.namespace)


class QueuedJob(Queued):
    """A batch/v1 Job in a queue."""

    kind: ClassVar[Kind] = JOB

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, **changes: Any) -> Self:
        """Submit a Job whose pods behave so; see `job`."""
        return cls.submit(world, job(name, **changes), behaviour)


class QueuedJobSet(Queued):
    """A JobSet in a queue, of one replicated job `workers`."""

    kind: ClassVar[Kind] = JOB_SET

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, jobs: int = 1, **changes: Any) -> Self:
        """Submit a JobSet of so many Jobs, whose pods behave so; see `job`."""
        return cls.submit(world, job_set(name, jobs, **changes), behaviour)


class QueuedAppWrapper(Queued):
    """An AppWrapper in a queue, of one Job."""

    kind: ClassVar[Kind] = APP_WRAPPER

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, **changes: Any) -> Self:
        """Submit an AppWrapper of a Job whose pods behave so; see `job`."""
        return cls.submit(world, app_wrapper(name, **changes), behaviour)


class QueuedPyTorchJob(Queued):
    """A PyTorchJob in a queue, of a master alone."""

    kind: ClassVar[Kind] = PYTORCH_JOB

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, **changes: Any) -> Self:
        """Submit a PyTorchJob whose pod behaves so; see `job`."""
        template = job(name, **changes)["spec"]["template"]
        pytorch = {**template["spec"]["containers"][0], "name": "pytorch"}
        master = {
            "replicas": 1,
            "restartPolicy": "Never",
            "template": with_path(template, "spec.containers", [pytorch]),
        }
        spec = {"runPolicy": {"suspend": True}, "pytorchReplicaSpecs": {"Master": master}}
        made = _made(PYTORCH_JOB, name, spec, changes.get("queue", MAIN))
        return cls.submit(world, made, behaviour)


class QueuedPod(Queued):
    """A pod in a queue."""

    kind: ClassVar[Kind] = POD

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, **changes: Any) -> Self:
        """Submit a pod that behaves so; see `job`."""
        template = job(name, **changes)["spec"]["template"]
        made = _made(POD, name, template["spec"], changes.get("queue", MAIN))
        return cls.submit(world, made, behaviour)


class QueuedPodGroup(Queued):
    """Pods that wait together; it has the name of the group, and of its Workload."""

    kind: ClassVar[Kind] = WORKLOAD

    @classmethod
    def of(
        cls, world: World, name: str, behaviour: str, pods: int, total: int, **changes: Any
    ) -> Self:
        """Submit pods that behave so, of a group that has so many in total; see `job`."""
        template = job(name, **changes)["spec"]["template"]
        for number in range(pods):
            made = _made(POD, f"{name}-{number}", template["spec"], changes.get("queue", MAIN))
            made["metadata"]["labels"][GROUP_NAME] = name
            made["metadata"]["annotations"] = {GROUP_TOTAL: str(total)}
            QueuedPod.submit(world, made, behaviour)
        return cls(world, name)

    @property
    def workload(self) -> Object:
        return self.now


class QueuedStatefulSet(Queued):
    """A StatefulSet in a queue: its pods wait together."""

    kind: ClassVar[Kind] = STATEFUL_SET

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, pods: int = 1, **changes: Any) -> Self:
        """Submit a StatefulSet of so many pods that behave so; see `job`."""
        spec = {"serviceName": name, "replicas": pods, **_serving(name, **changes)}
        made = _made(STATEFUL_SET, name, spec, changes.get("queue", MAIN))
        return cls.submit(world, made, behaviour)

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


class QueuedDeployment(Handle):
    """A Deployment in a queue: each of its pods waits for itself."""

    kind: ClassVar[Kind] = DEPLOYMENT

    @classmethod
    def of(cls, world: World, name: str, behaviour: str, pods: int = 1, **changes: Any) -> Self:
        """Submit a Deployment of so many pods that behave so; see `job`."""
        spec = {"replicas": pods, **_serving(name, **changes)}
        made = _made(DEPLOYMENT, name, spec, changes.get("queue", MAIN))
        return cls.submit(world, made, behaviour)

    def has_ready(self, count: int) -> Condition:
        return Condition(
            f"{self} has {count} ready pods",
            lambda: int(get_path(self.now, "status.readyReplicas", 0)) == count,
        )


def _serving(name: str, **changes: Any) -> Object:
    """A selector and a template of pods that are replaced."""
    template = job(name, **changes)["spec"]["template"]
    spec = {**template["spec"], "restartPolicy": "Always"}
    labels = {"app": name}
    return {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec},
    }


def job(
    name: str,
    queue: str = MAIN,
    pods: int = 1,
    requests: Mapping[str, str] | None = None,
    priority: str = "",
    cpu: int = 1,
    namespace: str = "",
    **pod: Any,
) -> Object:
    """A Job of a queue; `priority` is a WorkloadPriorityClass, `pod` are fields of its pods."""
    container = {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "resources": {"requests": dict(requests or {"cpu": str(cpu)})},
    }
    spec = {
        "suspend": True,
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": 0,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container], **pod}},
    }
    made = _made(JOB, name, spec, queue)
    if priority:
        made["metadata"]["labels"][PRIORITY_LABEL] = priority
    return with_path(made, "metadata.namespace", namespace) if namespace else made


def job_set(name: str, jobs: int = 1, **changes: Any) -> Object:
    """A JobSet of so many Jobs of a queue; see `job`."""
    template = _as_template(job(name, **changes))
    workers = {"name": "workers", "replicas": jobs, "template": template}
    spec = {"suspend": True, "replicatedJobs": [workers]}
    return _made(JOB_SET, name, spec, changes.get("queue", MAIN))


def app_wrapper(name: str, **changes: Any) -> Object:
    """An AppWrapper of one Job of a queue; see `job`."""
    template = _as_template(job(name, **changes))
    metadata = {"name": f"{name}-job"}
    wrapped = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, **template}
    spec = {"suspend": True, "components": [{"template": wrapped}]}
    return _made(APP_WRAPPER, name, spec, changes.get("queue", MAIN))


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
    **spec: Any,
) -> str:
    """Create a ClusterQueue with as much quota of each flavor, and a LocalQueue of that name for it
    in the run's namespace, or in these; returns the ClusterQueue's name. `limits` are further
    limits of each resource, `spec` further fields of the queue."""
    cluster_queue = f"{world.prefix}{name}"
    amounts = quota or {"cpu": "1"}
    resources = [
        {"name": each, "nominalQuota": amounts[each], **(limits or {})} for each in amounts
    ]
    group = {
        "coveredResources": list(amounts),
        "flavors": [{"name": flavor(world, each), "resources": resources} for each in flavors],
    }
    if "cohort" in spec:
        spec["cohort"] = f"{world.prefix}{spec['cohort']}"
    made = {"namespaceSelector": {}, "resourceGroups": [group], **spec}
    world.create(_made(CLUSTER_QUEUE, cluster_queue, made))
    for namespace in dict.fromkeys(namespaces or (world.namespace,)):
        local = _made(LOCAL_QUEUE, name, {"clusterQueue": cluster_queue})
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
