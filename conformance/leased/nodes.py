"""Existing nodes, leased for a run and restored afterwards.

Changes that a run and its faults make to a node (labels, taints, cordons, devices that it offers)
are reverted from two annotations of the node itself: its original state, and the changes written
since. Both are written in one patch with the changes they describe. So a killed harness leaves no
node that `assay clean` could not restore, and a node that Assay did not create is never deleted.
Other clients' changes stay: a drain that has begun, a taint for maintenance, a label of a device
plugin. Only devices are restored completely: a kubelet itself reports repeatedly which there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.left_behind import LeftBehindError
from vocabulary.objects import Object, annotations_of, get_path, labels_of, name_of

BEFORE: Final = "assay.dev/before"
"""Annotation: what the node was like before it was borrowed, as JSON."""
WROTE: Final = "assay.dev/wrote"
"""Annotation: what the run has written since, as JSON."""
_OFFERS: Final = ("capacity", "allocatable")


class NotAsWrittenError(LeftBehindError):
    """A node does not remember what it was like; the message says what to do."""


def borrowing(node: Object, mark: Mapping[str, str]) -> dict[str, Any]:
    """The merge patch that gives a node a run's labels; refused if it has changed meanwhile."""
    before = {
        "labels": labels_of(node),
        "taints": [dict(taint) for taint in get_path(node, "spec.taints") or ()],
        "unschedulable": bool(get_path(node, "spec.unschedulable", False)),
        **{part: _devices(node, part) for part in _OFFERS},
    }
    wrote: dict[str, Any] = {"labels": dict(mark), "taints": [], "unschedulable": None}
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "labels": dict(mark),
            "annotations": {BEFORE: _json(before), WROTE: _json(wrote)},
        }
    }


def noting(patch: Mapping[str, Any], node: Object) -> Mapping[str, Any]:
    """A run's merge patch of a node, with a note of what it changes if the node is borrowed."""
    if not is_borrowed(node):
        return patch
    wrote = _wrote(node)
    metadata = patch.get("metadata") or {}
    spec = patch.get("spec") or {}
    wrote["labels"].update(metadata.get("labels") or {})
    if "taints" in spec:
        now, then = _taints(node), _taints(patch)
        changed = {key for key in (*now, *then) if now.get(key) != then.get(key)}
        wrote["taints"] = sorted(changed.union(wrote["taints"]))
    if "unschedulable" in spec:
        wrote["unschedulable"] = bool(spec["unschedulable"])
    annotations = {**(metadata.get("annotations") or {}), WROTE: _json(wrote)}
    return {**patch, "metadata": {**metadata, "annotations": annotations}}


def offering(devices: Mapping[str, str]) -> dict[str, Any]:
    """The merge patch of a node's status that has it offer devices."""
    return {"status": {part: dict(devices) for part in _OFFERS}}


def is_borrowed(node: Object) -> bool:
    """True if the node was there before, and must be given back instead of deleted."""
    return BEFORE in annotations_of(node)


def status_before(node: Object) -> dict[str, Any]:
    """The merge patch of its status that takes back what devices it was made to offer."""
    before = _before(node)
    return {
        "status": {
            part: {**dict.fromkeys(_devices(node, part)), **before[part]} for part in _OFFERS
        }
    }


def as_before(node: Object) -> dict[str, Any]:
    """Return the merge patch that restores a node; it fails if the node has changed meanwhile.

    It reverts the run's writes, unless another client has written the same since.
    """
    before, wrote = _before(node), _wrote(node)
    labels = labels_of(node)
    now, then = _taints(node), {_identity(taint): taint for taint in before["taints"]}
    kept = [taint for key, taint in now.items() if key not in wrote["taints"]]
    taints = [then[key] for key in wrote["taints"] if key in then] + kept
    spec: dict[str, Any] = {"taints": taints or None}
    if bool(get_path(node, "spec.unschedulable", False)) == wrote["unschedulable"]:
        spec["unschedulable"] = before["unschedulable"] or None
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "labels": {
                key: before["labels"].get(key)
                for key, value in wrote["labels"].items()
                if labels.get(key) == value
            },
            "annotations": {BEFORE: None, WROTE: None},
        },
        "spec": spec,
    }


def _before(node: Object) -> dict[str, Any]:
    return _remembered(node, BEFORE, ("labels", "taints", "unschedulable", *_OFFERS))


def _wrote(node: Object) -> dict[str, Any]:
    return _remembered(node, WROTE, ("labels", "taints", "unschedulable"))


def _remembered(node: Object, annotation: str, names: Iterable[str]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(annotations_of(node)[annotation])
        return {name: found[name] for name in names}
    except (ValueError, TypeError, KeyError) as error:
        raise NotAsWrittenError(
            f"node {name_of(node)}: annotation {annotation} is not what Assay wrote ({error}); "
            f"put the node in order by hand, then take off the annotations {BEFORE} and {WROTE} "
            "and the label assay.dev/run"
        ) from error


def _taints(obj: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Taints by identity, in their order."""
    return {_identity(taint): taint for taint in get_path(obj, "spec.taints") or ()}


def _identity(taint: Mapping[str, Any]) -> str:
    return f"{taint['key']}:{taint['effect']}"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)


def _devices(node: Object, part: str) -> dict[str, str]:
    """Extended resources, by name: those of Kubernetes itself have no slash in theirs."""
    offered = get_path(node, f"status.{part}") or {}
    return {name: str(amount) for name, amount in offered.items() if "/" in name}
