"""Pod templates: what an admission adds to them, and takes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference_controller.kueue.integrations import PodSetInfo
from reference_controller.kueue.names import OF_WORKLOAD
from vocabulary.objects import Object, labels_of, meta


def bare(template: Object) -> Object:
    """The template without what an API server adds, or leaves of what was taken back."""
    empty = ("labels", "nodeSelector", "tolerations")
    metadata, spec = (
        {
            key: each
            for key, each in part.items()
            if key != "creationTimestamp" and (each or key not in empty)
        }
        for part in (meta(template), template["spec"])
    )
    return {**template, "metadata": metadata, "spec": spec}


def is_placed(template: Object) -> bool:
    """True if an admission has changed it."""
    return OF_WORKLOAD in labels_of(template)


def placed(template: Object, info: PodSetInfo) -> Object:
    """The template of an admitted pod set."""
    metadata, spec = dict(meta(template)), dict(template["spec"])
    metadata["labels"] = {**(metadata.get("labels") or {}), **info.labels}
    if info.node_selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **info.node_selector}
    if info.tolerations:
        spec["tolerations"] = [*(spec.get("tolerations") or ()), *info.tolerations]
    return {**template, "metadata": metadata, "spec": spec}


def with_placement_of(standing: Object, wanted: Object) -> Object:
    """The template as it stands, placed as another one is."""
    metadata, spec = dict(meta(standing)), dict(standing["spec"])
    _take(metadata, meta(wanted), "labels")
    for field in ("nodeSelector", "tolerations"):
        _take(spec, wanted["spec"], field)
    return {**standing, "metadata": metadata, "spec": spec}


def placement_patch(standing: Object, wanted: Object) -> Object:
    """The merge patch that places a template as another one is."""
    now, then = standing["spec"], wanted["spec"]
    return {
        "metadata": {"labels": _map_patch(meta(standing), meta(wanted), "labels")},
        "spec": {
            "nodeSelector": _map_patch(now, then, "nodeSelector") or None,
            "tolerations": then.get("tolerations"),
        },
    }


def unplaced(template: Object) -> Object:
    """The template without the fields that an admission may change."""
    metadata = {key: each for key, each in meta(template).items() if key != "labels"}
    placement = ("nodeSelector", "tolerations")
    spec = {key: each for key, each in template["spec"].items() if key not in placement}
    return {**template, "metadata": metadata, "spec": spec}


def _take(into: dict[str, Any], of: Mapping[str, Any], field: str) -> None:
    into.pop(field, None)
    if of.get(field):
        into[field] = of[field]


def _map_patch(now: Mapping[str, Any], then: Mapping[str, Any], field: str) -> dict[str, Any]:
    before, after = now.get(field) or {}, then.get(field) or {}
    return {**{key: None for key in before if key not in after}, **after}
