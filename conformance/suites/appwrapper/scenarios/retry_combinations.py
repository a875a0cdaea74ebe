"""Failures that come together, and attempts after the first that do not even run."""

from __future__ import annotations

from chaos.choice import ObjectChoice, PodChoice
from chaos.faults import BreakWatch, Cordon, DelayWatch, DeleteObject, KillPod
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import (
    FIRST_POD,
    ITS_NODE,
    allow_pods,
    refuse_pods,
)
from conformance.world import World
from vocabulary.clock import MILLISECOND, MINUTE, SECOND, Micros

RUNNING_POD = PodChoice(of="AppWrapper/a", phase="Running")
EVICTED = AutopilotLabel(ITS_NODE, "EVICT")


def _run(world: World, aw: AppWrapper) -> None:
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


def _fail(world: World, aw: AppWrapper, resets: int) -> None:
    """Let a pod fail, and see the reset that makes so many."""
    _run(world, aw)
    world.inject(KillPod(RUNNING_POD))
    world.until(aw.has_reset(resets))


def _evict(world: World, aw: AppWrapper) -> None:
    """Let the workload leave a node, and the node be well again."""
    _run(world, aw)
    world.inject(EVICTED)
    world.until(aw.is_in("Resetting"))
    _run(world, aw)
    world.revert(EVICTED)


@scenario(arms=["AW-051", "AW-052", "AW-055", "AW-056", "INV-5"], gpus=4)
def evictions_between_failures(world: World) -> None:
    """Evictions neither use up retries nor give any back, and at the limit one is final."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", retryLimit=2)
    _evict(world, aw)
    _fail(world, aw, 1)
    _evict(world, aw)
    _evict(world, aw)
    _fail(world, aw, 2)
    _run(world, aw)
    world.inject(EVICTED)
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-040", "AW-051", "AW-073", "INV-5"])
def two_pods_fail_in_one_grace_period(world: World) -> None:
    """The grace period counts from the first of two failures, and both are one reset."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=1)
    _run(world, aw)
    world.inject(KillPod("a-0"))
    world.until(aw.shows("Unhealthy"))
    world.wait(world.durations.failure_grace_us * 2 // 3)
    world.inject(KillPod("a-1"))
    world.until(aw.has_reset(1))
    _run(world, aw)


@scenario(arms=["AW-032", "AW-051", "AW-052"])
def second_attempt_does_not_run(world: World) -> None:
    """An attempt that ends before its pods ran counts like any other."""
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=2)
    _run(world, aw)
    for node in world.nodes:
        world.inject(Cordon(node))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(2))
    for node in world.nodes:
        world.revert(Cordon(node))
    _run(world, aw)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-051", "AW-052", "AW-053", "MLB-049"])
def second_attempt_is_refused(world: World) -> None:
    """An attempt whose components are rejected is retried and counted like any other."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=2)
    _run(world, aw)
    refuse_pods(world)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(2))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-047", "INV-5", "MLB-049"])
def second_attempt_is_refused_for_a_while(world: World) -> None:
    """An attempt that is let through in time is not held against the workload."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=1, admissionGracePeriodDuration="30s")
    _run(world, aw)
    refuse_pods(world)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Resuming"))
    world.wait(5 * SECOND)
    allow_pods(world)
    _run(world, aw)


@scenario(arms=["AW-054", "AW-051", "INV-5"])
def suspended_while_a_second_attempt_is_refused(world: World) -> None:
    """Suspended while it waits to be created again, it keeps its count and starts over."""
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=1)
    _run(world, aw)
    refuse_pods(world)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Resuming"))
    world.wait(SECOND)
    aw.suspend()
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))
    allow_pods(world)
    aw.resume()
    _run(world, aw)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-035", "AW-045", "AW-057"], cases={"pod": "Pod", "service": "Service"})
def component_is_deleted_within_the_failure_grace_period(world: World, kind: str) -> None:
    """A component that a user deletes is not borne because a pod that failed is."""
    aw = AppWrapper.submit(world, "pods.yaml", failureGracePeriodDuration="1h")
    _run(world, aw)
    world.inject(KillPod("a-1"))
    world.until(aw.shows("Unhealthy"))
    world.wait(SECOND)
    world.inject(DeleteObject(kind, ObjectChoice(of="AppWrapper/a")))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-035", "AW-057"])
def component_of_a_second_attempt_is_deleted(world: World) -> None:
    """A component that a user deletes is missed in every attempt, not only in the first."""
    aw = AppWrapper.submit(world, "mixed.yaml", failureGracePeriodDuration="30s")
    _fail(world, aw, 1)
    _run(world, aw)
    world.inject(DeleteObject("ConfigMap", "a-config"))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-035", "AW-057"])
def component_is_deleted_as_soon_as_it_was_created(world: World) -> None:
    """A component that was created late is missed like those before it, though its operator's own
    writes are seen late."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "pods.yaml", admissionGracePeriodDuration="30s")
    world.until(aw.is_in("Resuming"))
    world.wait(5 * SECOND)
    with during(world, DelayWatch(kind="AppWrapper", by=20 * MILLISECOND)):
        allow_pods(world)
        world.until(aw.is_in("Running"))
        world.inject(DeleteObject("Pod", "a-1"))
        world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-035", "AW-057"],
    cases={"watched": ("mixed.yaml", "ConfigMap", "a-config"), "pod": ("pods.yaml", "Pod", "a-0")},
)
def component_is_deleted_behind_a_broken_watch(world: World, case: tuple[str, str, str]) -> None:
    """A deletion missed by a watch is noticed when the operator has listed again."""
    manifest, kind, name = case
    aw = AppWrapper.submit(world, manifest)
    _run(world, aw)
    world.inject(BreakWatch(gap=5 * SECOND))
    world.inject(DeleteObject(kind, name))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-035", "AW-057"])
def component_comes_and_goes_behind_a_broken_watch(world: World) -> None:
    """A pod whose creation and deletion were missed by a watch is noticed as missing."""
    world.inject(BreakWatch(kind="Pod", gap=MINUTE))
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.has_pods(2, "Running"))
    world.wait(10 * SECOND)
    world.inject(DeleteObject("Pod", "a-0"))
    world.until(aw.is_in("Failed"))


@scenario(
    arms=["AW-003", "AW-022", "AW-035", "AW-057"],
    cases={"at-once": 0, "after-a-second": SECOND, "after-two-minutes": 2 * MINUTE},
)
def component_of_an_unknown_kind_is_deleted(world: World, after_us: Micros) -> None:
    """A component of a kind that the operator has never heard of is missed as soon as others."""
    world.install("widget_crd.yaml")
    aw = AppWrapper.submit(world, "exotic.yaml")
    _run(world, aw)
    world.wait(after_us)
    world.inject(DeleteObject("assay.dev/v1/Widget", "a-widget"))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))
