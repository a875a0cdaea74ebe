"""More and more workloads of one kind."""

from __future__ import annotations

from conformance.history.request_counts import COUNTS, stage_in_words
from conformance.scenario_type import scenario
from conformance.suites.operator.scenarios.steps import (
    IN_VIRTUAL_TIME,
    names_of_workload,
    objects,
    renamed,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError

APART_US = 1 * SECOND
"""At once, the looks that one workload causes at all others would count once for all."""
MOST_REQUESTS = 20_000
"""No further workload is created after so many requests."""
NODES = 20


@scenario(arms=("OP-025",), nodes=NODES, of_plans=True, large=True, only_simulated=IN_VIRTUAL_TIME)
def one_ten_and_a_hundred(world: World) -> None:
    """A hundred workloads cost a hundred times what one does, and not more."""
    names = set[str]()
    world.rest()
    world.mark("step", stage_in_words(0, world.requested))
    made = 0
    for count in COUNTS:
        for number in range(made, count):
            for _, manifest in objects(world):
                try:
                    world.create(renamed(manifest, names, f"{number:03}") if number else manifest)
                except ApiError as refused:
                    world.mark("step", f"no further workload is admitted: {refused.message}")
                    return
            world.wait(APART_US)
            if world.requested.total() > MOST_REQUESTS:
                # The last workload may cost more yet: what it has cost so far is the least.
                world.mark("step", stage_in_words(number + 1, world.requested))
                world.mark("step", f"no further workload, after {MOST_REQUESTS} requests")
                return
        made = count
        world.rest()
        names = names or names_of_workload(world)
        world.mark("step", stage_in_words(count, world.requested))
