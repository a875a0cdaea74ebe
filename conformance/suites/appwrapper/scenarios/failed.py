"""Failed: for good, with its pods kept for as long as the annotation says."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import DeleteObject, KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.world import World
from vocabulary.clock import SECOND


@scenario(
    arms=["AW-060", "AW-061", "AW-076", "MLB-053"],
    cases={"first-failure": 0, "after-resets": 2},
)
def deletion_waits_for_debugging(world: World, limit: int) -> None:
    """Deletion starts the annotated time after Failed was entered, however many resets before."""
    aw = AppWrapper.submit(
        world,
        "pod.yaml",
        behaviour="run 2s, exit 1",
        retryLimit=limit,
        deletionOnFailureGracePeriodDuration="8s",
    )
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-060", "AW-061", "AW-076"])
def deletion_waits_after_external_deletion(world: World) -> None:
    """The annotated delay is kept, too, where a user's deletion made the AppWrapper Failed."""
    aw = AppWrapper.submit(world, "pods.yaml", deletionOnFailureGracePeriodDuration="8s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeleteObject("Service", "a-service"))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-007", "AW-013", "AW-014"])
def deleted_while_kept_for_debugging(world: World) -> None:
    """Deleting a Failed AppWrapper ends its deletion delay."""
    aw = AppWrapper.submit(
        world,
        "pods.yaml",
        retryLimit=0,
        failureGracePeriodDuration="0s",
        deletionOnFailureGracePeriodDuration="10m",
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(2 * SECOND)
    aw.delete()
    world.until(aw.is_gone())


@scenario(
    arms=["AW-062", "AW-053", "AW-076", "MLB-024"],
    cases={"absent": "", "zero": "0s", "negative": "-8s", "malformed": "8 s"},
)
def deletion_starts_at_once(world: World, delay: str) -> None:
    """Without a delay that makes sense, a Failed AppWrapper is cleaned up at once."""
    extra = {"deletionOnFailureGracePeriodDuration": delay} if delay else {}
    aw = AppWrapper.submit(
        world, "pods.yaml", retryLimit=0, failureGracePeriodDuration="0s", **extra
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-060", "AW-061", "AW-007", "INV-10"])
def forceful_clock_starts_after_the_delay(world: World) -> None:
    """The forceful deletion grace period counts from the start of deletion, not from Failed."""
    aw = AppWrapper.submit(
        world,
        "pods.yaml",
        behaviour="run forever, never stop",
        retryLimit=0,
        deletionOnFailureGracePeriodDuration="8s",
        forcefulDeletionGracePeriodDuration="5s",
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["MLB-042"])
def failed_is_final(world: World) -> None:
    """Nothing that a user does brings a Failed AppWrapper back."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 1s, exit 1", retryLimit=0)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))
    aw.suspend()
    world.wait(5 * SECOND)
    aw.resume()
    world.wait(5 * SECOND)
    aw.annotate(retryLimit=5)
    world.wait(2 * world.durations.retry_pause_us)


@scenario(arms=["MLB-024", "AW-053"])
def resources_return_within_minutes(world: World) -> None:
    """With default parameters a failed workload's resources are back within minutes."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, never stop")
    for resets in range(1, world.durations.retry_limit + 1):
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))
        world.inject(KillPod(PodChoice(of="AppWrapper/a", phase="Running")))
        world.until(aw.has_reset(resets))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", phase="Running")))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))
