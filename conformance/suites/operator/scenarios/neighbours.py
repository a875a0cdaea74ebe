"""Two workloads that have nothing to do with each other, and one operator."""

from __future__ import annotations

from conformance.history.normal_form import NEIGHBOUR
from conformance.scenario_type import scenario
from conformance.suites.operator.scenarios.steps import (
    IN_VIRTUAL_TIME,
    create_all,
    names_of_workload,
    objects,
    renamed,
    rest_and_stay,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.objects import meta, namespace_of

IN_ONE_NAMESPACE = "operator/neighbours/in-one-namespace"
IN_TWO_NAMESPACES = "operator/neighbours/in-two-namespaces"
NODES = 4
"""Twice as many as usual, since there are twice as many pods."""
LATER_US = 5 * SECOND
"""The operator has begun with the first workload; in two namespaces both come at once."""


@scenario(
    arms=("OP-018",), nodes=NODES, compared_with=IN_ONE_NAMESPACE, only_simulated=IN_VIRTUAL_TIME
)
def in_one_namespace(world: World) -> None:
    """A workload beside another one, whose names begin with its own, leaves that one alone."""
    create_all(world)
    world.wait(LATER_US)
    names = names_of_workload(world)
    for _, manifest in objects(world):
        world.create(renamed(manifest, names, NEIGHBOUR))
    rest_and_stay(world)


@scenario(
    arms=("OP-018",),
    nodes=NODES,
    namespaces=(NEIGHBOUR,),
    compared_with=IN_TWO_NAMESPACES,
    only_simulated=IN_VIRTUAL_TIME,
)
def in_two_namespaces(world: World) -> None:
    """A workload leaves one of the same names in another namespace alone."""
    create_all(world)
    for kind, manifest in objects(world):
        if kind.namespaced and not namespace_of(manifest):
            world.create({**manifest, "metadata": {**meta(manifest), "namespace": NEIGHBOUR}})
    rest_and_stay(world)
