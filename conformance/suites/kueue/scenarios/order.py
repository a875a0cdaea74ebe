"""The order of Workloads in a queue, and of the heads of queues."""

from __future__ import annotations

from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import QueuedJob, priority_class, queue
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND

RUNS = "run 1m"


@scenario(arms=["KQ-101", "KQ-105", "KQ-110"], kills="later-ones-come-first")
def equal_ones_wait(world: World) -> None:
    """Jobs of equal priority are admitted in the order of their submission."""
    queue(world)
    QueuedJob.of(world, "first", RUNS)
    world.wait(2 * SECOND)
    second = QueuedJob.of(world, "second", RUNS)
    world.wait(2 * SECOND)
    third = QueuedJob.of(world, "third", RUNS)
    world.until(second.is_finished() & third.is_finished())


@scenario(arms=["KQ-111"], kills="priority-is-ignored")
def a_higher_one_comes_late(world: World) -> None:
    """A Job of higher priority is admitted before those that wait already, in each of two queues
    that have nothing to do with each other."""
    high = priority_class(world, "high", 10)
    for name in ("main", "other"):
        queue(world, name)
        QueuedJob.of(world, f"{name}-runs", RUNS, queue=name)
        QueuedJob.of(world, f"{name}-low", RUNS, queue=name)
    world.wait(2 * SECOND)
    late = [
        QueuedJob.of(world, f"{name}-high", RUNS, queue=name, priority=high)
        for name in ("main", "other")
    ]
    world.until(late[0].is_finished() & late[1].is_finished())
    world.wait(2 * MINUTE)


@scenario(
    arms=["KQ-002", "KQ-020"],
    kills="evicted-ones-keep-their-place",
    config=requeues(),
)
def evicted_goes_to_the_back(world: World) -> None:
    """An evicted Job waits behind one that was submitted meanwhile."""
    _evicted_beside_a_waiting_one(world)


@scenario(arms=["KQ-003"], shows="kueue#2224")
def unset_timestamp(world: World) -> None:
    """Without a configured timestamp an evicted Job waits behind one that was submitted later."""
    _evicted_beside_a_waiting_one(world)


@scenario(
    arms=["KQ-001", "KQ-020"],
    kills="evicted-ones-always-go-to-the-back",
    config=requeues(timestamp="Creation"),
)
def evicted_goes_to_the_front(world: World) -> None:
    """With timestamp Creation an evicted Job is admitted before one that was submitted later."""
    _evicted_beside_a_waiting_one(world)


def _evicted_beside_a_waiting_one(world: World) -> None:
    """One Job is evicted while a short one takes its quota; then it and a later one wait."""
    queue(world)
    first = QueuedJob.of(world, "first", NEVER_READY)
    world.until(first.is_admitted())
    world.wait(2 * SECOND)
    passes = QueuedJob.of(world, "passes", RUNS)
    world.wait(2 * SECOND)
    later = QueuedJob.of(world, "later", RUNS)
    world.until(passes.is_finished())
    world.until(later.is_admitted())
    world.until(later.is_finished())
    first.delete()


@scenario(
    arms=["KQ-023"],
    kills="evicted-ones-pass-higher-priorities",
    config=requeues(timestamp="Creation"),
)
def priority_beats_the_front(world: World) -> None:
    """With timestamp Creation an evicted Job waits behind one of higher priority."""
    queue(world)
    high = priority_class(world, "high", 10)
    first = QueuedJob.of(world, "first", NEVER_READY)
    world.until(first.is_admitted())
    passes = QueuedJob.of(world, "passes", RUNS, priority=high)
    world.wait(2 * SECOND)
    later = QueuedJob.of(world, "later", RUNS, priority=high)
    world.until(passes.is_finished())
    world.until(later.is_finished())
    first.delete()


@scenario(arms=["KQ-048"], kills="strict-queues-are-passed")
def strict_head_does_not_fit(world: World) -> None:
    """Behind the head of a StrictFIFO queue that does not fit, nothing is admitted."""
    queue(world, quota={"cpu": "2"}, queueingStrategy="StrictFIFO")
    runs = QueuedJob.of(world, "runs", RUNS)
    world.until(runs.is_admitted())
    large = QueuedJob.of(world, "large", RUNS, cpu=2)
    world.wait(2 * SECOND)
    small = QueuedJob.of(world, "small", RUNS)
    world.until(large.is_finished() & small.is_finished())


@scenario(arms=["KQ-112", "KQ-050"], kills="heads-block")
def head_does_not_fit(world: World) -> None:
    """A Job that fits passes the head of a BestEffortFIFO queue, which does not and says why."""
    queue(world, quota={"cpu": "2"})
    queue(world, "other", quota={"cpu": "2"})
    large = QueuedJob.of(world, "large", RUNS, cpu=3)
    world.wait(2 * SECOND)
    small = QueuedJob.of(world, "small", RUNS)
    same = QueuedJob.of(world, "same", RUNS, queue="other")
    world.until(small.is_finished() & same.is_finished())
    world.until(large.waits())


@scenario(arms=["KQ-021"], kills="borrowers-come-first")
def heads_of_two_queues(world: World) -> None:
    """Of the heads of two queues the one that need not borrow gets the quota."""
    queue(world, quota={"cpu": "1"}, cohort="all")
    queue(world, "other", quota={"cpu": "1"}, cohort="all")
    QueuedJob.of(world, "fills", "run 2m", queue="other")
    QueuedJob.of(world, "long", "run 10m")
    world.wait(2 * SECOND)
    borrows = QueuedJob.of(world, "borrows", RUNS)
    world.wait(2 * SECOND)
    owns = QueuedJob.of(world, "owns", RUNS, queue="other")
    world.until(owns.is_finished() & borrows.is_finished())


@scenario(arms=["KQ-104", "KQ-106"], kills="priority-comes-before-borrowing")
def higher_one_borrows_last(world: World) -> None:
    """A Job of high priority that has to borrow waits for one of low priority, of another queue,
    that need not; at the end it runs on borrowed quota."""
    low, high = priority_class(world, "low", 1), priority_class(world, "high", 10)
    queue(world, quota={"cpu": "1"}, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, cohort="all")
    holds = QueuedJob.of(world, "holds", "run 1m", queue="other", cpu=2)
    world.until(holds.is_ready())
    borrows = QueuedJob.of(world, "borrows", "run forever", cpu=2, priority=high)
    its = QueuedJob.of(world, "its", "run 1m", queue="other", cpu=2, priority=low)
    world.until(its.is_finished())
    world.until(borrows.is_ready())
