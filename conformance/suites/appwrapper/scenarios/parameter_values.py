"""Values of parameters at and beyond the limits of their types."""

from __future__ import annotations

from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, refuse_pods
from conformance.world import World

DURATIONS = {
    "several-units": "0h0m4s3500ms",
    "a-sign": "+7s",
    "zero-without-a-unit": "0",
    "the-largest": "2562047h47m16.854775807s",
    "an-overflow": "9999999h",
    "a-number": "7",
}
"""Texts that Go reads as durations, and texts that it refuses."""

MORE_DURATIONS = {
    **DURATIONS,
    "a-fraction": "0.125m",
    "microseconds": "7500000µs",
    "days": "7d",
    "blanks": "7 s",
    "nothing": "",
    "two-signs": "--7s",
}

CAPPED = {
    "faultTolerance": {
        "gracePeriodCeiling": "12s",
        "admissionGracePeriod": "3s",
        "warmupGracePeriod": "10s",
        "failureGracePeriod": "4s",
        "resetPause": "4s",
        "deletionGracePeriod": "4s",
    }
}


@scenario(
    arms=["AW-070", "AW-073", "AW-074", "AW-076", "AW-077"], config=CAPPED, cases=MORE_DURATIONS
)
def graces_of_a_failure(world: World, text: str) -> None:
    """Each grace period of the retry loop is as long as its annotation says, if it says so."""
    aw = AppWrapper.submit(
        world,
        "pods.yaml",
        behaviour="run forever, never stop",
        retryLimit=1,
        failureGracePeriodDuration=text,
        retryPausePeriodDuration=text,
        forcefulDeletionGracePeriodDuration=text,
        deletionOnFailureGracePeriodDuration=text,
    )
    for end in (aw.has_reset(1), aw.is_in("Failed")):
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))
        world.inject(KillPod(FIRST_POD))
        world.until(end)
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-070", "AW-072", "AW-032"], config=CAPPED, cases=DURATIONS)
def grace_of_a_start(world: World, text: str) -> None:
    """Pods have as long to start as the annotation says, if it says so."""
    aw = AppWrapper.submit(
        world, "pod.yaml", behaviour="stay pending", retryLimit=0, warmupGracePeriodDuration=text
    )
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-070", "AW-071", "AW-031"], config=CAPPED, cases=DURATIONS)
def grace_of_an_admission(world: World, text: str) -> None:
    """Pods have as long to appear as the annotation says, if it says so."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=0, admissionGracePeriodDuration=text)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-063", "AW-078"],
    config={"faultTolerance": {"successTTLCeiling": "12s"}},
    cases=DURATIONS,
)
def ttl_of_a_success(world: World, text: str) -> None:
    """A succeeded workload is kept as long as its annotation requests, if it has one."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 2s, exit 0", successTTLDuration=text)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-052", "AW-075"],
    config={"faultTolerance": {"retryLimit": 2}},
    cases={
        "zero": "0",
        "a-sign": "+1",
        "leading-zeros": "0001",
        "negative": "-1",
        "a-word": "abc",
        "nothing": "",
        "a-fraction": "1.0",
        "an-exponent": "1e0",
        "blanks": " 1",
    },
)
def limit_of_retries(world: World, text: str) -> None:
    """A workload is reset as often as its annotation says, if it names a whole number."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run 1s, exit 1", retryLimit=text)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-051", "AW-070"])
def limit_of_retries_is_the_largest(world: World) -> None:
    """A workload whose limit is the largest number is reset beyond the operator's own limit."""
    aw = AppWrapper.submit(
        world,
        "job.yaml",
        behaviour="run 1s, exit 1",
        retryLimit=2**31 - 1,
        retryPausePeriodDuration="0s",
    )
    world.until(aw.has_reset(world.durations.retry_limit + 3))
    aw.delete()
    world.until(aw.is_gone())
