"""The job of a cell: one of each kind, with two pods where there can be two.

The first of them leads: it ends as the cell's way says. The other one runs on, and stops as the
cell says once it has to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from conformance.manifests.pod_templates import with_behaviour
from conformance.suites.kueue.api import RETRIABLE
from conformance.suites.kueue.handle import (
    Queued,
    QueuedAppWrapper,
    QueuedDeployment,
    QueuedJob,
    QueuedJobSet,
    QueuedPod,
    QueuedPodGroup,
    QueuedPyTorchJob,
    QueuedRayCluster,
    QueuedRayJob,
    QueuedStatefulSet,
    app_wrapper,
    job,
    job_set,
    pod,
    pytorch_job,
    ray_cluster,
    ray_job,
    serving,
)
from conformance.suites.quota.cells import STOPS, Cell
from conformance.world import World
from vocabulary.kinds import DEPLOYMENT, STATEFUL_SET
from vocabulary.objects import Object, with_path

_PARAMETER: Final = "workload.codeflare.dev.appwrapper/"
_ENDS: Final = {
    "success": "run 20s, exit 0",
    "failure": "run 20s, exit 1",
    "retries-exhausted": "run 20s, exit 1",
    "pods-ready-timeout": "never ready",
}
ENDING: Final = tuple(_ENDS)
"""The ways of jobs that end, or never become ready, by themselves."""


def submit(world: World, cell: Cell, namespace: str) -> Queued:
    """Submit the job of a cell."""
    if cell.kind == "pod-group":
        return QueuedPodGroup.of(
            world, "a", _lead(cell), 2, 2, {RETRIABLE: "false"}, namespace=namespace
        )
    handle, make = _JOBS[cell.kind]
    return handle.submit(world, with_path(make(cell), "metadata.namespace", namespace))


def pods_of(cell: Cell) -> int:
    """The number of pods that the job of a cell begins with."""
    is_unready_ray_job = cell.kind == "rayjob" and cell.way == "pods-ready-timeout"
    return 1 if cell.kind == "pod" or is_unready_ray_job else 2


def _job(cell: Cell) -> Object:
    failures = 2 * _retries(cell)  # two pods fail side by side
    made = with_path(job("a", pods=2), "spec.backoffLimit", failures)
    return with_behaviour(made, _lead(cell))


def _job_set(cell: Cell) -> Object:
    made = job_set("a")
    (workers,) = made["spec"]["replicatedJobs"]
    spec = {
        **made["spec"],
        "replicatedJobs": [
            {**with_behaviour(workers, _lead(cell)), "name": "driver"},
            with_behaviour(workers, _other(cell)),
        ],
        "failurePolicy": {"maxRestarts": _retries(cell)},
        "successPolicy": {"operator": "Any", "targetReplicatedJobs": ["driver"]},
    }
    return {**made, "spec": spec}


def _app_wrapper(cell: Cell) -> Object:
    """One that has succeeded has no pods that run; it counts those that run, ready or not."""
    made, other = app_wrapper("a"), app_wrapper("a-other")
    (first,), (second,) = made["spec"]["components"], other["spec"]["components"]
    if cell.way == "recovery-timeout":
        first = with_path(first, "template.spec.backoffLimit", 6)
    components = [
        with_behaviour(first, _lead(cell, unready="stay pending")),
        with_behaviour(second, _lead(cell) if cell.way == "success" else _other(cell)),
    ]
    asked = {
        f"{_PARAMETER}retryLimit": str(_retries(cell)),
        f"{_PARAMETER}warmupGracePeriodDuration": "1h",
        f"{_PARAMETER}failureGracePeriodDuration": "1h",
    }
    made = with_path(made, "spec.components", components)
    return with_path(made, "metadata.annotations", asked)


def _pytorch_job(cell: Cell) -> Object:
    """It counts a master that runs, ready or not."""
    made = pytorch_job("a", ("Master", "Worker"))
    replicas = made["spec"]["pytorchReplicaSpecs"]
    restarts = {"retries-exhausted": "OnFailure", "recovery-timeout": "ExitCode"}
    leads = with_behaviour(replicas["Master"], _lead(cell, unready="stay pending"))
    policy = {"suspend": True, "cleanPodPolicy": "Running", "backoffLimit": 1}
    spec = {
        "runPolicy": policy,
        "pytorchReplicaSpecs": {
            "Master": {**leads, "restartPolicy": restarts.get(cell.way, "Never")},
            "Worker": with_behaviour(replicas["Worker"], _other(cell)),
        },
    }
    return {**made, "spec": spec}


def _ray_cluster(cell: Cell) -> Object:
    return with_behaviour(ray_cluster("a"), _lead(cell))


def _ray_job(cell: Cell) -> Object:
    made = ray_job("a")
    is_unready = cell.way == "pods-ready-timeout"
    head = _lead(cell) if is_unready else _other(cell)
    spec = {
        **made["spec"],
        "backoffLimit": _retries(cell),
        "rayClusterSpec": with_behaviour(made["spec"]["rayClusterSpec"], head),
        "submitterPodTemplate": with_behaviour(made["spec"]["submitterPodTemplate"], _lead(cell)),
    }
    return {**made, "spec": spec}


def _pod(cell: Cell) -> Object:
    return with_behaviour(pod("a", cpu=2), _lead(cell))


_JOBS: Final[Mapping[str, tuple[type[Queued], Callable[[Cell], Object]]]] = {
    "job": (QueuedJob, _job),
    "jobset": (QueuedJobSet, _job_set),
    "appwrapper": (QueuedAppWrapper, _app_wrapper),
    "pod": (QueuedPod, _pod),
    "deployment": (
        QueuedDeployment,
        lambda cell: with_behaviour(serving(DEPLOYMENT, "a", 2), _lead(cell)),
    ),
    "statefulset": (
        QueuedStatefulSet,
        lambda cell: with_path(
            with_behaviour(serving(STATEFUL_SET, "a", 2), _lead(cell)),
            "spec.podManagementPolicy",
            "Parallel",
        ),
    ),
    "pytorchjob": (QueuedPyTorchJob, _pytorch_job),
    "raycluster": (QueuedRayCluster, _ray_cluster),
    "rayjob": (QueuedRayJob, _ray_job),
}


def _lead(cell: Cell, unready: str = "never ready") -> str:
    """The behaviour of the pod that leads."""
    is_unready = cell.way == "pods-ready-timeout"
    runs = unready if is_unready else _ENDS.get(cell.way, "run forever")
    return f"{runs}, {STOPS[cell.pods]}"


def _other(cell: Cell) -> str:
    return f"run forever, {STOPS[cell.pods]}"


def _retries(cell: Cell) -> int:
    return 1 if cell.way == "retries-exhausted" else 0
