"""Pods that lose their readiness, and what each attempt may take."""

from __future__ import annotations

from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import QueuedJob, job, queue
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import World
from vocabulary.clock import HOUR, MINUTE, SECOND

FLAPS = "run 1m, exit 1, restart-after 15m"


def recovers(timeout: str) -> dict[str, Any]:
    """The configuration of a `recoveryTimeout`."""
    return {"waitForPodsReady": {"recoveryTimeout": timeout}}


@scenario(
    arms=["KQ-043"],
    kills="recovery-has-the-first-timeout",
    config=recovers("2m"),
    only_simulated="its timeouts are of minutes",
)
def readiness_is_lost(world: World) -> None:
    """A Job whose pod was ready and fails for long is evicted at the recoveryTimeout."""
    _flapping(world)


@scenario(
    arms=["KQ-043"],
    kills="recovery-is-always-bounded",
    config=recovers("0s"),
    only_simulated="its timeouts are of minutes",
)
def recovery_is_not_bounded(world: World) -> None:
    """With a recoveryTimeout of 0 a Job whose pod was ready is not evicted."""
    _flapping(world)


def _flapping(world: World) -> None:
    queue(world)
    made = dict(job("its", restartPolicy="OnFailure"))
    its = QueuedJob.submit(world, {**made, "spec": {**made["spec"], "backoffLimit": 6}}, FLAPS)
    world.until(its.is_ready())
    world.wait(10 * MINUTE)
    its.delete()
    world.wait(30 * SECOND)


@scenario(
    arms=["KQ-009", "KQ-011", "KQ-015", "KQ-037"],
    kills="timeouts-are-doubled",
    config=requeues(limit=4),
)
def lifetime(world: World) -> None:
    """A Job whose pod is never ready takes as long as the formula says until it is deactivated."""
    queue(world)
    its = QueuedJob.of(world, "its", NEVER_READY)
    world.until(its.is_deactivated())
    world.until(its.has_released())
    its.delete()


@scenario(
    arms=["KQ-006", "KQ-009", "KQ-011", "KQ-015"],
    kills="back-offs-are-an-hour-at-most",
    config=requeues(limit=30),
    only_simulated="it lasts a day",
)
def lifetime_of_a_day(world: World) -> None:
    """Thirty back-offs take as long as the norm's table says: 24 hours, less what whole seconds
    cost."""
    queue(world)
    its = QueuedJob.of(world, "its", NEVER_READY)
    world.until(its.is_deactivated(), 40 * HOUR)
    its.delete()


@scenario(arms=["KQ-037"], kills="requeue-at-is-forgotten", config=requeues(limit=2), nodes=2)
def room_is_in_pieces(world: World) -> None:
    """A Job that fits into the quota and onto no node does not go in a rapid cycle."""
    resource = "example.com/board"
    for node in world.nodes:
        world.add_capacity(node, resource, 4)
    queue(world, quota={"cpu": "8", resource: "8"})
    for name in ("a", "b"):
        its = QueuedJob.submit(world, _boards(name, 3), "run 30m")
        world.until(its.is_ready())
    large = QueuedJob.submit(world, _boards("large", 2), "run 1m")
    world.until(large.is_deactivated())
    large.delete()


def _boards(name: str, count: int) -> dict[str, Any]:
    made: dict[str, Any] = dict(job(name))
    amounts = {"example.com/board": str(count), "cpu": "1"}
    containers = [
        {**each, "resources": {"requests": amounts, "limits": amounts}}
        for each in made["spec"]["template"]["spec"]["containers"]
    ]
    pod = {**made["spec"]["template"]["spec"], "containers": containers}
    return {**made, "spec": {**made["spec"], "template": {"spec": pod}}}


@scenario(arms=["KQ-038"], kills="long-requeuing-deactivates", config=requeues())
def no_limit(world: World) -> None:
    """Without a limit a Job is requeued on and on, however long that takes."""
    queue(world)
    its = QueuedJob.of(world, "its", NEVER_READY)
    world.until(its.was_requeued(7))
    its.delete()
