"""Workloads that give quota back for others, while their pods stop."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import QueuedJob, QueuedJobSet, job, priority_class, queue
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.objects import with_path

_LONG = "run 20m, stop 20s"
_LOWER = {"withinClusterQueue": "LowerPriority"}
_RECLAIMS = {"reclaimWithinCohort": "Any"}


@scenario(arms=["QL-002", "QL-013"], kills="evicted-ones-hold-nothing")
def victims_hold_quota_while_they_stop(world: World) -> None:
    """Two Jobs that are preempted have their quota until their pods have stopped, and two others
    get it one after the other."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=_LOWER)
    for name, stops in (("a", "20s"), ("b", "40s")):
        its = QueuedJob.of(world, name, f"run 20m, stop {stops}")
        world.until(its.is_ready())
    first = QueuedJob.of(world, "first", "run 1m", priority=high)
    world.wait(2 * SECOND)  # of two of one second either may be the first
    second = QueuedJob.of(world, "second", "run 1m", priority=high)
    world.until(first.is_finished())
    world.until(second.is_finished())


@scenario(arms=["QL-008"], kills="leaving-ones-are-passed")
def one_leaves_already(world: World) -> None:
    """A Job waits for the quota of one that leaves already, and another is preempted only for the
    next one."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=_LOWER)
    leaves = QueuedJob.of(world, "leaves", _LONG)
    world.until(leaves.is_ready())
    world.wait(2 * SECOND)
    stays = QueuedJob.of(world, "stays", _LONG)
    world.until(stays.is_ready())
    leaves.activate(False)
    world.wait(5 * SECOND)
    first = QueuedJob.of(world, "first", "run 2m", priority=high)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 1m", priority=high)
    world.until(first.is_finished() & second.is_finished())


@scenario(arms=["QL-009"], kills="victims-come-back-first", roles=("kueue", "jobset"))
def victim_fits_first(world: World) -> None:
    """A victim of higher priority that fits by the time that its quota is back waits for its
    preemptor, a JobSet."""
    high = priority_class(world, "high", 10)
    for name in ("main", "other", "third"):
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=_RECLAIMS)
    third = QueuedJob.of(world, "third", "run 5m", queue="third", cpu=3, priority=high)
    world.until(third.is_ready())
    stays = QueuedJob.of(world, "stays", "run 30s", queue="other", priority=high)
    world.until(stays.is_ready())
    world.wait(2 * SECOND)
    victim = QueuedJob.of(world, "victim", _LONG, queue="other", cpu=2, priority=high)
    world.until(victim.is_ready())
    world.wait(15 * SECOND)
    first = QueuedJobSet.of(world, "first", "run 1m", jobs=2)
    world.until(first.is_finished())
    world.until(victim.is_ready())


@scenario(arms=["QL-010"], kills="nothing-is-reclaimed", roles=("kueue", "jobset"))
def nominal_quota_comes_back(world: World) -> None:
    """A JobSet gets the nominal quota of its queue back that two other queues have borrowed."""
    for name in ("main", "one", "other"):
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=_RECLAIMS)
    for name in ("one", "other"):
        its = QueuedJobSet.of(world, name, _LONG, jobs=3, queue=name)
        world.until(its.is_ready())
    first = QueuedJobSet.of(world, "first", "run 1m", jobs=2)
    world.until(first.is_finished())


@scenario(arms=["KQ-106", "QL-011"], kills="done-pods-are-in-use")
def part_of_a_job_is_done(world: World) -> None:
    """Queues show what the last pod of a Job has, which borrows beside others, and who waits."""
    queue(world, quota={"cpu": "1"}, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, cohort="all")
    its = QueuedJob.submit(
        world, with_path(job("a", pods=2, cpu=1), "spec.completions", 3), "run forever"
    )
    world.until(its.is_ready())
    world.inject(KillPod(pod=PodChoice(owner="a", which="all"), exit_code=0))
    beside = QueuedJob.of(world, "beside", "run forever")
    world.until(beside.is_ready())
    QueuedJob.of(world, "waits", "run 1m", cpu=2)
    world.wait(MINUTE)
