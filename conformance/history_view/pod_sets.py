"""What the components of an AppWrapper are expected to make: how many pods, of what shape.

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


class Component(NamedTuple):
    """One entry of `spec.components`: the object that it wraps, and the pods it stands for."""

    position: int
    kind: str
    """`Kind.__str__` of the wrapped object."""
    name: str
    """Its name; empty where it has `generateName` instead."""
    generate_name: str
    template: Object
    expected_pods: int
    pod_specs: tuple[Object, ...]
    """The pod specs inside the template, as the user wrote them."""

    def makes(self, kind: str, name: str) -> bool:
        """Whether an object of that kind and name can be an instance of this component."""
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
    inferred = tuple(_pod_templates(template))
    declared = entry.get("podSets")
    if declared:
        expected = sum(_count(pod_set.get("replicas"), 1) for pod_set in declared)
    else:
        expected = sum(replicas for replicas, _ in inferred)
    return Component(
        position=position,
        kind=str(kind_of(template)),
        name=str(metadata.get("name", "")),
        generate_name="" if metadata.get("name") else str(metadata.get("generateName", "")),
        template=template,
        expected_pods=expected,
        pod_specs=tuple(spec for _, spec in inferred),
    )


def _pod_templates(template: Object) -> Iterator[tuple[int, Object]]:
    """(replicas, pod spec) of each podSet that the wrapped kind implies."""
    spec: Object = template.get("spec") or {}
    match str(kind_of(template)):
        case "Pod":
            yield 1, spec
        case "Deployment.apps" | "StatefulSet.apps":
            yield _count(spec.get("replicas"), 1), _pod_spec(spec)
        case "Job.batch":
            yield job_pods(spec), _pod_spec(spec)
        case "JobSet.jobset.x-k8s.io":
            for job in spec.get("replicatedJobs") or ():
                job_spec: Object = (job.get("template") or {}).get("spec") or {}
                replicas = _count(job.get("replicas"), 1)
                yield replicas * job_pods(job_spec), _pod_spec(job_spec)
        case "PyTorchJob.kubeflow.org":
            for replica_spec in (spec.get("pytorchReplicaSpecs") or {}).values():
                yield _count(replica_spec.get("replicas"), 1), _pod_spec(replica_spec)
        case "RayCluster.ray.io":
            yield from _ray_pods(spec)
        case "RayJob.ray.io":
            yield from _ray_pods(spec.get("rayClusterSpec") or {})


def _ray_pods(spec: Object) -> Iterator[tuple[int, Object]]:
    yield 1, _pod_spec(spec.get("headGroupSpec") or {})
    for group in spec.get("workerGroupSpecs") or ():
        yield _count(group.get("replicas"), 1), _pod_spec(group)


def job_pods(spec: Object) -> int:
    """How many pods of a Job are expected at a time: parallelism, or fewer completions."""
    parallelism = _count(spec.get("parallelism"), 1)
    return min(parallelism, _count(spec.get("completions"), parallelism))


def _pod_spec(holder: Object) -> Object:
    spec: Object = (holder.get("template") or {}).get("spec") or {}
    return spec


def _count(value: Any, default: int) -> int:
    return default if value is None else int(value)
