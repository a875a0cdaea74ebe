"""The AppWrapper is suspended or deleted, in every phase, and while a deletion is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chaos.choice import ObjectChoice
from chaos.faults import HoldObject, KillPod, Suspend
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, refuse_pods
from conformance.world import World
from vocabulary.clock import SECOND

SLOW = "run forever, stop 5s"


def _running(world: World, manifest: str = "pods.yaml", **parameters: Any) -> AppWrapper:
    aw = AppWrapper.submit(world, manifest, behaviour=SLOW, **parameters)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    return aw


def _refused(world: World) -> AppWrapper:
    refuse_pods(world)
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Resuming"))
    world.wait(SECOND)
    return aw


def _resuming_again(world: World) -> AppWrapper:
    aw = _running(world, "mixed.yaml")
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Resuming", "Running"))
    return aw


def _failing(world: World) -> AppWrapper:
    aw = _running(world)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("Unhealthy"))
    world.wait(SECOND)
    return aw


def _resetting(world: World) -> AppWrapper:
    aw = _running(world)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.wait(SECOND)
    return aw


def _failed(world: World) -> AppWrapper:
    aw = _running(world, retryLimit=0)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(SECOND)
    return aw


def _suspending(world: World) -> AppWrapper:
    aw = _running(world)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspending"))
    world.wait(SECOND)
    return aw


def _succeeded(world: World) -> AppWrapper:
    aw = AppWrapper.submit(world, "mixed.yaml", behaviour="run 2s, exit 0")
    world.until(aw.is_in("Succeeded"))
    world.wait(SECOND)
    return aw


PHASES: dict[str, Callable[[World], AppWrapper]] = {
    "refused": _refused,
    "resuming-again": _resuming_again,
    "failing": _failing,
    "resetting": _resetting,
    "failed": _failed,
    "suspending": _suspending,
    "succeeded": _succeeded,
}


@scenario(arms=["AW-007", "AW-013", "AW-014", "INV-7"], cases=PHASES)
def deleted_in_every_phase(world: World, reach: Callable[[World], AppWrapper]) -> None:
    """An AppWrapper that is deleted stays until everything it created is gone, in every phase."""
    aw = reach(world)
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["INV-6", "INV-8"])
def deleted_during_the_retry_pause(world: World) -> None:
    """An AppWrapper that is deleted during the retry pause goes at once, and creates no more."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("ResourcesDeployed", "False"))
    world.wait(SECOND)
    aw.delete()
    world.until(aw.is_gone())
    world.wait(2 * world.durations.retry_pause_us)


@scenario(arms=["AW-007", "AW-013", "INV-7"])
def suspended_while_it_is_deleted(world: World) -> None:
    """A suspension changes nothing about a deletion that is under way."""
    aw = _running(world)
    aw.delete()
    world.wait(SECOND)
    aw.suspend()
    world.until(aw.is_gone())


@scenario(arms=["AW-007", "AW-011", "AW-012", "AW-054", "INV-10"])
def suspended_before_force_is_used(world: World) -> None:
    """The forceful deletion grace period of a reset goes on when the reset is suspended."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, never stop")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.wait(world.durations.forceful_deletion_us * 3 // 4)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-007", "AW-011", "AW-012", "AW-054"], cases={"suspended": True, "deleted": False}
)
def interrupted_while_force_is_used(world: World, is_suspended: bool) -> None:
    """A reset that already uses force is suspended, or its AppWrapper deleted: force goes on."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, never stop")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    hold = HoldObject("Service", ObjectChoice(of="AppWrapper/a"))
    world.inject(hold)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.wait(world.durations.forceful_deletion_us * 5 // 4)
    if is_suspended:
        world.inject(Suspend("AppWrapper/a"))
        world.until(aw.is_in("Suspending"))
    else:
        aw.delete()
    world.wait(2 * SECOND)
    world.revert(hold)
    world.until(aw.is_in("Suspended") if is_suspended else aw.is_gone())
