"""Nothing triggers a resync: each timer is judged by what the operator watches and polls itself.

Elsewhere an operator that polls is made to look at its AppWrappers every second or so.
"""

from __future__ import annotations

from chaos.choice import ObjectChoice
from chaos.faults import DeleteObject, KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE, refuse_pods
from conformance.world import World
from vocabulary.durations import format_duration


@scenario(arms=["AW-031", "AW-041", "AW-071"], untouched=True)
def pods_are_not_created(world: World) -> None:
    """An operator that is left alone notices missing pods after the admission grace period."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=0)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-032", "AW-042", "AW-072"], untouched=True)
def pods_do_not_start(world: World) -> None:
    """An operator that is left alone notices idle pods after the warm-up grace period."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="stay pending", retryLimit=0)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-004", "AW-006", "AW-030", "AW-040", "AW-047", "AW-049", "AW-073", "AW-074"],
    untouched=True,
)
def pod_fails(world: World) -> None:
    """An operator that is left alone bears a failed pod, resets, pauses and starts over in time."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-034", "AW-044"], untouched=True)
def job_fails(world: World) -> None:
    """An operator that is left alone notices a failed Job."""
    aw = AppWrapper.submit(world, "job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))


@scenario(arms=["AW-035", "AW-045", "AW-060", "AW-061", "AW-076"], untouched=True)
def component_is_deleted(world: World) -> None:
    """An operator that is left alone misses a component, and deletes the rest after the delay."""
    delay_us = 2 * world.durations.failure_grace_us
    aw = AppWrapper.submit(
        world, "pods.yaml", deletionOnFailureGracePeriodDuration=format_duration(delay_us)
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeleteObject("Service", ObjectChoice(of="AppWrapper/a")))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-002", "AW-033", "AW-043"], gpus=4, untouched=True)
def node_is_tagged(world: World) -> None:
    """An operator that is left alone moves a workload off a node that is tagged EVICT."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-007", "AW-011", "AW-012", "AW-053", "AW-077", "INV-10"], untouched=True)
def pods_do_not_stop(world: World) -> None:
    """An operator that is left alone forces what remains, and then releases the quota."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, never stop", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-063", "AW-064", "AW-078"], untouched=True)
def workload_succeeds(world: World) -> None:
    """An operator that is left alone deletes what succeeded when the SuccessTTL is over."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run 2s, exit 0")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()
