"""Findings about single Workloads of teams, and about pods that use GPUs past the queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from mlbatch_tools.cluster_checker.cluster import Cluster, effects_on
from mlbatch_tools.cluster_checker.finding import Condition, Finding
from mlbatch_tools.problems import (
    amount_in,
    conditions_of,
    described,
    object_at,
    objects_at,
    reading,
    text_at,
)
from mlbatch_tools.resources import GDR, GPU, NODE_SHAPE, share
from vocabulary.objects import Object, name_of, namespace_of

USUAL_PRIORITY: Final = "default-priority"
DEFAULT_SCHEDULER: Final = "default-scheduler"
_SKIPPED: Final = "openshift-"
"""Namespaces whose names begin so are the platform's own."""


def findings_of_namespaces(cluster: Cluster) -> Iterator[Finding]:
    """Findings about Workloads, and about pods that use GPUs, by name."""
    queues: defaultdict[str, set[str]] = defaultdict(set)
    for queue in cluster.of("LocalQueue"):
        queues[namespace_of(queue)].add(name_of(queue))
    for workload in _checked(cluster.of("Workload")):
        with reading(workload):
            yield from list(_of_workload(workload, queues.get(namespace_of(workload), set())))
    for pod in _checked(cluster.of("Pod")):
        with reading(pod):
            yield from list(_of_pod(pod, namespace_of(pod) in queues, cluster))


def _checked(objects: Iterable[Object]) -> list[Object]:
    return sorted(
        (each for each in objects if not namespace_of(each).startswith(_SKIPPED)), key=described
    )


def _of_workload(workload: Object, queues: set[str]) -> Iterator[Finding]:
    subject = described(workload)
    yield from _of_queue(workload, queues, subject)
    yield from _of_priority(workload, subject)
    conditions = conditions_of(workload)
    if conditions.get("Finished") != "True":
        yield from _of_conditions(conditions, subject)
    pod_sets = objects_at(workload, "spec.podSets")
    pods = sum(int(amount_in(each, "count", "spec.podSets")) for each in pod_sets)
    for pod_set in pod_sets:
        for container in _containers(object_at(pod_set, "template.spec")):
            yield from _of_container(container, pods, subject)


def _of_queue(workload: Object, queues: set[str], subject: str) -> Iterator[Finding]:
    name = text_at(workload, "spec.queueName")
    if not name:
        yield Finding(
            Condition.NO_QUEUE_NAME,
            subject,
            "names no local queue, so it will never be admitted; label its owner with "
            "kueue.x-k8s.io/queue-name",
        )
    elif name not in queues:
        there = ", ".join(sorted(queues)) or "none"
        yield Finding(
            Condition.UNKNOWN_QUEUE,
            subject,
            f"its local queue {name!r} does not exist; the namespace has: {there}",
        )


def _of_priority(workload: Object, subject: str) -> Iterator[Finding]:
    newer, older = "spec.priorityClassRef.name", "spec.priorityClassName"
    name = text_at(workload, newer) or text_at(workload, older)
    if name != USUAL_PRIORITY:
        has = f"priority class {name!r}" if name else "no priority class"
        yield Finding(Condition.OTHER_PRIORITY, subject, f"has {has}, not {USUAL_PRIORITY}")


def _of_conditions(conditions: Mapping[str, str], subject: str) -> Iterator[Finding]:
    if (conditions.get("Admitted"), conditions.get("PodsReady")) == ("True", "False"):
        yield Finding(
            Condition.PODS_NOT_READY,
            subject,
            "is admitted, but its pods are not ready; kubectl describe shows why they wait",
        )
    if conditions.get("Evicted") == "True":
        yield Finding(
            Condition.EVICTED, subject, "was evicted; its condition Evicted has the reason"
        )


