"""The resources of a pod as a whole, added up as the API defines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, Self, TypeVar

from clusters.simulated.builtin.quantities import Quantity, quantities_of
from vocabulary.objects import Object


class Addable(Protocol):
    """An amount of a resource."""

    def __add__(self, other: Self, /) -> Self: ...

    def __lt__(self, other: Self, /) -> bool: ...


Amount = TypeVar("Amount", bound=Addable)


def of_containers(
    spec: Object, resources: Callable[[Object], Mapping[str, Amount]]
) -> dict[str, Amount]:
    """The containers' resources together, or those of the largest init container.

    Sidecars (init containers that restart always) run beside the others and are added up.
    """
    total: dict[str, Amount] = {}
    for container in spec.get("containers") or ():
        add(total, resources(container))
    inits = spec.get("initContainers")
    if inits:
        sidecars: dict[str, Amount] = {}
        peak: dict[str, Amount] = {}
        for container in inits:
            amounts = resources(container)
            if container.get("restartPolicy") == "Always":
                add(total, amounts)
                add(sidecars, amounts)
                _raise(peak, sidecars)
            else:
                alone = dict(sidecars)
                add(alone, amounts)
                _raise(peak, alone)
        _raise(total, peak)
    return total


def quantities_of_containers(
    spec: Object, field: Literal["requests", "limits"]
) -> dict[str, Quantity]:
    """The containers' requests or limits, as quantities."""
    return of_containers(
        spec, lambda container: quantities_of((container.get("resources") or {}).get(field) or {})
    )


def add(total: dict[str, Amount], amounts: Mapping[str, Amount]) -> None:
    """Add amounts to a total, resource by resource."""
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def _raise(total: dict[str, Amount], least: Mapping[str, Amount]) -> None:
    for name, amount in least.items():
        if name not in total or total[name] < amount:
            total[name] = amount
