"""Two replicas, of which one leads."""

from __future__ import annotations

from conformance.scenario_type import scenario
from conformance.suites.operator.scenarios.steps import (
    IN_VIRTUAL_TIME,
    create_again,
    create_all,
    rest_and_stay,
)
from conformance.world import World
from vocabulary.clock import SECOND

TWO_REPLICAS = "operator/election/two-replicas"
CREATED_AGAIN = "operator/election/created-again"
PAUSES_ARE_OVER_US = 60 * SECOND
NO_ELECTION = "two replicas, and neither holds a Lease: the operator is not run twice"
ELECTED_WITHIN_SECONDS = 60


@scenario(arms=(), operators=2, compared_with=TWO_REPLICAS, only_simulated=IN_VIRTUAL_TIME)
def two_replicas(world: World) -> None:
    """Of two replicas one works at a time, whatever happens to the one that leads."""
    if not _is_led(world):
        return
    create_all(world)
    rest_and_stay(world)
    world.wait(PAUSES_ARE_OVER_US)
    world.rest()


@scenario(arms=(), operators=2, compared_with=CREATED_AGAIN, only_simulated=IN_VIRTUAL_TIME)
def created_again(world: World) -> None:
    """The leader works on a subject whose name was used before another one led."""
    if not _is_led(world):
        return
    create_all(world)
    rest_and_stay(world)
    create_again(world)
    world.rest()


def _is_led(world: World) -> bool:
    """True once one of the replicas leads; says so where none ever does."""
    for _ in range(ELECTED_WITHIN_SECONDS):
        if world.leader:
            return True
        world.wait(SECOND)
    world.mark("step", NO_ELECTION)
    return False
