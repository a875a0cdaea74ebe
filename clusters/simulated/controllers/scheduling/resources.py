"""Effective resource requests of pods, in whole units.

CPU counts in thousandths, everything else in its own unit; sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from clusters.simulated.pod_resources import add, of_containers
from vocabulary.objects import Object
from vocabulary.quantities import parse_quantity

Amounts: TypeAlias = dict[str, int]


@lru_cache(maxsize=4096)
def amount(resource: str, quantity: str | int | float) -> int:
    """A quantity in whole units, rounded up."""
    value = parse_quantity(quantity)
    return math.ceil(value * 1000 if resource == "cpu" else value)


def amounts(quantities: Mapping[str, str | int | float]) -> Amounts:
    """A resource list in whole units."""
    return {name: amount(name, quantity) for name, quantity in quantities.items()}


def pod_requests(spec: Object) -> Amounts:
    """A pod's request: that of its containers, plus overhead."""
    total = of_containers(spec, _asked)
    add(total, amounts(spec.get("overhead") or {}))
    return total


def _asked(container: Object) -> Amounts:
    resources = container.get("resources")
    if not resources:
        return {}
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})
