"""The first flavor with room is due, unless the rest of it may be kept for one that goes before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.implementations.ours import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.handle import QueuedJob, priority_class, queue
from conformance.world import World
from vocabulary.clock import SECOND

WRONG = "mutant:the-last-flavor-comes-first"


@pytest.mark.parametrize(
    ("cpu", "priority", "is_violated"),
    [(4, 1, False), (4, -1, True), (5, 1, True)],
    ids=["goes-before", "comes-after", "never-fits"],
)
def test_a_flavor_is_kept_for_one_that_goes_before_and_could_fit(
    cpu: int, priority: int, is_violated: bool
) -> None:
    def steps(world: World) -> None:
        class_ = priority_class(world, "other", priority)
        queue(world, flavors=("f0", "f1"), quota={"cpu": "4"})
        fills = QueuedJob.of(world, "fills", "run forever", cpu=4)
        world.until(fills.is_ready())
        leaves = QueuedJob.of(world, "leaves", "run forever, stop 20s")
        world.until(leaves.is_ready())
        fills.delete("Background")
        world.wait(10 * SECOND)
        large = QueuedJob.of(world, "large", "run forever", cpu=3)
        world.until(large.is_ready())
        QueuedJob.of(world, "waits", "run 1m", cpu=cpu, priority=class_)
        world.wait(5 * SECOND)
        leaves.activate(False)
        world.wait(4 * SECOND)
        its = QueuedJob.of(world, "its", "run 5s")
        world.until(its.is_admitted())

    scenario = replace(SCENARIOS["kueue/preemption/two-wait-for-their-victims"], steps=steps)
    verdicts = run_one(scenario, implementation(WRONG, "kueue"), 1).verdicts
    (verdict,) = (each for each in verdicts if each.claim == "KQ-045")
    assert "job-fills-" in verdict.because
    told = [each.because for each in verdict.violations if "job-its-" in each.because]
    assert bool(told) == is_violated
