"""Somebody else's nodes, borrowed for a run, and given back as they were.

Whatever a run and its faults do to a node (labels, taints, cordons, devices that it offers) is
undone by what one annotation of the node itself remembers. It is written together with the
run's label, in one patch. So a harness that is killed leaves no node of which `assay clean`
would not know what it was like, and a node that Assay did not make is never deleted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from vocabulary.objects import Object, annotations_of, get_path, labels_of, name_of

BEFORE: Final = "assay.dev/before"
"""Annotation: what the node was like before it was borrowed, as JSON."""
_OFFERS: Final = ("capacity", "allocatable")
_KUBERNETES_OWN: Final = ("kubernetes.io", "k8s.io")
"""Taints and labels of these domains tell what the cluster's controllers know of a node just
now: those that have come meanwhile stay."""


class NotAsWrittenError(Exception):
    """A node does not remember what it was like; the message says what to do."""


def borrowing(node: Object, mark: Mapping[str, str]) -> dict[str, Any]:
    """The merge patch that gives a node a run's labels; refused if it has changed meanwhile."""
    before = {
        "labels": labels_of(node),
        "taints": [dict(taint) for taint in get_path(node, "spec.taints") or ()],
        "unschedulable": bool(get_path(node, "spec.unschedulable", False)),
        **{part: _devices(node, part) for part in _OFFERS},
    }
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "labels": dict(mark),
            "annotations": {BEFORE: json.dumps(before, sort_keys=True)},
        }
    }


def offering(devices: Mapping[str, str]) -> dict[str, Any]:
    """The merge patch of a node's status that has it offer devices."""
    return {"status": {part: dict(devices) for part in _OFFERS}}


def is_borrowed(node: Object) -> bool:
    """Whether the node was there before, and must be given back instead of deleted."""
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
    """The merge patch that gives a node back; refused if the node has changed meanwhile."""
    before = _before(node)
    now = get_path(node, "spec.taints") or ()
    kept = [taint for taint in now if _is_kubernetes_own(taint["key"])]
    taints = [*(each for each in before["taints"] if not _is_kubernetes_own(each["key"])), *kept]
    set_since = [key for key in labels_of(node) if not _is_kubernetes_own(key)]
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "labels": {**dict.fromkeys(set_since), **before["labels"]},
            "annotations": {BEFORE: None},
        },
        "spec": {"taints": taints or None, "unschedulable": before["unschedulable"] or None},
    }


def _before(node: Object) -> dict[str, Any]:
    try:
        before: dict[str, Any] = json.loads(annotations_of(node)[BEFORE])
        return {name: before[name] for name in ("labels", "taints", "unschedulable", *_OFFERS)}
    except (ValueError, TypeError, KeyError) as error:
        raise NotAsWrittenError(
            f"node {name_of(node)}: annotation {BEFORE} is not what Assay wrote ({error}); "
            f"put the node in order by hand, then take off that annotation and label assay.dev/run"
        ) from error


def _devices(node: Object, part: str) -> dict[str, str]:
    """Extended resources, by name: those of Kubernetes itself have no slash in theirs."""
    offered = get_path(node, f"status.{part}") or {}
    return {name: str(amount) for name, amount in offered.items() if "/" in name}


def _is_kubernetes_own(key: str) -> bool:
    domain, slash, _ = key.partition("/")
    return bool(slash) and domain.endswith(_KUBERNETES_OWN)
