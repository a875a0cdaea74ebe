"""Queues that are stopped, select namespaces, or wait for pods to be ready."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from chaos.faults import Kill, Start, WebhookOutage
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import CLUSTER_QUEUE, LOCAL_QUEUE, QUEUE_LABEL
from conformance.suites.kueue.handle import QueuedJob, job, queue, stop
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.durations import format_duration
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, NAMESPACE
from vocabulary.objects import with_path

RUNS = "run 1m"
LONG = "run 30m"
SECOND_NAMESPACE = "second"


@scenario(
    arms=["KQ-044", "KQ-053"],
    kills="stopped-queues-admit",
    cases={"cluster": True, "local": False},
)
def queue_holds(world: World, cluster: bool) -> None:
    """A queue that holds admits nothing new and leaves what runs, while another one goes on."""
    name = queue(world, quota={"cpu": "2"})
    queue(world, "other")
    kind, stopped = (CLUSTER_QUEUE, name) if cluster else (LOCAL_QUEUE, "main")
    runs = QueuedJob.of(world, "runs", RUNS)
    world.until(runs.is_ready())
    stop(world, kind, stopped, "Hold")
    world.wait(5 * SECOND)
    waits = QueuedJob.of(world, "waits", RUNS)
    other = QueuedJob.of(world, "other", RUNS, queue="other")
    world.until(other.is_finished() & runs.is_finished())
    stop(world, kind, stopped, "None")
    world.until(waits.is_finished())


@scenario(arms=["KQ-105"], kills="changed-queues-are-missed")
def queue_is_resumed(world: World) -> None:
    """A Job that waits is admitted once its queue goes on, though nothing else happens; one of a
    queue without quota waits on."""
    queue(world)
    queue(world, "bare", quota={})
    stop(world, LOCAL_QUEUE, "main", "Hold")
    world.wait(5 * SECOND)
    its = QueuedJob.of(world, "its", RUNS)
    bare = QueuedJob.of(world, "bare", RUNS, queue="bare")
    world.until(its.waits())
    world.wait(10 * SECOND)
    stop(world, LOCAL_QUEUE, "main", "None")
    world.until(its.is_finished())
    bare.delete()


@scenario(
    arms=["KQ-044", "KQ-050"],
    kills="queues-are-not-drained",
    config=requeues(),
    cases={"cluster": True, "local": False},
)
def queue_is_drained(world: World, cluster: bool) -> None:
    """A queue that is drained evicts what it has admitted, counts none of it, and goes on later;
    one that shares its name in another place does not."""
    name = queue(world, quota={"cpu": "2"})
    queue(world, "other")
    kind, stopped = (CLUSTER_QUEUE, name) if cluster else (LOCAL_QUEUE, "main")
    back = QueuedJob.of(world, "back", NEVER_READY)
    world.until(back.was_requeued(1))
    world.until(back.has_released())
    world.until(back.is_admitted())
    runs = QueuedJob.of(world, "runs", LONG)
    other = QueuedJob.of(world, "other", "run 5m", queue="other")
    world.until(runs.is_ready() & other.is_ready())
    stop(world, kind, stopped, "HoldAndDrain")
    world.until(runs.has_released() & back.has_released())
    world.wait(MINUTE)
    stop(world, kind, stopped, "None")
    world.until(runs.is_ready())
    back.delete()


@scenario(arms=["KQ-053"], kills="refused-ones-are-not-counted")
def job_goes_to_another_queue(world: World) -> None:
    """A Job that waits is moved to another LocalQueue: each shows those that wait there."""
    name = queue(world)
    local = {"apiVersion": LOCAL_QUEUE.api_version, "kind": LOCAL_QUEUE.kind}
    metadata = {"name": "other", "namespace": world.namespace}
    world.create({**local, "metadata": metadata, "spec": {"clusterQueue": name}})
    its = QueuedJob.of(world, "its", RUNS, cpu=2)
    world.until(its.waits())
    world.wait(5 * SECOND)
    its.patch({"metadata": {"labels": {QUEUE_LABEL: "other"}}})
    world.wait(5 * SECOND)


@scenario(
    arms=["KQ-046"],
    kills="every-namespace-is-served",
    namespaces=(SECOND_NAMESPACE,),
)
def namespace_is_not_selected(world: World) -> None:
    """A Job of a namespace that the queue does not select waits, says why, and is admitted once the
    namespace has the label; one of the same name in a selected namespace runs."""
    second = world.namespaces[SECOND_NAMESPACE]
    _label(world, world.namespace, "yes")
    _label(world, second, "no")
    selector = {"matchLabels": {"example.com/batch": "yes"}}
    places = (world.namespace, SECOND_NAMESPACE)
    queue(world, quota={"cpu": "2"}, namespaces=places, namespaceSelector=selector)
    runs = QueuedJob.of(world, "its", RUNS)
    waits = QueuedJob.of(world, "its", RUNS, namespace=SECOND_NAMESPACE)
    world.until(runs.is_ready())
    world.wait(10 * SECOND)
    _label(world, second, "yes")
    world.until(waits.is_finished())


@scenario(arms=["KQ-105"], kills="changed-queues-are-missed")
def local_queue_comes_late(world: World) -> None:
    """A Job that was there before its LocalQueue is admitted once that is there."""
    cluster_queue = queue(world)
    its = QueuedJob.of(world, "its", RUNS, queue="late")
    world.until(its.waits())
    world.wait(10 * SECOND)
    late = with_path({"metadata": {"name": "late"}}, "spec.clusterQueue", cluster_queue)
    world.create({**late, "apiVersion": LOCAL_QUEUE.api_version, "kind": LOCAL_QUEUE.kind})
    world.until(its.is_finished())


@scenario(
    arms=["KQ-049"],
    kills="webhooks-review-all",
    only_simulated="webhooks that the harness serves stay up elsewhere",
)
def webhook_is_down(world: World) -> None:
    """While its controller is down, and the webhook with it, a Job that names no queue runs, and
    one that names a queue is refused; then it can be created."""
    queue(world)
    plain = with_path(job("plain", queue=""), "spec.suspend", False)
    outages = [WebhookOutage("Job", name="waits")]
    if world.reviews(JOB, plain):
        outages.append(WebhookOutage("Job", name="plain"))
    world.inject(Kill(restart_after=None))
    for each in outages:
        world.inject(each)
    for made in (job("waits"), plain, job("waits")):
        with suppress(ApiError):
            QueuedJob.submit(world, made, RUNS)
    world.wait(2 * MINUTE)
    for each in outages:
        world.revert(each)
    world.inject(Start())
    world.wait(30 * SECOND)
    its = QueuedJob.of(world, "its", RUNS)
    world.until(its.is_finished())


def _label(world: World, namespace: str, value: str) -> None:
    world.patch(NAMESPACE, namespace, {"metadata": {"labels": {"example.com/batch": value}}})


def blocks() -> dict[str, Any]:
    """The configuration in which what is not ready blocks admission."""
    return {"waitForPodsReady": {"blockAdmission": True}}


@scenario(arms=["KQ-042"], kills="unready-ones-block-nothing", config=blocks())
def one_is_not_ready(world: World) -> None:
    """While an admitted Job is not ready, no other one is admitted, of no queue; then they are, one
    by one."""
    queue(world)
    for name in ("other", "third"):
        queue(world, name)
    half = format_duration(world.durations.timeout_us // 2)
    slow = QueuedJob.of(world, "slow", f"run 2m, ready-after {half}")
    world.until(slow.is_admitted())
    world.wait(5 * SECOND)
    other = QueuedJob.of(world, "other", RUNS, queue="other")
    world.until(other.is_ready())
    never = QueuedJob.of(world, "never", NEVER_READY)
    world.until(never.is_admitted())
    both = [QueuedJob.of(world, f"a-{name}", RUNS, queue=name) for name in ("other", "third")]
    world.until(never.was_requeued(1))
    for each in both:
        world.until(each.is_finished())
    never.delete()
