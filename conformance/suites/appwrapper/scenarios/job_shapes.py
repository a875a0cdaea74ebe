"""Jobs of every shape: how many pods they make, how they repair themselves, and how they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaos.choice import PodChoice
from chaos.faults import Cordon, DeletePod, EvictPod, KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    bare_pod,
    deployment,
    job,
    pod_spec,
)
from conformance.world import Condition, World
from vocabulary.clock import SECOND
from vocabulary.durations import parse_duration
from vocabulary.kinds import JOB, POD
from vocabulary.objects import get_path
from vocabulary.requests import Patch

MANY = 40
"""More pods than lists are usually cut to."""
EVICTED = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
A_RUNNING_POD = PodChoice(of="AppWrapper/a", phase="Running")
BEYOND_BACK_OFF = "30s"
"""A Job's controller waits 10 s before it replaces a failed pod, which shortened grace periods do
not last."""
EVERY_RUNNING_POD = PodChoice(of="AppWrapper/a", phase="Running", which="all")


def _let_pods_succeed(world: World, aw: AppWrapper, rounds: int) -> None:
    """End all running pods with success, as often as the Job needs them to."""
    some_run = Condition(
        "a pod runs",
        lambda: any(get_path(pod, "status.phase") == "Running" for pod in aw.pods),
    )
    for _ in range(rounds):
        world.until(some_run)
        world.inject(KillPod(EVERY_RUNNING_POD, exit_code=0))
        world.wait(3 * SECOND)


@scenario(
    arms=["AW-064", "AW-096", "INV-9", "MLB-051"],
    cases={
        "more-completions": (3, {"parallelism": 2, "completions": 5}),
        "fewer-completions": (1, {"parallelism": 4, "completions": 2}),
        "no-completions": (1, {"parallelism": 3}),
        "neither": (1, {}),
        "indexed": (2, {"parallelism": 2, "completions": 3, "completionMode": "Indexed"}),
    },
)
def job_does_all_its_work(world: World, case: tuple[int, Mapping[str, Any]]) -> None:
    """A Job succeeds when it is complete, whatever its number of pods and completions."""
    rounds, spec = case
    aw = AppWrapper.submit(world, appwrapper(job(spec)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)
    _let_pods_succeed(world, aw, rounds)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-046", "AW-096", "INV-9", "MLB-051"],
    cases={
        "plain": {"parallelism": 2, "completions": 3, "backoffLimit": 3},
        "indexed": {
            "parallelism": 2,
            "completions": 3,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": 1,
        },
        "pod-failure-policy": {
            "parallelism": 2,
            "completions": 3,
            "backoffLimit": 0,
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [137]}},
                ]
            },
        },
    },
)
def job_repairs_itself(world: World, spec: Mapping[str, Any]) -> None:
    """A Job that replaces a failed pod within the grace period completes without a reset."""
    aw = AppWrapper.submit(world, appwrapper(job(spec)), failureGracePeriodDuration=BEYOND_BACK_OFF)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=0))
    world.until(aw.has_pods(1, "Succeeded") & aw.has_pods(2, "Running"))
    world.inject(KillPod(A_RUNNING_POD, exit_code=137))
    world.until(aw.has_pods(1, "Failed") & aw.has_pods(2, "Running"))
    world.wait(parse_duration(BEYOND_BACK_OFF))
    _let_pods_succeed(world, aw, 1)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-051"])
def surplus_pods_stand_for_no_others(world: World) -> None:
    """Pods that a Job has in excess of what it needs at a time do not make up for a Pod beside it
    that nothing can schedule."""
    unschedulable = bare_pod(pod_spec({"requests": {"cpu": "1000"}}))
    shape = {"parallelism": 1, "completions": 3}
    aw = AppWrapper.submit(world, appwrapper(job(shape), unschedulable), retryLimit=0)
    _let_pods_succeed(world, aw, 2)
    world.until(aw.has_pods(2, "Succeeded") & aw.has_pods(1, "Running"))
    world.until(aw.shows("Unhealthy"))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-096", "INV-9", "MLB-051"])
def evicted_pod_is_replaced_by_its_job(world: World) -> None:
    """A Job that replaces an evicted pod within the grace period completes without a reset."""
    shape = {"parallelism": 2, "completions": 2, "backoffLimit": 2}
    aw = AppWrapper.submit(
        world, appwrapper(job(shape)), failureGracePeriodDuration=BEYOND_BACK_OFF
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(EvictPod(FIRST_POD))
    world.wait(SECOND)
    world.until(aw.has_pods(2, "Running"))
    world.wait(parse_duration(BEYOND_BACK_OFF))
    _let_pods_succeed(world, aw, 1)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-064", "AW-096", "MLB-051"],
    cases={
        "plain": {"parallelism": 2, "completions": 2},
        "indexed": {"parallelism": 2, "completions": 2, "completionMode": "Indexed"},
        "in-turn": {"parallelism": 1, "completions": 2},
    },
)
def succeeded_pod_is_deleted_before_its_job_is_complete(
    world: World, spec: Mapping[str, Any]
) -> None:
    """A Job that is complete has succeeded, though a pod that did its part was deleted."""
    aw = AppWrapper.submit(world, appwrapper(job(spec)), failureGracePeriodDuration="10m")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=0))
    counted = Condition(
        "its Job has counted the pod",
        lambda: get_path(world.get(JOB, "a-job") or {}, "status.succeeded", 0) == 1,
    )
    world.until(counted & aw.has_pods(1, "Succeeded"))
    world.inject(DeletePod(PodChoice(of="AppWrapper/a", phase="Succeeded")))
    world.wait(SECOND)
    _let_pods_succeed(world, aw, 1)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-064", "AW-096", "MLB-051"])
def job_succeeds_by_its_success_policy(world: World) -> None:
    """A Job whose success policy needs only some of its pods has succeeded when it says so."""
    shape = {
        "parallelism": 3,
        "completions": 3,
        "completionMode": "Indexed",
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
    }
    aw = AppWrapper.submit(world, appwrapper(job(shape)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=0))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-030", "AW-040", "AW-021"],
    only_simulated="a kubelet evicts so only where memory or disk of its node runs out",
)
def pod_is_evicted_by_its_kubelet(world: World) -> None:
    """A pod that its kubelet evicts stays behind as Failed, and counts as a failed pod."""
    aw = AppWrapper.submit(
        world, appwrapper(bare_pod(name="a-0"), bare_pod(name="a-1")), retryLimit=1
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    status = {"phase": "Failed", "reason": "Evicted", "conditions": [EVICTED]}
    world.call(
        Patch(POD, world.namespace, "a-0", {"status": status}, subresource="status"), "chaos"
    )
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-064", "INV-6", "MLB-051"])
def finished_job_is_collected_by_its_own_ttl(world: World) -> None:
    """A Job that its own TTL collects after its success does not make the AppWrapper fail."""
    aw = AppWrapper.submit(world, appwrapper(job({"ttlSecondsAfterFinished": 3})))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    _let_pods_succeed(world, aw, 1)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-035", "AW-057"])
def finished_job_is_collected_while_another_component_runs(world: World) -> None:
    """A component that a TTL deletes before the workload is done is missing, even if its user set
    it."""
    aw = AppWrapper.submit(
        world, appwrapper(job({"ttlSecondsAfterFinished": 3}), bare_pod(name="a-0"))
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", owner="a-job"), exit_code=0))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-031", "AW-041"])
def job_is_submitted_suspended(world: World) -> None:
    """A Job that its owner leaves suspended makes no pods, and those are missed."""
    aw = AppWrapper.submit(world, appwrapper(job({"suspend": True})), retryLimit=1)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-021"], cases={"for-good": False, "for-a-moment": True})
def job_is_suspended_by_its_owner(world: World, resumes: bool) -> None:
    """The pods of a Job that its owner suspends are missed after the failure grace period."""
    aw = AppWrapper.submit(
        world, appwrapper(job({"parallelism": 2, "completions": 2})), retryLimit=1
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    world.patch(JOB, "a-job", {"spec": {"suspend": True}})
    if resumes:
        world.wait(world.durations.failure_grace_us // 3)
        world.patch(JOB, "a-job", {"spec": {"suspend": False}})
        world.until(aw.has_pods(2, "Running"))
        world.wait(2 * world.durations.failure_grace_us)
    else:
        world.until(aw.has_reset(1))
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-014", "AW-020", "AW-021", "INV-1"])
def one_of_many_pods_is_not_replaced(world: World) -> None:
    """Of many pods each counts: none is missed while all run, and one is when it goes."""
    durations = world.durations
    aw = AppWrapper.submit(world, appwrapper(deployment({"replicas": MANY})), retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(durations.warmup_grace_us + 2 * durations.failure_grace_us)
    for node in world.nodes:
        world.inject(Cordon(node))
    world.inject(DeletePod(PodChoice(of="AppWrapper/a", which="last")))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))
