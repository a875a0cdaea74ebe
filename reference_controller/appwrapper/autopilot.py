"""Autopilot's marks on nodes: which resources they spoil, and the affinity that avoids them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reference_controller.appwrapper.config import Autopilot, Taint
from vocabulary.objects import Object, containers, get_path, labels_of
from vocabulary.quantities import parse_quantity

AVOIDED_EFFECTS = ("NoSchedule", "NoExecute")
"""Effects whose values a new pod must not meet."""


def requests_resource(pod_spec: Object, resource: str) -> bool:
    """True if any container of the pod, init containers included, requests some of the resource."""
    return any(_asks(container, resource) for container in containers(pod_spec))


def runs_with_resource(pod_spec: Object, resource: str) -> bool:
    """True if a container that runs as long as the pod does requests some of the resource."""
    return any(
        _asks(container, resource)
        for container in containers(pod_spec)
        if container.get("restartPolicy") == "Always"
        or container in (pod_spec.get("containers") or ())
    )


def _asks(container: Object, resource: str) -> bool:
    """A limit without a request is a request: that is how the API server defaults it."""
    resources = container.get("resources") or {}
    for field in ("requests", "limits"):
        quantity = (resources.get(field) or {}).get(resource)
        if quantity is not None and parse_quantity(quantity) != 0:
            return True
    return False


def marked_resources(node: Object, config: Autopilot, effects: tuple[str, ...]) -> frozenset[str]:
    """The resources of a node that carry a mark with such an effect.

    `config.source` says where marks are read: labels, real taints, or both.
    """
    return frozenset(
        resource
        for resource, taints in config.resource_taints.items()
        if any(
            taint.effect in effects and _is_marked(node, taint, config.source) for taint in taints
        )
    )


def _is_marked(node: Object, taint: Taint, source: str) -> bool:
    if source != "taints" and labels_of(node).get(taint.key) == taint.value:
        return True
    return source != "labels" and any(
        entry.get("key") == taint.key
        and entry.get("value", "") == taint.value
        and entry.get("effect") == taint.effect
        for entry in get_path(node, "spec.taints") or ()
    )


def expressions(taints: Iterable[Taint], effects: tuple[str, ...]) -> list[dict[str, Any]]:
    """One `NotIn` expression per key, over the values that have one of the effects."""
    values: dict[str, list[str]] = {}
    for taint in taints:
        if taint.effect in effects:
            listed = values.setdefault(taint.key, [])
            if taint.value not in listed:
                listed.append(taint.value)
    return [{"key": key, "operator": "NotIn", "values": listed} for key, listed in values.items()]


def with_anti_affinity(
    pod_spec: Object, required: list[dict[str, Any]], preferred: list[dict[str, Any]], weight: int
) -> Object:
    """The pod spec with the expressions added to whatever node affinity it has.

    Node selector terms are alternatives, so what is required has to go into each of them.
    """
    affinity = dict(pod_spec.get("affinity") or {})
    node_affinity = dict(affinity.get("nodeAffinity") or {})
    if required:
        field = "requiredDuringSchedulingIgnoredDuringExecution"
        selector = dict(node_affinity.get(field) or {})
        terms: list[Object] = list(selector.get("nodeSelectorTerms") or ({},))
        selector["nodeSelectorTerms"] = [
            {**term, "matchExpressions": _joined(term.get("matchExpressions") or (), required)}
            for term in terms
        ]
        node_affinity[field] = selector
    if preferred:
        field = "preferredDuringSchedulingIgnoredDuringExecution"
        node_affinity[field] = [
            *(node_affinity.get(field) or ()),
            {"weight": weight, "preference": {"matchExpressions": preferred}},
        ]
    affinity["nodeAffinity"] = node_affinity
    return {**pod_spec, "affinity": affinity}


def _joined(standing: Iterable[Any], added: list[dict[str, Any]]) -> list[Any]:
    joined = list(standing)
    return joined + [expression for expression in added if expression not in joined]


def wanted_resources(pod_spec: Object, resources: Mapping[str, Any]) -> Iterator[str]:
    """Those of the resources that the pod asks for."""
    return (resource for resource in resources if requests_resource(pod_spec, resource))
