"""Deletions that do not end by themselves: force comes on time, to everything, until it works."""

from __future__ import annotations

from collections.abc import Callable

from chaos.choice import ObjectChoice
from chaos.faults import ApiErrors, HoldObject, KillPod, Pause
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, bare_pod, job, pod_spec
from conformance.world import World
from vocabulary.clock import SECOND

NEVER_STOP = "run forever, never stop"


def _reset(world: World) -> AppWrapper:
    aw = AppWrapper.submit(world, "pods.yaml", behaviour=NEVER_STOP)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    return aw


def _fail(world: World) -> AppWrapper:
    aw = AppWrapper.submit(world, "pods.yaml", behaviour=NEVER_STOP, retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    return aw


def _suspend(world: World) -> AppWrapper:
    aw = AppWrapper.submit(world, "pods.yaml", behaviour=NEVER_STOP)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.suspend()
    world.until(aw.is_in("Suspending"))
    return aw


@scenario(
    arms=["AW-007", "AW-011", "AW-012", "INV-10"],
    cases={"resetting": _reset, "failed": _fail, "suspending": _suspend},
)
def appwrapper_is_deleted_before_force_is_used(
    world: World, stick: Callable[[World], AppWrapper]
) -> None:
    """The forceful deletion grace period goes on when the AppWrapper is deleted meanwhile."""
    aw = stick(world)
    world.wait(world.durations.forceful_deletion_us * 3 // 4)
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["AW-007", "AW-011", "AW-012"])
def appwrapper_is_suspended_before_force_is_used(world: World) -> None:
    """The forceful deletion grace period of a reset goes on when the AppWrapper is suspended."""
    aw = _reset(world)
    world.wait(world.durations.forceful_deletion_us * 3 // 4)
    aw.suspend()
    world.until(aw.is_in("Suspended"))


@scenario(
    arms=["AW-007", "AW-012"],
    cases={
        "forbidden": ApiErrors(verb=("delete",), kind="Pod", code=403, times=0),
        "throttled": ApiErrors(verb=("delete",), kind="Pod", code=429, times=0),
        "failing": ApiErrors(verb=("delete",), kind="Pod", code=500, times=0),
    },
)
def forceful_delete_is_refused(world: World, refusing: ApiErrors) -> None:
    """A pod whose forceful delete is refused is deleted forcefully once it can be."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour=NEVER_STOP)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.suspend()
    world.wait(world.durations.forceful_deletion_us // 2)
    world.inject(refusing)
    world.wait(world.durations.forceful_deletion_us // 2 + 2 * SECOND)
    world.revert(refusing)
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-007", "AW-012"], alone=True, cases={"failed": 1, "succeeded": 0})
def pods_that_ended_are_not_collected(world: World, exit_code: int) -> None:
    """Pods that have ended and are not collected are deleted by force like others."""
    shape = {"parallelism": 2, "completions": 2, "backoffLimit": 2}
    aw = AppWrapper.submit(world, appwrapper(job(shape)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=exit_code))
    world.until(aw.has_pods(1, "Failed" if exit_code else "Succeeded"))
    world.inject(Pause("garbage-collector"))
    aw.suspend()
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    world.revert(Pause("garbage-collector"))


@scenario(
    arms=["AW-013", "AW-014", "AW-015"],
    cases={"pods": "pods.yaml", "job": "job.yaml", "deployment": "deployment.yaml"},
)
def forced_pod_is_held_by_a_foreign_finalizer(world: World, manifest: str) -> None:
    """A pod counts for as long as it stands, whatever grace period it was deleted with."""
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    hold = HoldObject("Pod", ObjectChoice(of="AppWrapper/a"))
    world.inject(hold)
    aw.suspend()
    world.wait(2 * world.durations.forceful_deletion_us)
    world.revert(hold)
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-010", "AW-054"], cases={"longer": 90, "shorter": 5, "none": 0})
def pod_names_its_own_time_to_stop(world: World, seconds: int) -> None:
    """An ordinary delete leaves a pod the time to stop that its own spec names, and no more."""
    pod = pod_spec(terminationGracePeriodSeconds=seconds)
    aw = AppWrapper.submit(
        world,
        appwrapper(bare_pod(pod, name="a-0")),
        behaviour="run forever, stop 40s",
        forcefulDeletionGracePeriodDuration="5m",
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.suspend()
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