def _of_container(container: Object, pods: int, subject: str) -> Iterator[Finding]:
    asked = _asked_by(container)
    name = f"container {container.get('name', '')!r}"
    for resource, most in NODE_SHAPE.items():
        if asked[resource] > most:
            yield Finding(
                Condition.BEYOND_NODE,
                subject,
                f"{name} requests {_shown(resource, asked[resource])}, but a node has "
                f"{_shown(resource, most)}: it can run on none",
            )
    yield from _of_proportion(asked, name, subject)
    if asked[GDR] > 0 and pods < 2:
        yield Finding(
            Condition.GDR_ON_SINGLE_POD,
            subject,
            f"{name} requests {_shown(GDR, asked[GDR])}, which one pod alone has no use for",
        )


def _of_proportion(asked: dict[str, Fraction], name: str, subject: str) -> Iterator[Finding]:
    """Findings if a container takes more of a node with it than its share of the GPUs."""
    for resource in (GDR, "cpu", "memory"):
        most = share(resource, asked[GPU])
        # CPU-only containers are usual; network interfaces without a GPU have no use.
        if (asked[GPU] or resource == GDR) and asked[resource] > most:
            yield Finding(
                Condition.OUT_OF_PROPORTION,
                subject,
                f"{name} requests {_shown(resource, asked[resource])} with "
                f"{_shown(GPU, asked[GPU])}; the share of that is "
                f"{_shown(resource, most)}, and other GPUs of the node may stay idle",
            )


def _of_pod(pod: Object, has_queues: bool, cluster: Cluster) -> Iterator[Finding]:
    count = _gpus_of_pod(pod)
    if not count or text_at(pod, "status.phase") in ("Succeeded", "Failed"):
        return
    subject = described(pod)
    node = text_at(pod, "spec.nodeName")
    if (text_at(pod, "spec.schedulerName") or DEFAULT_SCHEDULER) == DEFAULT_SCHEDULER:
        yield Finding(
            Condition.DEFAULT_SCHEDULER,
            subject,
            f"uses {_shown(GPU, count)}, but {DEFAULT_SCHEDULER} places it, which neither packs "
            "GPUs nor starts gangs together; set spec.schedulerName",
        )
    if node and not has_queues:
        yield Finding(
            Condition.GPUS_OUTSIDE_QUEUES,
            subject,
            f"occupies {_shown(GPU, count)} of node {node!r}{_marks_of(node, cluster)}, in a "
            "namespace without a local queue: no quota accounts for them",
        )


def _marks_of(node: str, cluster: Cluster) -> str:
    """A node's taints and Autopilot's marks, as a clause."""
    found = [each for each in cluster.of("Node") if name_of(each) == node]
    effects = {effect for each in found for effect in effects_on(each, cluster.marks)}
    words = [word for word in ("NoExecute", "NoSchedule") if word in effects]
    return f" (marked {', '.join(words)})" if words else ""


def _gpus_of_pod(pod: Object) -> Fraction:
    """The GPUs that the pod takes: those of all containers, or of its largest init container."""
    spec = object_at(pod, "spec")
    together = sum((_asked_by(each)[GPU] for each in objects_at(spec, "containers")), Fraction())
    first = [_asked_by(each)[GPU] for each in objects_at(spec, "initContainers")]
    return max([together, *first])


def _containers(pod_spec: Object) -> list[Object]:
    return [*objects_at(pod_spec, "initContainers"), *objects_at(pod_spec, "containers")]


def _asked_by(container: Object) -> dict[str, Fraction]:
    """A container's requests of the resources in NODE_SHAPE; a limit is a request, too."""
    limits, requests = (
        object_at(container, f"resources.{each}") for each in ("limits", "requests")
    )
    both = {**limits, **requests}
    return {resource: amount_in(both, resource, "resources") for resource in NODE_SHAPE}


def _shown(resource: str, amount: Fraction) -> str:
    """An amount of a resource as text: `8 GPUs`, `1100Gi of memory`."""
    if resource == "memory":
        return f"{float(amount / 2**30):.6g}Gi of memory"
    number = f"{float(amount):.6g}"
    noun = {GPU: "GPU", GDR: "roce_gdr interface", "cpu": "CPU"}[resource]
    return f"{number} {noun}" if amount == 1 else f"{number} {noun}s"
