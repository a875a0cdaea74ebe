"""Amounts of resources, as whole thousandths of a unit, and what pods ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from vocabulary.objects import Object
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


def requests_of(template: Object) -> dict[str, int]:
    """The requests of one pod of a template, as a scheduler counts them: its containers and
    sidecars side by side, its other init containers one after the other."""
    spec = template.get("spec") or {}
    running: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        asked = _requests(container)
        if container.get("restartPolicy") == "Always":
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
