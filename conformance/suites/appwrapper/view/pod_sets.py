"""The expected pods of an AppWrapper's components: their number and shape.

The number is the sum of the replicas of all podSets; where an AppWrapper declares none, it
is inferred from the wrapped kind, as the released API documents it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from vocabulary.kinds import kind_of
from vocabulary.objects import Object, meta

MAX_GENERATED: Final = 58
"""So much of a `generateName` the API server keeps, before the five characters that it adds."""


class PodSet(NamedTuple):
    """So many pods are made from the template at a path, which begins at the wrapped object."""

    path: str
    replicas: int
    pod_spec: Object


class Component(NamedTuple):
    """One entry of `spec.components`: the object that it wraps, and the pods it stands for."""

    position: int
    kind: str
    """`Kind.__str__` of the wrapped object."""
    name: str
    """Its name; empty where it has `generateName` instead."""
    generate_name: str
    template: Object
    replicas: tuple[int, ...]
    """How many pods each of its pod sets stands for."""
    pod_specs: tuple[Object, ...]
    """The pod specs inside the template, as the user wrote them."""

    @property
    def expected_pods(self) -> int:
        return sum(self.replicas)

    def makes(self, kind: str, name: str) -> bool:
        """True if an object of that kind and name can be an instance of this component."""
        if kind != self.kind:
            return False
        if self.name:
            return name == self.name
        return bool(self.generate_name) and name.startswith(self.generate_name[:MAX_GENERATED])

    def __str__(self) -> str:
        return f"{self.kind.partition('.')[0].lower()}/{self.name or self.generate_name + '…'}"


def components_of(entries: Any) -> tuple[Component, ...]:
    """The components of an AppWrapper, from the list that its spec holds."""
    return tuple(_component(position, entry) for position, entry in enumerate(entries or ()))


def _component(position: int, entry: Object) -> Component:
    template: Object = entry.get("template") or {}
    metadata = meta(template)
    inferred = tuple(inferred_pod_sets(template))
    declared = entry.get("podSets")
    return Component(
        position=position,
        kind=str(kind_of(template)),
        name=str(metadata.get("name", "")),
        generate_name="" if metadata.get("name") else str(metadata.get("generateName", "")),
        template=template,
        replicas=(
            tuple(_count(pod_set.get("replicas"), 1) for pod_set in declared)
            if declared
            else tuple(pod_set.replicas for pod_set in inferred)
        ),
        pod_specs=tuple(pod_set.pod_spec for pod_set in inferred),
    )


def inferred_pod_sets(template: Object) -> Iterator[PodSet]:
    """The pod sets that the wrapped kind implies."""
    spec: Object = template.get("spec") or {}
    match str(kind_of(template)):
        case "Pod":
            yield PodSet("template", 1, spec)
        case "Deployment.apps" | "StatefulSet.apps":
            yield _pod_set("template.spec", spec, _count(spec.get("replicas"), 1))
        case "Job.batch":
            yield _pod_set("template.spec", spec, job_pods(spec))
        case "JobSet.jobset.x-k8s.io":
            for index, job in enumerate(spec.get("replicatedJobs") or ()):
                job_spec: Object = (job.get("template") or {}).get("spec") or {}
                replicas = _count(job.get("replicas"), 1) * job_pods(job_spec)
                path = f"template.spec.replicatedJobs[{index}].template.spec"
                yield _pod_set(path, job_spec, replicas)
        case "PyTorchJob.kubeflow.org":
            for role, replica_spec in (spec.get("pytorchReplicaSpecs") or {}).items():
                replicas = _count(replica_spec.get("replicas"), 1)
                yield _pod_set(f"template.spec.pytorchReplicaSpecs.{role}", replica_spec, replicas)
        case "RayCluster.ray.io":
            yield from _ray_pod_sets("template.spec", spec)
        case "RayJob.ray.io":
            yield from _ray_pod_sets("template.spec.rayClusterSpec", spec.get("rayClusterSpec"))


def _ray_pod_sets(path: str, cluster: Any) -> Iterator[PodSet]:
    spec: Object = cluster or {}
    yield _pod_set(f"{path}.headGroupSpec", spec.get("headGroupSpec") or {}, 1)
    for index, group in enumerate(spec.get("workerGroupSpecs") or ()):
        replicas = _count(group.get("replicas"), 1) * _count(group.get("numOfHosts"), 1)
        yield _pod_set(f"{path}.workerGroupSpecs[{index}]", group, replicas)


def _pod_set(path: str, holder: Object, replicas: int) -> PodSet:
    """The pod set of what holds a pod template."""
    template: Object = holder.get("template") or {}
    return PodSet(f"{path}.template", replicas, template.get("spec") or {})


def job_pods(spec: Object) -> int:
    """How many pods of a Job are expected at a time: parallelism, or fewer completions."""
    parallelism = _count(spec.get("parallelism"), 1)
    return min(parallelism, _count(spec.get("completions"), parallelism))


def _count(value: Any, default: int) -> int:
    return default if value is None else int(value)
