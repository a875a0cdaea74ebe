"""The Workload that stands for a job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from reference_controller.kueue.integrations import Integration
from reference_controller.kueue.integrations.templates import unplaced
from reference_controller.kueue.names import IN_USE, QUEUE, WORKLOAD
from reference_controller.kueue.workload import Workload
from vocabulary.objects import Object, labels_of


def new_workload(
    integration: Integration, job: Object, pod_sets: Sequence[Object], priority: Object
) -> Object:
    """The Workload of a job that has none."""
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.kind,
        "metadata": {**integration.head(job), "finalizers": [IN_USE]},
        "spec": {
            "queueName": labels_of(job).get(QUEUE, ""),
            "podSets": list(pod_sets),
            "active": True,
            **priority,
        },
    }


def same_shape(workload: Workload, integration: Integration, job: Object) -> bool:
    """True if a Workload stands for the job as it is now. An admission's own changes count for
    nothing."""
    if not integration.follows_changes:
        return True
    if not workload.has_quota and labels_of(job).get(QUEUE, "") != workload.queue.name:
        return False
    theirs, its = workload.pod_sets, integration.pod_sets(job)
    if not its:
        return True  # a cache that is behind shows it before its controller has said
    if integration.is_placed(job):
        return _unplaced(theirs) == _unplaced(its)
    return _parts(theirs) == _parts(its)


def _parts(pod_sets: Iterable[Object]) -> list[tuple[Any, ...]]:
    return [(each["name"], each.get("count", 1), each["template"]) for each in pod_sets]


def _unplaced(pod_sets: Iterable[Object]) -> list[tuple[Any, ...]]:
    return [(name, count, unplaced(template)) for name, count, template in _parts(pod_sets)]
