"""Steps of a user with objects of which nothing is known but their manifests."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import dropwhile
from typing import Any, Final

from conformance.manifests.files import STAYS_FOR
from conformance.world import NotReachedError, World
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.durations import parse_span
from vocabulary.history import Write
from vocabulary.kinds import Kind, kind_of
from vocabulary.objects import Object, annotations_of, name_of
from vocabulary.requests import PropagationPolicy

CREATED: Final = "operator/workload/created"
"""The scenario whose undisturbed run all others are compared with."""
IN_VIRTUAL_TIME: Final = "is of any operator, whose runs assay explore makes in virtual time"
LOOK_US: Final = 20 * MILLISECOND
_NO_NAMES: Final = frozenset(("apiVersion", "kind", "namespace", "image"))
"""Fields whose values are no names of the workload's objects, also where they equal one."""
AT_REST_US: Final = 10 * SECOND
"""A plan's faults that strike at rest do so within this time."""


def create_all(world: World) -> None:
    """Create the workload, in the order of its file."""
    if not world.scenario.manifests:
        raise NotReachedError(
            "a workload: this scenario is of any operator; make its runs with "
            "assay explore NAME --workload FILE"
        )
    for manifest in world.scenario.manifests:
        world.create(manifest)


def rest_and_stay(world: World) -> None:
    """Come to rest, then leave a plan's faults and the operator's timers the time that they have,
    and come to rest again."""
    world.rest()
    asked = (annotations_of(each).get(STAYS_FOR, "0") for each in world.scenario.manifests)
    world.wait(max(AT_REST_US, *map(parse_span, asked)))
    world.rest()


def objects(world: World) -> list[tuple[Kind, Object]]:
    """The manifests, each with its kind as it is served."""
    return [(world.served(kind_of(each)), each) for each in world.scenario.manifests]


def names_of_workload(world: World) -> set[str]:
    """The names of the workload's objects, and of those that have come to be since the first one: a
    field may give the operator a name for its own, such as `spec.secretName`."""
    names = {name_of(manifest) for manifest in world.scenario.manifests}
    _, entries = world.history()
    created = (e.name for e in entries if isinstance(e, Write) and e.event == "ADDED")
    return names.union(dropwhile(lambda name: name not in names, created))


def renamed(value: Any, names: set[str], suffix: str) -> Any:
    """A manifest with a suffix to these names, wherever one stands by itself and may be the name
    of an object of the workload."""
    if isinstance(value, Mapping):
        return {
            key: below if key in _NO_NAMES else renamed(below, names, suffix)
            for key, below in value.items()
        }
    if isinstance(value, list | tuple):
        return [renamed(below, names, suffix) for below in value]
    return f"{value}-{suffix}" if isinstance(value, str) and value in names else value


def delete_all(world: World, policy: PropagationPolicy = "Background") -> None:
    """Delete the workload, the last object of its file first; by default as kubectl does."""
    for kind, manifest in reversed(objects(world)):
        if world.get(kind, name_of(manifest)) is not None:
            world.delete(kind, name_of(manifest), propagation_policy=policy)


def create_again(world: World) -> None:
    """Delete the workload, and create each object as soon as its name is free."""
    delete_all(world)
    for kind, manifest in objects(world):
        await_gone(world, kind, name_of(manifest))
        world.create(manifest)


def await_gone(world: World, kind: Kind, name: str) -> None:
    """Wait until a deleted object's name is free."""
    waited_us = 0
    while world.get(kind, name) is not None:
        if waited_us > world.patience_us:
            raise NotReachedError(f"the end of {kind} {name}, which was deleted")
        world.wait(LOOK_US)
        waited_us += LOOK_US
