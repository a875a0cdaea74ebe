"""Amounts of resources, exact, and what pods ask for: read by checkers alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from vocabulary.objects import Object
from vocabulary.quantities import parse_quantity

Usage: TypeAlias = Mapping[str, Fraction]
"""Amounts by resource."""


def asked_by(pod_sets: Iterable[Object]) -> Usage:
    """The requests of the pods of all pod sets."""
    total: dict[str, Fraction] = {}
    for each in pod_sets:
        for name, value in of_pod(each["template"].get("spec") or {}).items():
            total[name] = total.get(name, Fraction(0)) + value * int(each.get("count", 1))
    return total


def of_pod(spec: Object) -> Usage:
    """The requests of one pod, overhead included: at most those of the init container that runs
    with the sidecars started before it, or of all containers with all sidecars."""
    stages: list[dict[str, Fraction]] = []
    sidecars: dict[str, Fraction] = {}
    for container in spec.get("initContainers") or ():
        asked = _requests(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum(sidecars, asked)
            stages.append(sidecars)
        else:
            stages.append(_sum(sidecars, asked))
    stages.append(_sum(sidecars, *map(_requests, spec.get("containers") or ())))
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


def _sum(*usages: Usage) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for usage in usages:
        for name, value in usage.items():
            total[name] = total.get(name, Fraction(0)) + value
    return total
