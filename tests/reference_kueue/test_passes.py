"""Passes of the scheduler, in the middle of which something happens."""

from __future__ import annotations

from chaos.faults import SlowApi
from conformance.suites.kueue.handle import QueuedJob, priority_class, queue
from conformance.worlds.simulated.world import SimulatedWorld
from vocabulary.clock import SECOND
from vocabulary.objects import name_of


def test_quota_that_comes_back_while_one_is_told_to_wait_is_for_the_first(
    world: SimulatedWorld,
) -> None:
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption={"withinClusterQueue": "LowerPriority"})
    leaves = QueuedJob.of(world, "leaves", "run forever, stop 1s", cpu=2)
    world.until(leaves.is_ready())
    waits = QueuedJob.of(world, "waits", "run 1m", cpu=2)
    world.wait(5 * SECOND)
    world.inject(
        SlowApi(verb=("update",), kind="Workload", name=name_of(waits.workload), by=10 * SECOND)
    )
    leaves.activate(False)
    world.wait(2 * SECOND)
    assert leaves.has_released().holds()
    first = QueuedJob.of(world, "first", "run 1m", cpu=2, priority=high)
    world.until(first.is_admitted())
    assert waits.waits().holds()
