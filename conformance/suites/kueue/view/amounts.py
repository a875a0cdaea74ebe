"""Amounts of resources, exact, and what pods ask for: read by checkers alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from vocabulary.objects import Object, get_path
from vocabulary.quantities import parse_quantity

Usage: TypeAlias = Mapping[str, Fraction]
"""Amounts by resource."""


def asked_by(
    pod: Object, count: int, limits: Iterable[Object], classes: Mapping[str, Object]
) -> Usage:
    """The requests of so many pods, with the defaults that `limits` of LimitRanges give their
    containers, and the overhead of their RuntimeClass."""
    items = [each for each in limits if each["type"] == "Container"]
    created = _as_created(pod, items, classes)
    return {name: value * count for name, value in of_pod(created).items()}


def _as_created(spec: Object, items: Iterable[Object], classes: Mapping[str, Object]) -> Object:
    class_ = classes.get(spec.get("runtimeClassName", ""), {})
    return {
        **spec,
        "initContainers": [_filled(each, items) for each in spec.get("initContainers") or ()],
        "containers": [_filled(each, items) for each in spec.get("containers") or ()],
        "overhead": spec.get("overhead") or get_path(class_, "overhead.podFixed"),
    }


def _filled(container: Object, items: Iterable[Object]) -> Object:
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for each in items:
        limits = {**(each.get("default") or {}), **limits}
        requests = {**(each.get("defaultRequest") or {}), **requests}
    return {**container, "resources": {"limits": limits, "requests": requests}}


def of_pod(spec: Object) -> Usage:
    """The requests of one pod, overhead included: at most those of the init container that runs
    with the sidecars started before it, or of all containers with all sidecars."""
    stages: list[Usage] = []
    sidecars: Usage = {}
    for container in spec.get("initContainers") or ():
        asked = _requests(container)
        if container.get("restartPolicy") == "Always":
            sidecars = sum_of((sidecars, asked))
            stages.append(sidecars)
        else:
            stages.append(sum_of((sidecars, asked)))
    stages.append(sum_of((sidecars, *map(_requests, spec.get("containers") or ()))))
    overhead = {name: parse_quantity(each) for name, each in (spec.get("overhead") or {}).items()}
    names = dict.fromkeys(name for stage in (*stages, overhead) for name in stage)
    return {
        name: max(stage.get(name, Fraction(0)) for stage in stages) + overhead.get(name, 0)
        for name in names
    }


def _requests(container: Object) -> dict[str, Fraction]:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: parse_quantity(each) for name, each in asked.items()}


def sum_of(usages: Iterable[Usage]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for usage in usages:
        for name, value in usage.items():
            total[name] = total.get(name, Fraction(0)) + value
    return total
