"""Each step of a deletion follows the one before: what delays one of them, and what must not."""

from __future__ import annotations

from chaos.faults import ApiErrors, BreakWatch, HoldObject, Kill, KillPod, LoseReply, TimeOut
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.world import World
from vocabulary.clock import SECOND


@scenario(
    arms=["AW-007", "AW-010", "AW-094"],
    cases={
        "forbidden": ApiErrors(verb=("delete",), kind="ConfigMap", code=403, times=0),
        "throttled": ApiErrors(verb=("delete",), kind="ConfigMap", code=429, times=0),
        "failing": ApiErrors(verb=("delete",), kind="ConfigMap", code=500, times=0),
    },
)
def refused_delete_is_sent_again(world: World, refusing: ApiErrors) -> None:
    """A component whose delete is refused is deleted once it can be, long before force is due."""
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(refusing)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(2 * SECOND)
    world.revert(refusing)
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-007", "AW-010", "AW-094"],
    cases={
        "carried-out": LoseReply(verb=("delete",), kind="ConfigMap", times=2),
        "not-carried-out": TimeOut(verb=("delete",), kind="ConfigMap", after=5 * SECOND, times=2),
        "of-each": LoseReply(verb=("delete",), times=6),
    },
)
def delete_is_not_answered(world: World, losing: LoseReply | TimeOut) -> None:
    """A delete without a response is sent again, and the others after it."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(losing)
    aw.suspend()
    world.until(aw.is_in("Suspended"))


@scenario(arms=["AW-010", "AW-094"])
def one_refused_delete_is_sent_again(world: World) -> None:
    """Nothing hinders the next delete, and the other components are deleted as if all were well."""
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(ApiErrors(verb=("delete",), kind="ConfigMap", code=403, times=1))
    aw.suspend()
    world.until(aw.is_in("Suspended"))


@scenario(arms=["AW-007", "AW-010", "AW-094"])
def all_deletes_are_refused_for_longer_than_the_grace_period(world: World) -> None:
    """Rejected deletes give no time to stop: the first delete that is accepted is ordinary."""
    aw = AppWrapper.submit(world, "mixed.yaml", forcefulDeletionGracePeriodDuration="20s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    refusing = ApiErrors(verb=("delete",), code=403, times=0)
    world.inject(refusing)
    aw.suspend()
    world.until(aw.is_in("Suspending"))
    world.wait(30 * SECOND)
    world.revert(refusing)
    world.until(aw.is_in("Suspended"))


@scenario(
    arms=["AW-007", "AW-010", "AW-094", "AW-095"],
    cases={"job": "job.yaml", "pods": "pods.yaml", "mixed": "mixed.yaml"},
)
def appwrapper_is_deleted_after_success(world: World, manifest: str) -> None:
    """A deletion waits for no SuccessTTL."""
    aw = AppWrapper.submit(world, manifest, behaviour="run 3s, exit 0")
    world.until(aw.is_in("Succeeded"))
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["AW-095"])
def appwrapper_is_deleted_after_it_was_cleaned_up(world: World) -> None:
    """Nothing is left of it, so nothing is waited for."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed") & aw.shows("ResourcesDeployed", "False"))
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["AW-095"])
def appwrapper_is_deleted_during_its_retry_pause(world: World) -> None:
    """There is nothing to delete, and no next attempt to wait for."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Resetting") & aw.shows("ResourcesDeployed", "False"))
    aw.delete()
    world.until(aw.is_gone())


@scenario(
    arms=["AW-094", "AW-095"],
    cases={"background": "Background", "foreground": "Foreground"},
)
def deleted_appwrapper_is_held_by_others(world: World, propagation: str) -> None:
    """The controller takes its own finalizer, and leaves that of another client."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    hold = HoldObject("AppWrapper", "a")
    world.inject(hold)
    aw.delete(propagation)  # type: ignore[arg-type]
    world.until(aw.has_pods(0))
    world.wait(2 * SECOND)
    world.revert(hold)
    world.until(aw.is_gone())


@scenario(arms=["AW-094", "AW-095"], cases={"suspended": False, "deleted": True})
def operator_is_killed_as_the_last_object_goes(world: World, deleted: bool) -> None:
    """The next one finds nothing left, and says so."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    if deleted:
        aw.delete()
    else:
        aw.suspend()
    world.wait(1 * SECOND)
    world.inject(Kill(restart_after=3 * SECOND))
    world.until(aw.is_gone() if deleted else aw.is_in("Suspended"))


@scenario(arms=["AW-094"])
def everything_comes_and_goes_behind_broken_watches(world: World) -> None:
    """A new list does not show objects created and deleted meanwhile; the operator has to look for
    them."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Resuming"))
    for kind in ("Job", "Pod"):
        world.inject(BreakWatch(kind=kind, gap=20 * SECOND))
    world.until(aw.is_in("Running") & aw.has_pods(2, "Running"))
    world.wait(5 * SECOND)
    aw.suspend()
    world.until(aw.is_in("Suspended"))


@scenario(
    arms=["AW-007", "AW-013", "AW-095", "INV-2"],
    cases={"job": "job.yaml", "pods": "pods.yaml", "deployment": "deployment.yaml"},
)
def appwrapper_is_deleted_with_orphans(world: World, manifest: str) -> None:
    """Objects of an AppWrapper are removed before its quota is released, orphaned or not."""
    aw = AppWrapper.submit(world, manifest, behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.delete("Orphan")
    world.until(aw.is_gone())


@scenario(arms=["AW-007", "AW-013", "AW-095", "INV-2"])
def appwrapper_is_deleted_with_orphans_while_the_operator_is_down(world: World) -> None:
    """All owner references, and their information, are gone when the operator is back."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=10 * SECOND))
    aw.delete("Orphan")
    world.until(aw.is_gone())
