"""Amounts of resources, as whole thousandths of a unit, and what pods ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from vocabulary.objects import Object, get_path, name_of, namespace_of
from vocabulary.quantities import parse_quantity

_THOUSANDTHS: Final = 1000


class FlavorResource(NamedTuple):
    """A resource of a flavor: what quota is counted by."""

    flavor: str
    resource: str


@lru_cache(maxsize=4096)
def amount(quantity: str | int) -> int:
    """A quantity in thousandths of its unit, rounded up."""
    return math.ceil(parse_quantity(quantity) * _THOUSANDTHS)


def quantity(thousandths: int) -> str:
    """An amount as a quantity."""
    whole, rest = divmod(thousandths, _THOUSANDTHS)
    return str(whole) if not rest else f"{thousandths}m"


class Additions(NamedTuple):
    """The objects by which the API server adds to the resources of pods."""

    limit_ranges: Sequence[Object] = ()
    runtime_classes: Sequence[Object] = ()

    def added_to(self, template: Object, namespace: str) -> Object:
        """The template with its RuntimeClass's overhead and the defaults of its namespace."""
        items = [
            item
            for each in self.limit_ranges
            if namespace_of(each) == namespace
            for item in get_path(each, "spec.limits") or ()
            if item["type"] == "Container"
        ]
        pod = template.get("spec") or {}
        class_name = pod.get("runtimeClassName")
        if not items and not class_name:
            return template
        spec = dict(pod)
        for field in ("initContainers", "containers"):
            spec[field] = [_with_defaults(each, items) for each in spec.get(field) or ()]
        if class_name and not spec.get("overhead"):
            found = (each for each in self.runtime_classes if name_of(each) == class_name)
            spec["overhead"] = get_path(next(found, {}), "overhead.podFixed")
        return {**template, "spec": spec}


def _with_defaults(container: Object, items: Iterable[Object]) -> Object:
    resources = dict(container.get("resources") or {})
    for item in items:
        for field, default in (("limits", "default"), ("requests", "defaultRequest")):
            resources[field] = {**(item.get(default) or {}), **(resources.get(field) or {})}
    return {**container, "resources": resources}


def requests_of(template: Object, is_sidecar: Callable[[Object], bool]) -> dict[str, int]:
    """The requests of one pod of a template, as a scheduler counts them: its containers and
    sidecars side by side, its other init containers one after the other."""
    spec = template.get("spec") or {}
    running: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        asked = _requests(container)
        if is_sidecar(container):
            _add(running, asked)
            _raise(most, running)
        else:
            _raise(most, {**running, **_sum(running, asked)})
    _add(running, *map(_requests, spec.get("containers") or ()))
    _raise(running, most)
    _add(running, {name: amount(value) for name, value in (spec.get("overhead") or {}).items()})
    return running


def _requests(container: Object) -> dict[str, int]:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: amount(value) for name, value in asked.items()}


def _add(total: dict[str, int], *others: Mapping[str, int]) -> None:
    for other in others:
        for name, value in other.items():
            total[name] = total.get(name, 0) + value


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + value for name, value in other.items()}


def _raise(total: dict[str, int], least: Mapping[str, int]) -> None:
    for name, value in least.items():
        total[name] = max(total.get(name, 0), value)


def added(usages: Iterable[Mapping[FlavorResource, int]]) -> dict[FlavorResource, int]:
    """The sum of several usages."""
    total: dict[FlavorResource, int] = {}
    for usage in usages:
        for what, value in usage.items():
            total[what] = total.get(what, 0) + value
    return total
