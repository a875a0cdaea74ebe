"""Users meddle: with labels, annotations and finalizers that the operator put where they are."""

from __future__ import annotations

from chaos.choice import ObjectChoice, PodChoice
from chaos.faults import (
    CreateObject,
    DeleteObject,
    DeletePod,
    EditObject,
    Kill,
    KillPod,
    StaleReads,
    Tamper,
)
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import APPWRAPPER_LABEL
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import USERS_CONFIG
from conformance.world import World
from vocabulary.clock import SECOND


@scenario(arms=["MLB-050"])
def component_loses_its_labels(world: World) -> None:
    """A user who edits a component's labels deletes nothing, so nothing fails."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(EditObject("ConfigMap", "a-config", {"metadata": {"labels": None}}))
    world.wait(10 * SECOND)


@scenario(arms=["INV-7"])
def finalizer_is_stripped(world: World) -> None:
    """A finalizer that a user strips is put back while there is something to protect."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Tamper("AppWrapper", "a", "finalizers"))
    world.wait(10 * SECOND)


@scenario(arms=["INV-1", "INV-8"])
def stripped_and_deleted_while_the_operator_is_down(world: World) -> None:
    """An AppWrapper whose finalizer a user strips is gone before its operator can put it back."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=20 * SECOND))
    world.inject(Tamper("AppWrapper", "a", "finalizers"))
    world.inject(DeleteObject("AppWrapper", "a"))
    world.wait(60 * SECOND)


@scenario(arms=["AW-013", "AW-015"])
def pod_loses_its_label(world: World) -> None:
    """A pod whose label a user strips is missed, and gone before the quota is released."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    stripped = {"metadata": {"labels": {APPWRAPPER_LABEL: None}}}
    world.inject(EditObject("Pod", ObjectChoice(of="AppWrapper/a"), stripped))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-021", "AW-030", "AW-096"], cases={"fails": 1, "succeeds": 0})
def pod_keeps_only_the_label_of_its_workload(world: World, exit_code: int) -> None:
    """A pod that carries the AppWrapper's label counts, whatever other labels it has lost."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Tamper("Pod", "a-0", "labels"))
    labelled = {"metadata": {"labels": {APPWRAPPER_LABEL: "a"}}}
    world.inject(EditObject("Pod", "a-0", labelled))
    world.wait(5 * SECOND)
    world.inject(KillPod("a-1", exit_code=0))
    world.wait(5 * SECOND)
    world.inject(KillPod("a-0", exit_code=exit_code))
    world.until(aw.is_in("Failed" if exit_code else "Succeeded"))


@scenario(arms=["INV-5"])
def annotations_are_stripped(world: World) -> None:
    """Without its annotations an AppWrapper goes on by the operator's own parameters."""
    aw = AppWrapper.submit(world, "pods.yaml", retryPausePeriodDuration="7s", retryLimit=5)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a")))
    world.until(aw.has_reset(1))
    world.inject(Tamper("AppWrapper", "a", "annotations"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-4"])
def name_is_taken_between_two_attempts(world: World) -> None:
    """A user's object that takes a component's name during the pause is left alone."""
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a")))
    world.until(aw.shows("ResourcesDeployed", "False"))
    world.inject(CreateObject(USERS_CONFIG))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-4"])
def name_is_taken_unseen(world: World) -> None:
    """A user's object that took a component's name is spared by an operator that has not heard."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    stale = StaleReads(kind="ConfigMap")
    world.inject(stale)
    world.inject(DeleteObject("ConfigMap", "a-config"))
    world.inject(CreateObject(USERS_CONFIG))
    aw.suspend()
    world.wait(5 * SECOND)
    world.revert(stale)
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-046"])
def pods_are_deleted_one_by_one(world: World) -> None:
    """Pods that a user deletes again and again are replaced each time, without a reset."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    for _ in range(3):
        world.inject(DeletePod(PodChoice(of="AppWrapper/a")))
        world.until(aw.has_pods(2, "Running"))
        world.wait(2 * SECOND)
    world.wait(2 * world.durations.failure_grace_us)
