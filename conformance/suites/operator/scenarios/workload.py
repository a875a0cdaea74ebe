"""A workload is created and comes to rest; then nothing happens, a resync, or its like anew."""

from __future__ import annotations

from chaos.faults import EditObject, Restart
from conformance.norm.words import span
from conformance.scenario_type import scenario
from conformance.suites.operator.scenarios.steps import (
    CREATED,
    IN_VIRTUAL_TIME,
    create_again,
    create_all,
    objects,
    rest_and_stay,
)
from conformance.world import World
from vocabulary.clock import MINUTE
from vocabulary.objects import name_of

ALONE_US = 10 * MINUTE
IN_EVERY_RUN = ("OP-001", "OP-013", "OP-014")


@scenario(arms=(*IN_EVERY_RUN, "OP-019"), compared_with=CREATED, only_simulated=IN_VIRTUAL_TIME)
def created(world: World) -> None:
    """A workload that is created comes to the same end, whatever breaks on the way, or at rest."""
    create_all(world)
    rest_and_stay(world)


@scenario(arms=("OP-002",), compared_with=CREATED, only_simulated=IN_VIRTUAL_TIME)
def resynced(world: World) -> None:
    """A workload at rest stays as it is when its operator looks at it again, at once and after ten
    minutes."""
    create_all(world)
    world.rest()
    _resync(world, "at-rest")
    world.wait(ALONE_US)
    _resync(world, "later")


def _resync(world: World, when: str) -> None:
    """Touch each object of the workload, then start the operator again."""
    touched = {"metadata": {"annotations": {"assay.dev/touched": when}}}
    for kind, manifest in objects(world):
        world.inject(EditObject(f"{kind.api_version}/{kind.kind}", name_of(manifest), touched))
    world.rest()
    world.inject(Restart())
    world.rest()


@scenario(arms=IN_EVERY_RUN, compared_with=CREATED, only_simulated=IN_VIRTUAL_TIME)
def left_alone(world: World) -> None:
    """A workload at rest is left alone for ten minutes, in which its operator may only poll."""
    create_all(world)
    world.rest()
    before = world.requests
    world.wait(ALONE_US)
    world.mark("step", f"{world.requests - before} requests in {span(ALONE_US)} at rest")


@scenario(arms=("OP-012",), compared_with=CREATED, only_simulated=IN_VIRTUAL_TIME)
def created_again(world: World) -> None:
    """A workload that is deleted, and created at once under the same names, is a new one."""
    create_all(world)
    world.rest()
    create_again(world)
    world.rest()
