"""Jobs of other shapes: several pod sets, created running, and a name that is used again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chaos.choice import PodChoice
from chaos.faults import DelayWatch, KillPod, Pause
from conformance.breaking import operator_away
from conformance.manifests.pod_templates import with_behaviour
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import QUEUE_LABEL
from conformance.suites.kueue.handle import (
    MAIN,
    QueuedAppWrapper,
    QueuedJob,
    QueuedJobSet,
    app_wrapper,
    job,
    job_set,
    queue,
)
from conformance.suites.kueue.scenarios.quota import zones
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND
from vocabulary.objects import Object, with_path

BEHAVES = "run 1m, stop 30s"


@scenario(arms=["QL-001"], kills="first-pod-set-is-enough", roles=("kueue", "jobset"))
def all_pod_sets_count(world: World) -> None:
    """A JobSet of two replicated jobs has quota for both, and another Job waits for the rest."""
    queue(world, quota={"cpu": "3"})
    made = job_set("a")
    (workers,) = made["spec"]["replicatedJobs"]
    both = [{**workers, "name": "driver"}, workers]
    its = QueuedJobSet.submit(world, with_path(made, "spec.replicatedJobs", both), "run 20s")
    world.until(its.is_ready())
    other = QueuedJob.of(world, "other", "run 20s", pods=2)
    world.until(other.is_finished())


_ADDS: Final[Mapping[str, Object]] = {
    "requests-of-limits": {},
    "limit-range": {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "defaults"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
    },
    "runtime-class": {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "boxed"},
        "handler": "boxed",
        "overhead": {"podFixed": {"cpu": "1"}},
    },
}


@scenario(
    arms=["QL-001"],
    kills="templates-say-all",
    cases=_ADDS,
    only_simulated="the nodes of other clusters need a handler for a RuntimeClass",
)
def pods_ask_for_more(world: World, adds: Object) -> None:
    """Quota is for what the API server adds to the requests of a pod, too."""
    more: dict[str, Any] = {}
    if not adds:
        more["limits"] = {"cpu": "1"}
    else:
        world.create(adds)
        if adds["kind"] == "RuntimeClass":
            more["runtimeClassName"] = "boxed"
    queue(world, quota={"cpu": "1", "memory": "1Gi"})
    jobs = [
        QueuedJob.of(world, name, "run 20s", requests={"memory": "1Mi"}, **more)
        for name in ("a", "b")
    ]
    for its in jobs:
        world.until(its.is_finished())


@scenario(arms=["QL-001"], kills="sidecars-end")
def init_containers(world: World) -> None:
    """Quota is for the init container that asks for most, with the sidecars before it."""
    queue(world, quota={"cpu": "4"})
    container = {"name": "beside", "image": "registry.k8s.io/pause:3.10"}
    sidecar = {
        **container,
        "restartPolicy": "Always",
        "resources": {"requests": {"cpu": "1"}},
    }
    prepares = {**container, "name": "prepares", "resources": {"requests": {"cpu": "2"}}}
    first = QueuedJob.of(world, "first", "run 1m", initContainers=[sidecar, prepares])
    world.until(first.is_admitted())
    waits = QueuedJob.of(world, "waits", "run 1m", cpu=2)
    fits = QueuedJob.of(world, "fits", "run 1m")
    world.until(fits.is_ready())
    world.until(waits.is_finished())


@scenario(arms=["QL-001"], kills="running-jobs-run")
def created_running(world: World) -> None:
    """A Job that is created running waits like others."""
    queue(world)
    made = with_path(job("a"), "spec.suspend", False)
    QueuedJob.submit(world, made, "run 2m")
    world.wait(30 * SECOND)


@scenario(arms=["QL-001"], kills="evicted-jobs-run-on")
def waiting_job_is_started(world: World) -> None:
    """A Job that its user starts without quota is suspended again."""
    queue(world)
    first = QueuedJob.of(world, "first", "run 1m")
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 20s, stop 1s")
    world.until(second.waits())
    second.patch({"spec": {"suspend": False}})
    world.until(second.is_finished())


@scenario(arms=["QL-003"], kills="deletion-releases-at-once")
def running_job_is_resized(world: World) -> None:
    """A Job that is resized while it runs is stopped, and has quota for its new size once its pods
    have ended; another Job gets the rest."""
    queue(world, quota={"cpu": "2"})
    its = QueuedJob.of(world, "a", BEHAVES, pods=2)
    world.until(its.is_ready())
    other = QueuedJob.of(world, "other", "run 20s")
    its.patch({"spec": {"parallelism": 1}})
    world.until(other.is_finished())
    world.until(its.is_finished())


@scenario(
    arms=["QL-003"],
    kills="deletion-releases-at-once",
    cases={"seen-at-once": False, "workload-is-seen-late": True},
)
def running_job_of_a_zone_is_resized(world: World, late: bool) -> None:
    """A Job that is resized while it runs on the nodes of its flavor may run on others
    afterwards."""
    zones(world)
    queue(world, quota={"cpu": "2"}, flavors=("f-a", "f-b"))
    its = QueuedJob.of(world, "a", BEHAVES, pods=2)
    world.until(its.is_ready())
    if late:
        world.inject(DelayWatch(kind="Workload", by=SECOND, actor="kueue"))
    its.patch({"spec": {"parallelism": 1}})
    world.until(its.is_finished())


@scenario(arms=["QL-001"], kills="parts-of-others-run", roles=("kueue", "appwrapper"))
def part_waits_itself(world: World) -> None:
    """A Job of a queue that is part of an AppWrapper of none waits for quota of its own."""
    queue(world)
    first = QueuedJob.of(world, "first", "run 1m")
    world.until(first.is_ready())
    made = with_path(app_wrapper("a", queue=""), "spec.suspend", False)
    (component,) = made["spec"]["components"]
    part = with_path(component["template"], "metadata.labels", {QUEUE_LABEL: MAIN})
    made = with_path(made, "spec.components", [{**component, "template": part}])
    its = QueuedAppWrapper.submit(world, made, BEHAVES)
    world.wait(30 * SECOND)
    world.until(first.is_finished())
    world.wait(90 * SECOND)
    its.delete()


@scenario(
    arms=["QL-001", "QL-003", "QL-006"],
    kills="job-is-not-asked",
    roles=("kueue", "appwrapper", "jobset"),
)
def app_wrapper_of_a_job_set(world: World) -> None:
    """A JobSet in an AppWrapper restarts within the AppWrapper's quota, which comes back once all
    its pods have stopped."""
    queue(world, quota={"cpu": "2"})
    wrapped = with_behaviour(job_set("a-set", 2, queue=""), "run forever, stop 20s")
    wrapped = with_path(wrapped, "spec.failurePolicy", {"maxRestarts": 1})
    wrapped = with_path(wrapped, "spec.suspend", False)
    made = with_path(app_wrapper("a"), "spec.components", [{"template": wrapped}])
    its = QueuedAppWrapper.submit(world, made, "run forever, stop 20s")
    world.until(its.is_ready())
    other = QueuedJob.of(world, "other", "run 20s", pods=2)
    world.inject(KillPod(pod=PodChoice(owner="a-set-workers-1"), exit_code=1))
    world.wait(MINUTE)
    world.until(its.is_ready())
    its.activate(False)
    world.until(other.is_finished())
    its.delete()


@scenario(arms=["QL-001"], kills="names-are-enough", roles=("kueue", "jobset"), alone=True)
def name_is_used_again(world: World) -> None:
    """A JobSet that has the name of one that is gone runs under quota of its own."""
    queue(world)
    first = QueuedJobSet.of(world, "a", BEHAVES)
    world.until(first.is_ready())
    world.inject(Pause("garbage-collector"))
    with operator_away(world, for_us=5 * SECOND):
        first.delete("Background")
        world.until(first.is_gone())
        second = QueuedJobSet.of(world, "a", BEHAVES)
    world.wait(20 * SECOND)
    world.revert(Pause("garbage-collector"))
    world.until(second.is_finished())
