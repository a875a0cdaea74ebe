"""Suspension, at every point of the retry loop."""

from __future__ import annotations

from chaos.faults import KillPod, StaleReads, Suspend
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, refuse_pods
from conformance.world import World
from vocabulary.clock import SECOND

ARMS = ["AW-054", "AW-013", "AW-015", "INV-2", "MLB-043", "MLB-045"]


@scenario(arms=ARMS)
def while_resuming(world: World) -> None:
    """Suspended while its components are still being created, it deletes what there is."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Resuming"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-054", "AW-015"])
def while_creation_is_refused(world: World) -> None:
    """Suspended while a quota refuses its pods, it does not wait until they are created."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Resuming"))
    world.wait(SECOND)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-054", "INV-1"])
def while_resuming_again(world: World) -> None:
    """Suspended while a second attempt is being created, it deletes what there is of that."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Resuming", "Running"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-054", "AW-013", "AW-015"])
def before_its_pods_were_heard_of(world: World) -> None:
    """Pods that the operator's caches do not show yet are deleted and waited for all the same."""
    stale = StaleReads(kind="Pod")
    world.inject(stale)
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 20s")
    world.until(aw.has_pods(2, "Running"))
    world.inject(Suspend("AppWrapper/a"))
    world.wait(5 * SECOND)
    world.revert(stale)
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=ARMS)
def while_running(world: World) -> None:
    """Suspended while it runs, it deletes everything, then releases its quota; and resumes."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["AW-013", "AW-014", "AW-015", "INV-1", "INV-2"],
    cases={"deployment": "deployment.yaml", "stateful-set": "stateful_set.yaml"},
)
def pods_outlive_their_controllers(world: World, manifest: str) -> None:
    """Pods that stop slowly hold the quota, even if their controllers are gone already."""
    aw = AppWrapper.submit(world, manifest, behaviour="run forever, stop 5s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=ARMS)
def while_a_failure_is_borne(world: World) -> None:
    """Suspended within the failure grace period, it is suspended and not reset."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("Unhealthy"))
    world.wait(SECOND)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=ARMS)
def while_a_reset_deletes(world: World) -> None:
    """Suspended while a reset still deletes, it finishes the deletion and stays suspended."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    world.wait(3 * world.durations.retry_pause_us)


@scenario(arms=ARMS)
def during_the_retry_pause(world: World) -> None:
    """Suspended during the retry pause, it creates nothing when the pause is over."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.has_pods(0))
    world.wait(SECOND)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    world.wait(3 * world.durations.retry_pause_us)


@scenario(arms=["AW-054", "MLB-043"])
def flipped_back_before_it_is_done(world: World) -> None:
    """Resumed while it is still suspending, it first finishes suspending."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspending"))
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-054", "AW-007"])
def with_pods_that_do_not_stop(world: World) -> None:
    """Suspended with pods that cannot be stopped, it forces them and then releases its quota."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, never stop")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["MLB-047", "MLB-045"])
def created_suspended(world: World) -> None:
    """Created suspended, as Kueue's webhook has it, it does nothing until it is admitted."""
    manifest = AppWrapper.manifest(world, "pod.yaml")
    suspended = {**manifest, "spec": {**manifest["spec"], "suspend": True}}
    aw = AppWrapper.submit(world, suspended)
    world.until(aw.is_in("Suspended"))
    world.wait(10 * SECOND)
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["MLB-042"])
def while_failed_and_waiting(world: World) -> None:
    """Suspended while a Failed AppWrapper still keeps its pods for debugging, it stays Failed."""
    aw = AppWrapper.submit(
        world, "pods.yaml", retryLimit=0, deletionOnFailureGracePeriodDuration="8s"
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(SECOND)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.shows("QuotaReserved", "False"))
    aw.resume()
    world.wait(5 * SECOND)
