"""The operator is replaced by a new process in the middle of every timer, and in between.

What an operator has not written down it does not know after that. Timers are so long here that
half of one outlasts every way of replacing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from chaos.choice import PodChoice
from chaos.faults import (
    ApiErrors,
    DeleteObject,
    Kill,
    KillPod,
    Restart,
    Start,
)
from chaos.faults.process import SECOND_OPERATOR
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE, refuse_pods
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, job
from conformance.world import World
from vocabulary.clock import SECOND, Micros
from vocabulary.durations import format_duration

Replace: TypeAlias = Callable[[World], None]
Steps: TypeAlias = Callable[[World, Replace], None]
DOWN_US: Final = 3 * SECOND


def _kill(world: World) -> None:
    world.inject(Kill(restart_after=DOWN_US))


def _recreate(world: World) -> None:
    """As a Deployment of strategy Recreate does."""
    world.inject(Restart(downtime=DOWN_US))


def _roll_out(world: World) -> None:
    """As a Deployment of strategy RollingUpdate does: the new process stands by, the old one
    hands over its Lease."""
    old = world.leader
    new = "operator" if old == SECOND_OPERATOR else SECOND_OPERATOR
    world.inject(Kill(new, restart_after=None))
    world.inject(Start(new))
    world.wait(DOWN_US)
    world.inject(Kill(old, signal="TERM", restart_after=None))


def _lose_leader(world: World) -> None:
    """The other process takes over when the Lease has run out."""
    world.inject(Kill(world.leader, restart_after=None))


def each_way(arms: Sequence[str]) -> Callable[[Steps], Steps]:
    """Register the steps once for each way in which the operator may be replaced."""

    def register(steps: Steps) -> Steps:
        scenario(arms=arms, cases={"killed": _kill, "recreated": _recreate})(steps)
        scenario(
            arms=arms, operators=2, cases={"rolled-out": _roll_out, "leader-lost": _lose_leader}
        )(steps)
        return steps

    return register


def _long(span_us: Micros) -> str:
    return format_duration(6 * span_us)


@each_way(["AW-031", "AW-041", "AW-071"])
def within_the_admission_grace_period(world: World, replace: Replace) -> None:
    """The admission grace period neither starts again nor ends with the operator."""
    grace_us = world.durations.admission_grace_us
    refuse_pods(world)
    aw = AppWrapper.submit(
        world, "job.yaml", retryLimit=0, admissionGracePeriodDuration=_long(grace_us)
    )
    world.until(aw.is_in("Running"))
    world.wait(3 * grace_us)
    replace(world)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@each_way(["AW-032", "AW-042", "AW-072"])
def within_the_warm_up_grace_period(world: World, replace: Replace) -> None:
    """The warm-up grace period neither starts again nor ends with the operator."""
    grace_us = world.durations.warmup_grace_us
    aw = AppWrapper.submit(
        world,
        "job.yaml",
        behaviour="stay pending",
        retryLimit=0,
        warmupGracePeriodDuration=_long(grace_us),
    )
    world.until(aw.is_in("Running"))
    world.wait(3 * grace_us)
    replace(world)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@each_way(["AW-004", "AW-040", "AW-073"])
def within_the_failure_grace_period(world: World, replace: Replace) -> None:
    """The failure grace period neither starts again nor ends with the operator."""
    grace_us = world.durations.failure_grace_us
    aw = AppWrapper.submit(world, "pods.yaml", failureGracePeriodDuration=_long(grace_us))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("Unhealthy"))
    world.wait(3 * grace_us)
    replace(world)
    world.until(aw.has_reset(1))


@each_way(["AW-006", "AW-047", "AW-049", "AW-050", "AW-074"])
def within_the_retry_pause(world: World, replace: Replace) -> None:
    """The retry pause neither starts again nor ends with the operator."""
    pause_us = world.durations.retry_pause_us
    aw = AppWrapper.submit(world, "pods.yaml", retryPausePeriodDuration=_long(pause_us))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.shows("ResourcesDeployed", "False"))
    world.wait(3 * pause_us)
    replace(world)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@each_way(["AW-060", "AW-061", "AW-076"])
def within_the_deletion_delay(world: World, replace: Replace) -> None:
    """The time for debugging a Failed workload neither starts again nor ends with the operator."""
    grace_us = world.durations.failure_grace_us
    aw = AppWrapper.submit(
        world, "pods.yaml", retryLimit=0, deletionOnFailureGracePeriodDuration=_long(grace_us)
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(3 * grace_us)
    replace(world)
    world.until(aw.shows("QuotaReserved", "False"))


@each_way(["AW-007", "AW-011", "AW-012", "AW-077", "INV-10"])
def before_force_is_used(world: World, replace: Replace) -> None:
    """The forceful deletion grace period neither starts again nor ends with the operator."""
    grace_us = world.durations.failure_grace_us
    aw = AppWrapper.submit(
        world,
        "pods.yaml",
        behaviour="run forever, never stop",
        retryLimit=0,
        forcefulDeletionGracePeriodDuration=_long(grace_us),
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(3 * grace_us)
    replace(world)
    world.until(aw.shows("QuotaReserved", "False"))


@each_way(["AW-063", "AW-064", "AW-078"])
def within_the_success_ttl(world: World, replace: Replace) -> None:
    """The SuccessTTL neither starts again nor ends with the operator."""
    durations = world.durations
    ttl_us = min(6 * durations.failure_grace_us, durations.success_ttl_us)
    aw = AppWrapper.submit(
        world,
        "pods.yaml",
        behaviour="run 2s, exit 0",
        successTTLDuration=format_duration(ttl_us),
        forcefulDeletionGracePeriodDuration="5s",  # or the clean-up might outlast the TTL
    )
    world.until(aw.is_in("Succeeded"))
    world.wait(ttl_us // 2)
    replace(world)
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-051", "AW-052", "INV-5"],
    cases={"killed": _kill, "recreated": _recreate},
)
def between_two_failures(world: World, replace: Replace) -> None:
    """Resets that another process has made are counted on, and count against the limit."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=2)
    for resets in (1, 2):
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))
        world.inject(KillPod(PodChoice(of="AppWrapper/a", phase="Running")))
        world.until(aw.has_reset(resets))
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))
        replace(world)
        world.wait(2 * DOWN_US)
    world.inject(KillPod(PodChoice(of="AppWrapper/a", phase="Running")))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-030", "AW-040", "AW-021"])
