"""A workload at rest is deleted."""

from __future__ import annotations

from chaos.faults import Kill, Start
from conformance.scenario_type import scenario
from conformance.suites.operator.scenarios.steps import (
    CREATED,
    IN_VIRTUAL_TIME,
    create_all,
    delete_all,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.requests import PropagationPolicy

POLICIES: dict[str, PropagationPolicy] = {
    "background": "Background",
    "foreground": "Foreground",
    "orphan": "Orphan",
}
DOWN_US = 30 * SECOND


@scenario(
    arms=("OP-009", "OP-010"), cases=POLICIES, compared_with=CREATED, only_simulated=IN_VIRTUAL_TIME
)
def deleted(world: World, policy: PropagationPolicy) -> None:
    """A workload that is deleted goes, and its tree goes with it or stays, as its user says."""
    create_all(world)
    world.rest()
    delete_all(world, policy)
    world.rest()


@scenario(
    arms=("OP-009", "OP-010"), cases=POLICIES, compared_with=CREATED, only_simulated=IN_VIRTUAL_TIME
)
def deleted_unseen(world: World, policy: PropagationPolicy) -> None:
    """A workload that is deleted while its operator is down is no other case."""
    create_all(world)
    world.rest()
    world.inject(Kill(restart_after=None))
    delete_all(world, policy)
    world.wait(DOWN_US)
    world.inject(Start())
    world.rest()
