"""The priority of a job, from its WorkloadPriorityClass or its pods' PriorityClass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reference_controller.kueue.names import PRIORITY, PRIORITY_CLASS
from reference_controller.shared.reading import Reading
from vocabulary import kinds
from vocabulary.objects import Object, get_path, labels_of, name_of
from vocabulary.requests import Get, List, ObjectList

_OF_WORKLOADS: Final = "kueue.x-k8s.io/workloadpriorityclass"
_OF_PODS: Final = "scheduling.k8s.io/priorityclass"


def priority_of(job: Object, pod_sets: Sequence[Object]) -> Reading[Object]:
    """The fields of a Workload's spec that give its priority.

    A class that does not exist is an ApiError: the job waits for it.
    """
    name = labels_of(job).get(PRIORITY, "")
    if name:
        found: Object = yield Get(PRIORITY_CLASS, "", name)
        return _fields(found, _OF_WORKLOADS)
    names = (get_path(each, "template.spec.priorityClassName") for each in pod_sets)
    name = next((each for each in names if each), "")
    if name:
        found = yield Get(kinds.PRIORITY_CLASS, "", name)
        return _fields(found, _OF_PODS)
    known: ObjectList = yield List(kinds.PRIORITY_CLASS)
    default = next((each for each in known.items if each.get("globalDefault")), None)
    return {"priority": 0} if default is None else _fields(default, _OF_PODS)


def _fields(found: Object, source: str) -> Object:
    return {
        "priority": int(found.get("value", 0)),
        "priorityClassName": name_of(found),
        "priorityClassSource": source,
    }
