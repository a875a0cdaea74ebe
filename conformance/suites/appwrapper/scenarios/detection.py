"""The six conditions that make a workload unhealthy, and how long each is borne."""

from __future__ import annotations

from chaos.choice import ObjectChoice, PodChoice
from chaos.faults import (
    Cordon,
    CreateObject,
    DeleteObject,
    DeletePod,
    EvictPod,
    Kill,
    KillPod,
    Pause,
)
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, USERS_CONFIG, refuse_pods
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.kinds import SERVICE


@scenario(arms=["AW-003", "AW-004", "AW-021", "AW-030", "AW-040", "AW-073"])
def failed_pod(world: World) -> None:
    """A failed pod is noticed at once and borne for the failure grace period."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=3))
    world.until(aw.shows("Unhealthy"))
    world.until(aw.has_reset(1))


@scenario(arms=["AW-003", "AW-004", "AW-021", "AW-030"])
def failed_pod_late_in_the_run(world: World) -> None:
    """A pod that fails long after the start is noticed just as well."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(3 * world.durations.warmup_grace_us)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))


@scenario(arms=["AW-046"])
def failed_pod_is_replaced_in_time(world: World) -> None:
    """A Deployment that replaces its failed pod within the grace period needs no reset."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(EvictPod(FIRST_POD))
    world.until(aw.has_pods(2, "Running"))
    world.wait(2 * world.durations.failure_grace_us)


@scenario(arms=["AW-046"])
def falls_ill_again_and_again(world: World) -> None:
    """Each time that a workload falls ill it has the whole grace period to recover."""
    durations = world.durations
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(durations.warmup_grace_us)  # until then, pods that are missing are no sickness
    for _ in range(3):
        world.inject(EvictPod(FIRST_POD))
        world.wait(SECOND)  # it falls ill, and an operator that is killed just then misses that
        world.until(aw.has_pods(2, "Running") & aw.shows("Unhealthy", "False"))
        world.wait(2 * durations.failure_grace_us)


@scenario(arms=["AW-046"])
def failed_pod_is_removed_in_time(world: World) -> None:
    """A failed pod that its StatefulSet replaces within the grace period needs no reset."""
    aw = AppWrapper.submit(world, "stateful_set.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeletePod(FIRST_POD))
    world.until(aw.has_pods(2, "Running"))
    world.wait(2 * world.durations.failure_grace_us)


@scenario(arms=["AW-031", "AW-041", "AW-071"])
def pods_are_not_created(world: World) -> None:
    """A Job whose pods a quota refuses is borne for the admission and the failure grace period."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=1)
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-021"], alone=True)
def pods_vanish_while_their_controller_is_paused(world: World) -> None:
    """A pod that is deleted and not replaced counts as missing after the failure grace period."""
    aw = AppWrapper.submit(world, "deployment.yaml", behaviour="run forever, stop 1h", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Pause("replicaset-controller"))
    world.inject(DeletePod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.revert(Pause("replicaset-controller"))
    world.until(aw.is_in("Running"))


@scenario(arms=["AW-021"])
def replacement_finds_no_node(world: World) -> None:
    """A pod whose replacement cannot run counts as missing after the failure grace period."""
    durations = world.durations
    aw = AppWrapper.submit(world, "deployment.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(durations.warmup_grace_us + 2 * durations.failure_grace_us)
    for node in world.nodes:
        world.inject(Cordon(node))
    world.inject(DeletePod(FIRST_POD))
    world.until(aw.is_in("Failed"))


@scenario(
    arms=["AW-032", "AW-042", "AW-072"],
    cases={
        "pending": "stay pending",
        "init-container": "init stuck",
        "image-pull": "image missing",
    },
)
def pods_do_not_start(world: World, behaviour: str) -> None:
    """Pods that never run are borne for the warm-up and the failure grace period."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour=behaviour, retryLimit=1)
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-032", "AW-042"])
def pods_cannot_be_scheduled(world: World) -> None:
    """Pods that fit no node are borne like pods that do not start."""
    aw = AppWrapper.submit(world, "huge.yaml", retryLimit=0)
    world.until(aw.is_in("Failed"))


@scenario(arms=["INV-9", "MLB-050"])
def pods_start_just_in_time(world: World) -> None:
    """Pods that need most of the warm-up grace period are not held against the workload."""
    warmup_us = world.durations.warmup_grace_us
    aw = AppWrapper.submit(
        world, "job.yaml", behaviour=f"ready-after {warmup_us * 2 // 3 // SECOND}s"
    )
    world.until(aw.shows("PodsReady"))
    world.wait(2 * warmup_us)


@scenario(arms=["AW-022", "AW-034", "AW-044", "AW-003"])
def job_fails(world: World) -> None:
    """A Job that says it has failed leads to a reset without any grace period."""
    aw = AppWrapper.submit(world, "job.yaml", failureGracePeriodDuration="1h", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-034", "AW-044"], only_simulated="the control plane has no training operator")
def pytorch_job_fails(world: World) -> None:
    """A PyTorchJob that says it has failed leads to a reset without any grace period."""
    aw = AppWrapper.submit(world, "pytorch_job.yaml", failureGracePeriodDuration="1h", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running"))


@scenario(arms=["INV-9", "AW-064"])
def job_retries_by_itself(world: World) -> None:
    """Failed pods which a Job replaces by itself do not spoil its success."""
    aw = AppWrapper.submit(world, "retrying_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_pods(1, "Failed"))
    world.until(aw.has_pods(1, "Running"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", phase="Running"), exit_code=0))
    world.until(aw.is_in("Succeeded"))


@scenario(arms=["AW-035", "AW-057"])
def component_is_deleted_before_the_last_is_created(world: World) -> None:
    """A component that a user deletes is missed while others are still being created."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "pods.yaml", admissionGracePeriodDuration="1h")
    world.until(Condition("its Service exists", lambda: bool(aw.owned(SERVICE))))
    world.wait(5 * SECOND)  # An operator that is killed meanwhile knows of it by then.
    world.inject(DeleteObject("Service", "a-service"))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-035", "AW-045", "AW-057", "INV-4"])
def component_is_replaced_by_a_user(world: World) -> None:
    """A component in whose place a user put an object of his own is missed, and that is kept."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=3 * SECOND))
    world.inject(DeleteObject("ConfigMap", "a-config"))
    world.inject(CreateObject(USERS_CONFIG))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


KINDS = {
    "pod": ("pods.yaml", "Pod"),
    "service": ("pods.yaml", "Service"),
    "job": ("job.yaml", "Job"),
    "deployment": ("deployment.yaml", "Deployment"),
    "stateful-set": ("stateful_set.yaml", "StatefulSet"),
    "config-map": ("mixed.yaml", "ConfigMap"),
    "secret": ("mixed.yaml", "Secret"),
    "service-account": ("mixed.yaml", "ServiceAccount"),
    "persistent-volume-claim": ("mixed.yaml", "PersistentVolumeClaim"),
}


@scenario(arms=["AW-035", "AW-045", "AW-057", "AW-003"], cases=KINDS)
def component_is_deleted_by_a_user(world: World, case: tuple[str, str]) -> None:
    """A component that a user deletes makes the AppWrapper Failed at once, without a reset."""
    manifest, kind = case
    aw = AppWrapper.submit(world, manifest, failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeleteObject(kind, ObjectChoice(of="AppWrapper/a")))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-035", "AW-057"],
    cases={"foreground": "Foreground", "background": "Background", "orphan": "Orphan"},
)
def job_is_deleted_by_a_user(world: World, propagation: str) -> None:
    """With any propagation policy of a user's deletion, nothing of the Job is left behind."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeleteObject("Job", "a-job", propagation=propagation))  # type: ignore[arg-type]
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-035", "AW-045", "AW-013"])
def deleted_component_is_held_by_a_finalizer(world: World) -> None:
    """A component that a user deletes counts as deleted even while a finalizer holds it."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeleteObject("ConfigMap", "a-config", finalizer="example.com/held"))
    world.until(aw.is_in("Failed"))
    world.wait(2 * world.durations.forceful_deletion_us)
