"""Pods that are not ready in time."""

from __future__ import annotations

from typing import Any

from chaos.faults import Restart
from conformance.breaking import operator_away
from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import QueuedJob, queue
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND

NEVER_READY = "never ready"


def requeues(limit: int | None = None, timestamp: str = "Eviction") -> dict[str, Any]:
    """The configuration of a requeuing strategy."""
    strategy: dict[str, Any] = {"timestamp": timestamp}
    if limit is not None:
        strategy["backoffLimitCount"] = limit
    return {"waitForPodsReady": {"requeuingStrategy": strategy}}


@scenario(
    arms=["KQ-006", "KQ-010", "KQ-012", "KQ-014", "KQ-016", "KQ-204"],
    kills="back-off-is-not-awaited",
    config=requeues(),
)
def pods_are_never_ready(world: World) -> None:
    """A Job whose pod is never ready is evicted, and comes back after each back-off."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.was_requeued(4))
    its.delete()
    world.wait(10 * SECOND)


@scenario(arms=["KQ-016"], kills="written-to-ones-are-lost", config=requeues())
def written_to_in_its_back_off(world: World) -> None:
    """A Workload that another client annotates in its fifth back-off is admitted after it."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.was_requeued(5))
    world.until(its.has_released())
    world.wait(SECOND)
    its.annotate("example.com/note", "seen")
    world.wait(2 * world.durations.maximum_us)
    its.delete()


@scenario(
    arms=["KQ-014", "KQ-016"], kills="back-offs-end-for-who-saw-them-begin", config=requeues()
)
def operator_is_down_until_after_the_back_off(world: World) -> None:
    """A Workload whose back-off ends while there is no operator is admitted once there is one."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.was_requeued(3))
    world.until(its.has_released())
    with operator_away(world):
        world.wait(MINUTE)
    world.wait(30 * SECOND)  # its webhook may have to convert what is read
    world.until(its.is_admitted())
    its.delete()


@scenario(arms=["KQ-009"], kills="timeout-begins-with-its-process", config=requeues())
def operator_restarts_within_the_timeout(world: World) -> None:
    """A Job whose pods are not ready is evicted at the timeout, though its operator restarts."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.is_admitted())
    world.wait(world.durations.timeout_us // 2)
    world.inject(Restart())
    world.until(its.was_requeued(1))
    its.delete()


@scenario(arms=["KQ-013"], kills="back-off-blocks-the-queue", config=requeues(timestamp="Creation"))
def others_run_meanwhile(world: World) -> None:
    """While one Job is in its back-off, a later one of a StrictFIFO queue is admitted."""
    queue(world, queueingStrategy="StrictFIFO")
    first = QueuedJob.of(world, "a", NEVER_READY)
    world.until(first.is_admitted())
    second = QueuedJob.of(world, "b", "run 20s")
    world.until(first.was_requeued(1))
    world.until(second.is_ready())
    world.until(second.is_finished())
    world.until(first.was_requeued(2))
    first.delete()


@scenario(
    arms=["KQ-030", "KQ-032", "KQ-033", "KQ-034", "KQ-036"],
    kills="it-is-requeued-once-more",
    config=requeues(limit=2),
)
def limit_is_reached(world: World) -> None:
    """A Workload at its limit is deactivated at the next timeout, and begins anew afterwards."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.is_deactivated())
    world.until(its.has_released())
    world.wait(2 * world.durations.timeout_us)
    its.activate(True)
    world.until(its.is_admitted())
    world.wait(10 * SECOND)
    world.until(its.was_requeued(1))
    its.delete()
    world.wait(10 * SECOND)


@scenario(arms=["KQ-030", "KQ-033"], kills="limit-of-zero-is-none", config=requeues(limit=0))
def limit_is_zero(world: World) -> None:
    """With a limit of 0, the first timeout deactivates a Workload."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.is_deactivated())
    world.until(its.has_released())
    its.delete()


@scenario(
    arms=["KQ-032", "KQ-033", "KQ-035", "KQ-036"],
    kills="every-deactivation-resets",
    config=requeues(),
    cases={"admitted": False, "in-back-off": True},
)
def user_deactivates(world: World, in_back_off: bool) -> None:
    """A Workload that a user deactivates and activates again keeps its count."""
    queue(world)
    its = QueuedJob.of(world, "a", NEVER_READY)
    world.until(its.was_requeued(3))
    world.until(its.has_released() if in_back_off else its.is_admitted())
    its.activate(False)
    world.wait(10 * SECOND)
    its.activate(True)
    world.until(its.was_requeued(4))
    its.delete()


@scenario(
    arms=["KQ-030", "KQ-034"],
    kills="count-is-kept-after-the-limit",
    config=requeues(limit=1),
)
def several_are_activated_again(world: World) -> None:
    """Of several Workloads that the limit had deactivated and that are activated at once, each
    begins anew, also those that are admitted first."""
    queue(world, quota={"cpu": "4"})
    jobs = []
    for name in ("a", "b", "c", "d"):
        jobs.append(QueuedJob.of(world, name, NEVER_READY))
        world.wait(2 * SECOND)
    for its in jobs:
        world.until(its.is_deactivated())
        world.until(its.has_released())
    for its in reversed(jobs):
        its.activate(True)
    for its in jobs:
        world.until(its.is_admitted())
        its.delete()
    world.wait(30 * SECOND)
