"""Parameters: the operator's, the annotations over them, and the cap over those."""

from __future__ import annotations

from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, refuse_pods
from conformance.world import World

CAPPED = {
    "faultTolerance": {
        "gracePeriodCeiling": "10s",
        "admissionGracePeriod": "3s",
        "warmupGracePeriod": "4s",
        "failureGracePeriod": "2s",
        "resetPause": "2s",
        "deletionGracePeriod": "4s",
    }
}


@scenario(
    arms=["AW-004", "AW-040", "AW-070", "AW-073"],
    cases={"longer": "7s", "zero": "0s", "negative": "-1m", "malformed": "1e3s", "spaced": " 5s"},
)
def failure_grace_period(world: World, grace: str) -> None:
    """A failed pod is borne as long as the annotation says, or the operator if it says nonsense."""
    aw = AppWrapper.submit(world, "pod.yaml", failureGracePeriodDuration=grace, retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))


@scenario(
    arms=["AW-032", "AW-070", "AW-072"],
    cases={"longer": "8s", "zero": "0s", "negative": "-1m", "malformed": "10"},
)
def warmup_grace_period(world: World, grace: str) -> None:
    """Pods that do not start are borne as long as the annotation says."""
    aw = AppWrapper.submit(
        world, "pod.yaml", behaviour="stay pending", warmupGracePeriodDuration=grace, retryLimit=0
    )
    world.until(aw.is_in("Failed"))


@scenario(
    arms=["AW-031", "AW-041", "AW-070", "AW-071"],
    cases={"longer": "6s", "zero": "0s", "negative": "-1m", "malformed": "1 m"},
)
def admission_grace_period(world: World, grace: str) -> None:
    """Pods that are not created are borne as long as the annotation says."""
    refuse_pods(world)
    aw = AppWrapper.submit(
        world, "job.yaml", behaviour="run forever", admissionGracePeriodDuration=grace, retryLimit=0
    )
    world.until(aw.is_in("Failed"))


STARTUP = {
    "faultTolerance": {
        "admissionGracePeriod": "12s",
        "warmupGracePeriod": "16s",
        "failureGracePeriod": "6s",
    }
}


@scenario(arms=["AW-031", "AW-041", "AW-071"], config=STARTUP)
def admission_grace_period_of_the_operator(world: World) -> None:
    """Pods that are not created are borne as long as the operator's configuration says."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=0)
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-032", "AW-042", "AW-072"], config=STARTUP)
def warmup_grace_period_of_the_operator(world: World) -> None:
    """Pods that do not start are borne as long as the operator's configuration says."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="stay pending", retryLimit=0)
    world.until(aw.is_in("Failed"))


@scenario(
    arms=["AW-080"],
    config=CAPPED,
    cases={
        "failure-grace": "failureGracePeriodDuration",
        "retry-pause": "retryPausePeriodDuration",
        "deletion-on-failure": "deletionOnFailureGracePeriodDuration",
        "forceful-deletion": "forcefulDeletionGracePeriodDuration",
        "warmup-grace": "warmupGracePeriodDuration",
        "admission-grace": "admissionGracePeriodDuration",
    },
)
def cap_on_annotations(world: World, parameter: str) -> None:
    """No annotation can prolong a grace period beyond the administrator's maximum."""
    if parameter == "admissionGracePeriodDuration":
        refuse_pods(world)
    pending = parameter == "warmupGracePeriodDuration"
    manifest = "job.yaml" if parameter == "admissionGracePeriodDuration" else "pods.yaml"
    aw = AppWrapper.submit(
        world,
        manifest,
        behaviour="stay pending" if pending else "run forever, never stop",
        retryLimit=1,
        **{parameter: "100h"},
    )
    for resets in (1, 2):
        if manifest == "pods.yaml" and not pending:
            world.until(aw.is_in("Running") & aw.shows("PodsReady"))
            world.inject(KillPod(FIRST_POD))
        world.until(aw.has_reset(1) if resets == 1 else aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-079"],
    only_simulated="waits for a day of the cluster's own time",
)
def default_cap_is_a_day(world: World) -> None:
    """By default no grace period is longer than 24 hours."""
    aw = AppWrapper.submit(
        world, "pods.yaml", retryLimit=0, deletionOnFailureGracePeriodDuration="48h"
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"), 48 * 3600 * 1_000_000)


@scenario(arms=["AW-070", "AW-073"])
def annotation_is_edited_while_it_counts(world: World) -> None:
    """An annotation that is edited while its timer runs takes effect on that timer."""
    aw = AppWrapper.submit(world, "pod.yaml", failureGracePeriodDuration="1h", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("Unhealthy"))
    aw.annotate(failureGracePeriodDuration="2s")
    world.until(aw.has_reset(1))
