"""Each kind of jobs waits, runs, is evicted and comes back."""

from __future__ import annotations

from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.kueue.api import QUEUE_LABEL
from conformance.suites.kueue.handle import (
    MAIN,
    QueuedAppWrapper,
    QueuedJob,
    QueuedJobSet,
    job_set,
    queue,
)
from conformance.suites.kueue.scenarios.requeuing import requeues
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.objects import with_path

_SLOW = "never ready, stop 1m"


def on_terminal(*frameworks: str) -> dict[str, Any]:
    """The configuration that holds the quota of some kinds until their pods are terminal."""
    strategies = {"quotaReleaseStrategy": dict.fromkeys(frameworks, "OnTerminal")}
    return {**requeues(), "quotaHeldUntilTerminal": True, "integrations": strategies}


@scenario(
    arms=["KQ-201", "KQ-206"],
    kills="strategy-is-ignored",
    config=on_terminal("batch/job"),
)
def job_holds_quota_until_terminal(world: World) -> None:
    """Under OnTerminal a Job that is evicted holds its quota until its pod has stopped."""
    queue(world)
    first = QueuedJob.of(world, "a", _SLOW)
    world.until(first.was_requeued(1))
    second = QueuedJob.of(world, "b", "run 1m")
    world.until(first.has_released())
    world.until(second.is_finished())
    world.until(first.was_requeued(2))
    first.delete()
    world.wait(2 * 60 * SECOND)


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-202"],
    kills="pods-are-always-awaited",
    roles=("kueue", "jobset"),
    config={"kueue": requeues()},
)
def job_set_is_never_ready(world: World) -> None:
    """A JobSet that is never ready is evicted, and another one runs while its pods stop."""
    queue(world)
    first = QueuedJobSet.of(world, "a", _SLOW)
    world.until(first.was_requeued(2))
    second = QueuedJobSet.of(world, "b", "run 1m")
    world.until(first.was_requeued(3))
    world.until(second.is_finished())
    first.delete()
    world.wait(30 * SECOND)


@scenario(
    arms=["KQ-006", "KQ-012", "KQ-014", "KQ-016", "KQ-108"],
    kills="job-is-not-asked",
    roles=("kueue", "appwrapper"),
    config={"kueue": requeues()},
)
def app_wrapper_is_never_ready(world: World) -> None:
    """An AppWrapper whose pod fits on no node is evicted, and another one runs before it comes
    back."""
    queue(world, quota={"cpu": "1", "memory": "1Pi"})
    first = QueuedAppWrapper.of(world, "a", "run 1m", requests={"cpu": "1", "memory": "1Pi"})
    world.until(first.was_requeued(1))
    second = QueuedAppWrapper.of(world, "b", "run 1m")
    world.until(first.was_requeued(2))
    world.until(second.is_finished())
    first.delete()
    world.wait(30 * SECOND)


@scenario(arms=["KQ-060"], kills="parts-wait-themselves", roles=("kueue", "jobset"))
def parts_name_a_queue(world: World) -> None:
    """The Jobs of a JobSet that waits in a queue run with it, though they name a queue, too."""
    queue(world)
    made = job_set("a")
    (workers,) = made["spec"]["replicatedJobs"]
    labelled = with_path(workers, "template.metadata.labels", {QUEUE_LABEL: MAIN})
    its = QueuedJobSet.submit(world, with_path(made, "spec.replicatedJobs", [labelled]), "run 1m")
    world.until(its.is_finished())
