"""How many pods are expected of what kind, and from which templates they are made.

The clusters here lack the controllers of these kinds: the steps make the pods as they would.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    deployment,
    job,
    pod_spec,
    stateful_set,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import kind_of
from vocabulary.objects import get_path, name_of, uid_of

WITHOUT_CONTROLLERS: Final = "a cluster with these kinds has their controllers as well"
CRDS: Final = "pod_set_crds.yaml"


class Shape(NamedTuple):
    """A workload, and the pods that its controller makes of it."""

    template: dict[str, Any]
    pods: dict[str, int]
    """How many by the path of their template."""
    pod_sets: list[dict[str, Any]] | None = None
    """As its user declares them; None where he leaves that to be inferred."""


def _template(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"team": "research"}}, "spec": pod_spec(**fields)}


def _replicated_job(name: str, spec: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": name, "template": {"spec": {**spec, "template": _template()}}, **fields}


def _custom(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a-0"}, "spec": spec}


def _job_set(*jobs: dict[str, Any]) -> dict[str, Any]:
    return _custom("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": list(jobs)})


_BY_OTHERS: Final = {"managedBy": "kueue.x-k8s.io/multikueue"}
"""The scenarios make the pods: the operator of Ray is not to."""


def _ray_cluster(*groups: dict[str, Any]) -> dict[str, Any]:
    workers = [{**group, "template": _template()} for group in groups]
    spec: dict[str, Any] = {**_BY_OTHERS, "headGroupSpec": {"template": _template()}}
    return {**spec, "workerGroupSpecs": workers} if workers else spec


TWO_GROUPS: Final = _ray_cluster({"groupName": "a", "replicas": 2}, {"groupName": "b"})
GANG: Final = {"leader": _template(), "groups": [{"pods": _template()}, {"pods": _template()}]}

SHAPES: Final = {
    "job-set": Shape(
        _job_set(
            _replicated_job("leader", {}),
            _replicated_job("workers", {"parallelism": 2, "completions": 3}, replicas=2),
        ),
        {
            "spec.replicatedJobs.0.template.spec.template": 1,
            "spec.replicatedJobs.1.template.spec.template": 4,
        },
    ),
    "job-set-of-few-completions": Shape(
        _job_set(_replicated_job("only", {"parallelism": 3, "completions": 2}, replicas=1)),
        {"spec.replicatedJobs.0.template.spec.template": 2},
    ),
    "ray-cluster": Shape(
        _custom("ray.io/v1", "RayCluster", TWO_GROUPS),
        {
            "spec.headGroupSpec.template": 1,
            "spec.workerGroupSpecs.0.template": 2,
            "spec.workerGroupSpecs.1.template": 1,
        },
    ),
    "ray-cluster-without-workers": Shape(
        _custom("ray.io/v1", "RayCluster", _ray_cluster()), {"spec.headGroupSpec.template": 1}
    ),
    "ray-cluster-of-several-hosts": Shape(
        _custom("ray.io/v1", "RayCluster", _ray_cluster({"replicas": 2, "numOfHosts": 2})),
        {"spec.headGroupSpec.template": 1, "spec.workerGroupSpecs.0.template": 4},
    ),
    "ray-job": Shape(
        _custom("ray.io/v1", "RayJob", {**_BY_OTHERS, "rayClusterSpec": TWO_GROUPS}),
        {
            "spec.rayClusterSpec.headGroupSpec.template": 1,
            "spec.rayClusterSpec.workerGroupSpecs.0.template": 2,
            "spec.rayClusterSpec.workerGroupSpecs.1.template": 1,
        },
    ),
    "declared": Shape(
        _custom("assay.dev/v1", "Gang", GANG),
        {"spec.leader": 1, "spec.groups.0.pods": 2, "spec.groups.1.pods": 1},
        [
            {"path": "template.spec.leader"},
            {"path": "template.spec.groups[0].pods", "replicas": 2},
            {"path": "template.spec.groups[1].pods", "replicas": 1},
        ],
    ),
}


@scenario(arms=["AW-020", "AW-101", "INV-9"], cases=SHAPES, only_simulated=WITHOUT_CONTROLLERS)
def pods_are_counted_and_labelled(world: World, shape: Shape) -> None:
    """Of each kind all its pods are expected, no more and no less, and each has the label."""
    aw = _submitted(world, shape)
    world.until(aw.is_in("Running"))
    paths = [path for path, count in shape.pods.items() for _ in range(count)]
    for number, path in enumerate(paths):
        world.wait(2 * SECOND)
        _make_pod(world, shape, path, number)
    world.until(aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)


@scenario(
    arms=["AW-031", "AW-041"],
    cases={name: SHAPES[name] for name in ("job-set", "ray-cluster-of-several-hosts", "declared")},
    only_simulated=WITHOUT_CONTROLLERS,
)
def last_pod_is_missing(world: World, shape: Shape) -> None:
    """Where one pod of all that a kind means never comes, the workload is reset."""
    aw = _submitted(world, shape, retryLimit=0)
    world.until(aw.is_in("Running"))
    paths = [path for path, count in shape.pods.items() for _ in range(count)]
    for number, path in enumerate(paths[:-1]):
        _make_pod(world, shape, path, number)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


def _submitted(world: World, shape: Shape, **parameters: Any) -> AppWrapper:
    world.install(CRDS)
    manifest = appwrapper(shape.template)
    if shape.pod_sets is not None:
        manifest["spec"]["components"][0]["podSets"] = shape.pod_sets
    return AppWrapper.submit(world, manifest, **parameters)


def _make_pod(world: World, shape: Shape, path: str, number: int) -> None:
    """Create a pod of the stored component, which makes it the pod's owner; none is created
    for a deleted component."""
    kind = kind_of(shape.template)
    owner = world.get(kind, name_of(shape.template))
    if owner is None:
        return
    template = get_path(owner, path)
    reference = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
    }
    metadata = {
        **template.get("metadata", {}),
        "name": f"{name_of(owner)}-{number}",
        "ownerReferences": [reference],
    }
    world.create({**template, "apiVersion": "v1", "kind": "Pod", "metadata": metadata}, "chaos")


@scenario(
    arms=["AW-020", "AW-101", "INV-9"],
    cases={
        "deployment": deployment({}),
        "stateful-set": stateful_set({}),
        "job": job({}),
        "job-of-few-completions": job({"parallelism": 3, "completions": 2}),
    },
)
def pods_are_counted_by_default(world: World, template: dict[str, Any]) -> None:
    """A component without a number of pods is expected to create one."""
    aw = AppWrapper.submit(world, appwrapper(template))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)


@scenario(arms=["AW-020", "AW-101", "INV-9"])
def declared_pod_sets_say_what_would_be_inferred(world: World) -> None:
    """Declaring the podSets of a known kind as they are makes no difference."""
    manifest = appwrapper(job({"parallelism": 2, "completions": 2}))
    manifest["spec"]["components"][0]["podSets"] = [
        {"path": "template.spec.template", "replicas": 2}
    ]
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)
