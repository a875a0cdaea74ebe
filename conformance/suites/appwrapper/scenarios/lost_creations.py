"""Creations that were carried out, and of which the operator knows nothing: what stands there must
not be forgotten."""

from __future__ import annotations

from chaos.faults import DelayWatch, HoldObject, LoseReply, Suspend, Tamper
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.world import Condition, World
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.kinds import SERVICE

ONE_JOB = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "one-job"},
    "spec": {"hard": {"count/jobs.batch": "1"}},
}
LOST = LoseReply(verb=("create",), kind="Service", times=0)


def _service_exists(world: World) -> Condition:
    return Condition("its Service exists", lambda: bool(world.get(SERVICE, "a-service")))


@scenario(arms=["AW-013", "AW-015", "AW-054", "INV-1", "INV-2"])
def suspended_before_an_answer_comes(world: World) -> None:
    """Suspended while no creation of its Service is answered, it deletes the Service as well."""
    world.inject(LOST)
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(_service_exists(world))
    world.wait(SECOND)
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    world.revert(LOST)


@scenario(arms=["AW-013", "AW-014", "AW-048", "INV-1"])
def retried_after_no_answer_came(world: World) -> None:
    """A Service whose creation was answered too late for an attempt is deleted with it."""
    world.inject(LOST)
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.has_reset(1))
    world.revert(LOST)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-010", "AW-013", "AW-014", "AW-015", "AW-054", "INV-1", "INV-2"])
def job_uses_up_its_quota(world: World) -> None:
    """A Job that its quota has no second one beside is deleted when it is suspended, though its
    operator hears late of its own writes."""
    world.inject(DelayWatch(by=50 * MILLISECOND, kind="AppWrapper"))
    world.create(ONE_JOB, actor="user")
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-3", "INV-9", "MLB-048"], cases={"goes-at-once": False, "is-held": True})
def annotations_are_stripped_before_an_answer_comes(world: World, is_held: bool) -> None:
    """A Service that does not tell any more which attempt made it keeps none from running."""
    world.inject(LOST)
    aw = AppWrapper.submit(world, "pods.yaml", admissionGracePeriodDuration="10m", retryLimit=0)
    world.until(_service_exists(world))
    world.inject(Tamper("Service", "a-service", "annotations"))
    hold = HoldObject("Service", "a-service")
    if is_held:
        world.inject(hold)
    world.revert(LOST)
    world.wait(5 * SECOND)
    if is_held:
        world.revert(hold)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
