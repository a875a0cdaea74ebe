"""The pod templates in a manifest: where they are, and how many pods are made from each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mlbatch_tools.problems import ToolError, objects_at
from vocabulary.objects import Object

INFERRED_BY_CONTROLLER: Final = {
    ("v1", "Pod"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    ("kubeflow.org/v1", "PyTorchJob"),
    ("ray.io/v1", "RayCluster"),
    ("ray.io/v1", "RayJob"),
}
"""The kinds whose podSets need not be declared."""
_COUNTS: Final = ("replicas", "parallelism")
_FIELD: Final = re.compile(r"[^.\[\]]+")


class PodSet(NamedTuple):
    """A pod template, by its path as AppWrappers write it, and its number of pods."""

    path: str
    replicas: int
    template: Object


def pod_sets_in(obj: Object) -> list[PodSet]:
    """Return the pod templates of an object. Raises ToolError if one cannot be declared."""
    return list(_within(obj, "template", 1))


def _within(value: Any, path: str, replicas: int) -> Iterator[PodSet]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _within(item, f"{path}[{index}]", replicas)
    if not isinstance(value, dict):
        return
    if isinstance(spec := value.get("spec"), dict) and "containers" in spec:
        objects_at(spec, "containers")
        yield PodSet(path, replicas, value)
        return
    for name in _COUNTS:
        replicas *= _count(value.get(name), f"{path}.{name}")
    for name, inner in value.items():
        for found in _within(inner, f"{path}.{name}", replicas):
            if not _FIELD.fullmatch(name):
                raise ToolError(
                    f"a pod template is below the field {name!r}, which no podSet's path can name"
                )
            yield found


def _count(value: Any, path: str) -> int:
    """A number of pods; 1 where none is written."""
    if value is None or isinstance(value, dict | list):
        return 1
    if type(value) is not int or value < 0:
        raise ToolError(f"{path.removeprefix('template.')} is {value!r}; write a whole number")
    return value