def down_while_a_pod_fails(world: World) -> None:
    """A pod that failed while the operator was down is noticed when it is back."""
    aw = AppWrapper.submit(world, "pods.yaml", warmupGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=DOWN_US))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-034", "AW-044"])
def down_while_a_job_fails(world: World) -> None:
    """A Job that failed while the operator was down is noticed when it is back."""
    aw = AppWrapper.submit(world, "job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=DOWN_US))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-002", "AW-033", "AW-043", "AW-055"], gpus=4)
def down_while_a_node_is_tagged(world: World) -> None:
    """A node that was tagged EVICT while the operator was down is left when it is back."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=DOWN_US))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-063", "AW-064"])
def down_while_the_workload_completes(world: World) -> None:
    """A workload that completed while the operator was down has succeeded when it is back."""
    aw = AppWrapper.submit(world, "pod.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=DOWN_US))
    world.inject(KillPod(FIRST_POD, exit_code=0))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-096", "MLB-051", "MLB-054"])
def down_while_an_unhealthy_workload_completes(world: World) -> None:
    """A workload that was found unhealthy and completed while the operator was down has
    succeeded."""
    shape = {"parallelism": 1, "completions": 1, "backoffLimit": 1}
    aw = AppWrapper.submit(world, appwrapper(job(shape)), failureGracePeriodDuration="10m")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("Unhealthy"))
    world.inject(Kill(restart_after=60 * SECOND))
    world.until(aw.has_pods(1, "Running"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", phase="Running"), exit_code=0))
    world.until(aw.is_in("Succeeded"))


@scenario(arms=["AW-007", "AW-013", "AW-015", "INV-7"])
def down_while_it_is_deleted(world: World) -> None:
    """An AppWrapper that was deleted while the operator was down is cleaned up when it is back."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=DOWN_US))
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["AW-010", "AW-007", "AW-053"])
def killed_while_its_deletes_are_refused(world: World) -> None:
    """Ordinary deletes that were refused are sent by the next process, and force is not needed."""
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    refused = ApiErrors(verb=("delete",), code=500, times=0)
    world.inject(refused)
    world.inject(DeleteObject("ConfigMap", "a-config"))
    world.until(aw.is_in("Failed"))
    world.wait(2 * DOWN_US)
    world.inject(Kill(restart_after=DOWN_US))
    world.revert(refused)
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-006", "AW-049", "AW-052", "AW-074", "AW-075"],
    only_simulated="elsewhere an operator is configured once",
)
def restarted_with_another_configuration(world: World) -> None:
    """The operator's configuration is the one that the running process was started with."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("ResourcesDeployed", "False"))
    world.wait(world.durations.retry_pause_us // 2)
    world.reconfigure({"faultTolerance": {"resetPause": "20m", "retryLimit": 2}})
    world.inject(Restart(downtime=DOWN_US))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.reconfigure({"faultTolerance": {"resetPause": "5s"}})
    world.inject(Restart(downtime=DOWN_US))
    world.wait(2 * DOWN_US)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(2))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
