"""Submissions that are interrupted."""

from __future__ import annotations

from chaos.faults import Kill, Start, TimeOut
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.streams.handle import StreamsJob
from conformance.world import World
from vocabulary.clock import HOUR, SECOND


@scenario(arms=["ST-006", "ST-009", "ST-016", "ST-035"], kills="only-what-is-missing")
def three_of_five_pods(world: World) -> None:
    """An operator that ends after three of five pods starts over, with five new ones."""
    third = TimeOut(verb=("create",), kind="Pod", skip=3, times=0, after=HOUR)
    with during(world, third):
        its = StreamsJob.of(world)
        world.wait(5 * SECOND)
        world.inject(Kill(restart_after=None))
    world.wait(10 * SECOND)
    world.inject(Start())
    world.until(its.is_submitted())
