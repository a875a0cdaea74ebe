"""Releases, and the job that they make room for."""

from __future__ import annotations

from chaos.faults import BreakWatch, Kill
from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import QueuedJob, QueuedPod, QueuedPyTorchJob, queue
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.requests import PropagationPolicy


@scenario(arms=["QL-003", "QL-007"], kills="long-waits-are-forgotten")
def eviction_makes_room(world: World) -> None:
    """Of two Jobs that have waited for long the first is admitted once the one before them is
    deactivated."""
    queue(world)
    first = QueuedJob.of(world, "first", "run forever, stop 5s")
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 5s")
    world.wait(2 * SECOND)
    third = QueuedJob.of(world, "third", "run 5s")
    world.wait(40 * SECOND)
    first.activate(False)
    world.until(second.is_finished() & third.is_finished())


@scenario(arms=["QL-014"], kills="evictions-are-forgotten")
def operator_dies_while_pods_stop(world: World) -> None:
    """The quota of a Job that is deactivated is released though Kueue is killed meanwhile."""
    queue(world)
    first = QueuedJob.of(world, "first", "run forever, stop 20s")
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 5s")
    first.activate(False)
    world.wait(5 * SECOND)
    world.inject(Kill(restart_after=2 * SECOND))
    world.until(second.is_finished())


@scenario(
    arms=["QL-001", "QL-004"],
    kills="pods-are-always-awaited",
    cases={"pod": QueuedPod, "pytorch-job": QueuedPyTorchJob},
)
def pods_stop_slowly(world: World, kind: type[QueuedPod | QueuedPyTorchJob]) -> None:
    """A job that is deactivated gives its quota back as the matrix says of its kind."""
    queue(world)
    first = kind.of(world, "first", "run forever, stop 30s")
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 20s")
    first.activate(False)
    world.until(second.is_finished())


@scenario(arms=["QL-004"], kills="unseen-pods-are-awaited")
def pods_were_never_shown(world: World) -> None:
    """A Job is deleted whose pods come and go while the watch for pods is broken."""
    queue(world)
    world.inject(BreakWatch("kueue", "Pod", gap=30 * SECOND))
    first = QueuedJob.of(world, "first", "run forever, stop 2s")
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 5s")
    first.delete("Background")
    world.until(second.is_finished())


@scenario(arms=["QL-004"], kills="quota-is-never-given-back", roles=("kueue", "jobset"))
def another_controller_was_killed(world: World) -> None:
    """A Job is deactivated long after the controller of other jobs was killed."""
    queue(world)
    first = QueuedJob.of(world, "first", "run forever, stop 1s")
    world.until(first.is_ready())
    world.inject(Kill("jobset", restart_after=2 * SECOND))
    world.wait(30 * SECOND)
    first.activate(False)
    world.until(first.has_released())


@scenario(
    arms=["QL-016"],
    kills="orphans-keep-their-quota",
    cases={"with-orphans": "Orphan", "in-background": "Background"},
)
def job_goes(world: World, policy: PropagationPolicy) -> None:
    """A Job is deleted, and its Workload goes after it."""
    queue(world)
    its = QueuedJob.of(world, "a", "run forever, stop 5s")
    world.until(its.is_ready())
    its.delete(policy)
    world.until(its.is_gone())
    world.wait(10 * SECOND)
