"""Defaults of a submitted AppWrapper, and settings of its own that it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaos.choice import PodChoice
from chaos.faults import EditObject, HoldObject, KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, bare_pod, job, pod_spec
from conformance.world import World
from vocabulary.clock import SECOND

QUEUE = "kueue.x-k8s.io/queue-name"


@scenario(
    arms=["MLB-020", "MLB-021", "MLB-047", "MLB-040"],
    config={"defaultQueueName": "default-queue"},
    cases={"its-own": {QUEUE: "own-queue"}, "none": {}, "others": {"team": "own-queue"}},
)
def waits_in_its_queue(world: World, labels: Mapping[str, str]) -> None:
    """Submitted suspended, it waits in the queue that its user named, or in the default one."""
    manifest = AppWrapper.manifest(world, "pod.yaml")
    waiting: dict[str, Any] = {
        **manifest,
        "metadata": {**manifest["metadata"], "labels": dict(labels)},
        "spec": {**manifest["spec"], "suspend": True},
    }
    aw = AppWrapper.submit(world, waiting)
    world.until(aw.is_in("Suspended"))
    world.wait(SECOND)
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["MLB-022"],
    config={"schedulerName": "batch-scheduler"},
    cases={"job": "job.yaml", "deployment": "deployment.yaml", "stateful-set": "stateful_set.yaml"},
)
def scheduler_is_named_for_every_kind(world: World, manifest: str) -> None:
    """The pods of whatever kind is wrapped wait for the configured scheduler."""
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running"))
    world.wait(2 * SECOND)
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["AW-095"])
def others_have_their_finalizers_on_it(world: World) -> None:
    """The finalizers that others put on a waiting AppWrapper stay when it runs and is deleted."""
    manifest = AppWrapper.manifest(world, "pod.yaml")
    aw = AppWrapper.submit(world, {**manifest, "spec": {**manifest["spec"], "suspend": True}})
    world.until(aw.is_in("Suspended"))
    hold = HoldObject("AppWrapper", "a")
    world.inject(hold)
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.delete()
    world.until(aw.has_pods(0))
    world.wait(2 * SECOND)
    world.revert(hold)
    world.until(aw.is_gone())


@scenario(arms=["AW-095", "AW-097"])
def it_comes_with_a_finalizer_of_others(world: World) -> None:
    """The controller's finalizer is added, and put back, beside one that the user brought, and as
    long as what has succeeded is kept."""
    finalizers = ["example.com/backup"]
    manifest = AppWrapper.manifest(world, "pod.yaml")
    aw = AppWrapper.submit(
        world, {**manifest, "metadata": {**manifest["metadata"], "finalizers": finalizers}}
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(EditObject("AppWrapper", "a", {"metadata": {"finalizers": finalizers}}))
    world.wait(10 * SECOND)
    world.inject(EditObject("AppWrapper", "a", {"metadata": {"finalizers": None}}))
    world.wait(10 * SECOND)
    world.inject(KillPod(PodChoice(of="AppWrapper/a"), exit_code=0))
    world.until(aw.is_in("Succeeded"))
    world.inject(EditObject("AppWrapper", "a", {"metadata": {"finalizers": None}}))
    world.wait(10 * SECOND)


@scenario(arms=["AW-020", "INV-9"])
def it_has_as_many_pod_sets_as_kueue_takes(world: World) -> None:
    """An AppWrapper of eight pod sets runs like any other."""
    aw = AppWrapper.submit(world, appwrapper(*(bare_pod(name=f"a-{index}") for index in range(8))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["MLB-050"])
def it_names_the_controller_that_manages_it(world: World) -> None:
    """An AppWrapper that names its own controller runs like one that names none."""
    manifest = AppWrapper.manifest(world, "pod.yaml")
    spec = {**manifest["spec"], "managedBy": "workload.codeflare.dev/appwrapper-controller"}
    aw = AppWrapper.submit(world, {**manifest, "spec": spec})
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-100"])
def tolerations_come_from_two_sides(world: World) -> None:
    """The tolerations that Kueue adds for a queue's nodes stand beside those of the user."""
    tolerated = {"key": "example.com/mine", "operator": "Exists", "effect": "NoSchedule"}
    added = {"key": "example.com/queue", "operator": "Exists", "effect": "NoSchedule"}
    manifest = appwrapper(job({}, pod_spec(tolerations=[tolerated])))
    component = manifest["spec"]["components"][0]
    component["podSetInfos"] = [{"tolerations": [added]}]
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)
