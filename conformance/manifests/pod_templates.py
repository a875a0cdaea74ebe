"""The pods that a manifest will bring forth, however deep they are wrapped: what, how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from vocabulary.objects import Object, annotations_of, meta

BEHAVIOUR = "assay.dev/behaviour"
_COUNTS: Final = ("replicas", "parallelism", "completions")
"""The fields of kinds for their number of pods."""

Change = Callable[[Object], Mapping[str, Any]]


def map_pods(obj: Any, change: Change) -> Any:
    """The manifest with `change` applied to every pod and pod template in it.

    A pod (template) is a mapping whose `spec` has `containers`; that holds for bare pods and
    for the templates of Jobs, Deployments and PyTorchJobs, also where another object wraps them.
    """
    if isinstance(obj, dict):
        spec = obj.get("spec")
        if isinstance(spec, dict) and "containers" in spec:
            return change(obj)
        return {key: map_pods(value, change) for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return [map_pods(value, change) for value in obj]
    return obj


def with_replicas(obj: Any, most: int) -> Any:
    """The manifest with no workload in it having more than so many pods."""
    if isinstance(obj, dict):
        return {
            key: min(value, most)
            if key in _COUNTS and isinstance(value, int)
            else with_replicas(value, most)
            for key, value in obj.items()
        }
    if isinstance(obj, list | tuple):
        return [with_replicas(value, most) for value in obj]
    return obj


def most_replicas(obj: Any) -> int:
    """The most pods that any workload in the manifest says it has; 1 if none says."""
    if isinstance(obj, dict):
        said: list[int] = [obj[key] for key in _COUNTS if isinstance(obj.get(key), int)]
        return max([1, *said, *map(most_replicas, obj.values())])
    if isinstance(obj, list | tuple):
        return max(map(most_replicas, obj), default=1)
    return 1


def pods_of(obj: Any) -> int:
    """How many pods the manifest asks for, as far as its templates and their counts say.

    >>> pods_of({"spec": {"replicas": 3, "template": {"spec": {"containers": []}}}})
    3
    """
    if isinstance(obj, list | tuple):
        return sum(map(pods_of, obj))
    if not isinstance(obj, dict):
        return 0
    if "containers" in obj:
        return 1
    said: list[int] = [obj[key] for key in _COUNTS if isinstance(obj.get(key), int)]
    return max([1, *said]) * sum(map(pods_of, obj.values()))


def with_annotations(obj: Object, annotations: Mapping[str, str]) -> dict[str, Any]:
    """The object with these annotations added."""
    return {
        **obj,
        "metadata": {**meta(obj), "annotations": {**annotations_of(obj), **annotations}},
    }


def with_behaviour(manifest: Object, behaviour: str) -> dict[str, Any]:
    """Return the manifest with a behaviour for every pod in it, for example `run 5s, exit 1`."""
    changed: dict[str, Any] = map_pods(
        manifest, lambda pod: with_annotations(pod, {BEHAVIOUR: behaviour})
    )
    return changed
