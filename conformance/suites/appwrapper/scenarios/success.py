"""Success: the quota goes back at once, the pods stay for their logs until the TTL."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import DelayWatch, DeleteObject, HoldObject, KillPod, StickPod
from conformance.breaking import during
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.world import World
from vocabulary.clock import SECOND

ARMS = ["AW-063", "AW-064", "AW-078", "MLB-051", "MLB-052", "MLB-054"]
WORKER = "training.kubeflow.org/replica-type=worker"
MASTER = "training.kubeflow.org/replica-type=master"


@scenario(arms=ARMS, cases={"pod": "pod.yaml", "job": "job.yaml"})
def kept_until_the_ttl(world: World, manifest: str) -> None:
    """A workload that succeeds releases its quota, and is deleted when its TTL has passed."""
    aw = AppWrapper.submit(world, manifest, behaviour="run 5s, exit 0")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-063", "AW-064", "AW-078"],
    cases={
        "shorter": "4s",
        "zero": "0s",
        "negative": "-4s",
        "malformed": "7d",
        "above-the-operators": "1000h",
    },
)
def ttl_follows_its_annotation(world: World, ttl: str) -> None:
    """An annotation may shorten the TTL; one that makes no sense leaves the operator's."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 5s, exit 0", successTTLDuration=ttl)
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-063", "AW-078"],
    config={"faultTolerance": {"successTTLCeiling": "10s"}},
)
def ttl_is_bounded_by_the_operators(world: World) -> None:
    """An annotation cannot prolong the TTL beyond what the operator is configured with."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 2s, exit 0", successTTLDuration="1h")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-063", "MLB-052"])
def ttl_counts_from_success(world: World) -> None:
    """A workload that ran longer than its TTL is still kept for the TTL after its success."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 9s, exit 0", successTTLDuration="4s")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-064", "AW-078", "AW-080"],
    config={
        "faultTolerance": {
            "successTTLCeiling": "20s",
            "gracePeriodCeiling": "15s",
            "admissionGracePeriod": "3s",
            "warmupGracePeriod": "5s",
            "failureGracePeriod": "3s",
            "resetPause": "3s",
            "deletionGracePeriod": "6s",
        }
    },
)
def ttl_is_no_grace_period(world: World) -> None:
    """The cap on grace periods does not shorten the TTL."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 2s, exit 0", successTTLDuration="18s")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-064", "INV-6"])
def deletion_by_a_user_changes_nothing(world: World) -> None:
    """Once it has succeeded, a component that a user deletes does not make it fail, though its own
    writes are seen late."""
    with during(world, DelayWatch(kind="AppWrapper", by=SECOND)):
        aw = AppWrapper.submit(world, "job.yaml", behaviour="run 2s, exit 0")
        world.until(aw.is_in("Succeeded"))
        world.inject(DeleteObject("Job", "a-job", propagation="Background"))
        world.wait(2 * SECOND)
    aw.wait_for_its_ttl()


@scenario(arms=["AW-064", "MLB-054", "MLB-073"])
def with_everything_around_it(world: World) -> None:
    """Configuration, storage and accounts of a workload live as long as its pods do."""
    aw = AppWrapper.submit(world, "mixed.yaml", behaviour="run 2s, exit 0")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["INV-5", "AW-051", "MLB-051"])
def succeeds_after_a_reset(world: World) -> None:
    """A workload that was reset and then succeeds still tells how often it was reset."""
    aw = AppWrapper.submit(world, "pod.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod("a-0"))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod("a-0", exit_code=0))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-012", "AW-063"])
def held_after_success(world: World) -> None:
    """Leftovers of a succeeded workload are deleted by force in the end, like others."""
    aw = AppWrapper.submit(world, "mixed.yaml", behaviour="run 2s, exit 0")
    world.until(aw.is_in("Succeeded"))
    hold = HoldObject("ConfigMap", "a-config")
    world.inject(hold)
    aw.wait_for_its_ttl(aw.shows("DeletingResources"))
    world.wait(2 * world.durations.forceful_deletion_us)
    world.revert(hold)
    aw.wait_for_its_ttl()


@scenario(arms=["MLB-044", "INV-6", "MLB-051"])
def suspended_after_success(world: World) -> None:
    """Suspending a workload that has succeeded changes nothing any more."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run 2s, exit 0")
    world.until(aw.is_in("Succeeded"))
    aw.suspend()
    world.wait(2 * SECOND)
    aw.wait_for_its_ttl()
    aw.resume()
    world.wait(2 * SECOND)


@scenario(arms=["MLB-048", "INV-9"])
def nothing_to_run_is_no_success(world: World) -> None:
    """An AppWrapper that expects no pods does not succeed by that alone."""
    aw = AppWrapper.submit(world, "idle_deployment.yaml")
    world.until(aw.is_in("Running"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["MLB-041", "MLB-051", "MLB-054"])
def one_pod_ends_before_the_other(world: World) -> None:
    """A workload has succeeded when its last pod has, not when its first one has."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(10 * SECOND)  # or an operator might not have heard yet of the other one
    world.inject(KillPod("a-0", exit_code=0))
    world.wait(10 * SECOND)
    world.inject(KillPod("a-1", exit_code=0))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-096", "MLB-041"],
    cases={"more-than-pods": "many_completions_job.yaml", "none": "work_queue_job.yaml"},
)
def job_of_other_completions(world: World, manifest: str) -> None:
    """A Job succeeds when it says so, be its completions more than its pods or not named."""
    aw = AppWrapper.submit(world, manifest, behaviour="run 5s, exit 0")
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(arms=["AW-096", "AW-046"])
def job_replaced_a_pod_itself(world: World) -> None:
    """A Job that completes after its own retry makes the AppWrapper succeed."""
    aw = AppWrapper.submit(world, "retrying_job.yaml", behaviour="run 10s, exit 0")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-096", "INV-9", "MLB-051"],
    cases={"running": "Running", "all": "All"},
    only_simulated="the control plane has no training operator",
)
def pytorch_job_cleans_up_after_itself(world: World, policy: str) -> None:
    """A PyTorchJob whose workers are deleted as its master succeeds has succeeded."""
    manifest = AppWrapper.manifest(world, "pytorch_job.yaml")
    template = manifest["spec"]["components"][0]["template"]
    template["spec"]["runPolicy"] = {"cleanPodPolicy": policy}
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", labels=MASTER), exit_code=0))
    world.until(aw.is_in("Succeeded"))


@scenario(
    arms=["AW-021", "AW-041", "INV-9"], only_simulated="the control plane has no training operator"
)
def pytorch_job_cannot_clean_up(world: World) -> None:
    """A worker that does not stop after its job has succeeded fails the workload in the end."""
    manifest = AppWrapper.manifest(world, "pytorch_job.yaml")
    template = manifest["spec"]["components"][0]["template"]
    template["spec"]["runPolicy"] = {"cleanPodPolicy": "All"}
    aw = AppWrapper.submit(world, manifest, retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(StickPod(PodChoice(of="AppWrapper/a", labels=WORKER)))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", labels=MASTER), exit_code=0))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-032", "AW-042"], only_simulated="the control plane has no training operator")
def pytorch_job_completes_while_its_worker_is_pending(world: World) -> None:
    """A pod that a complete job leaves Pending is no success, and fails by the warm-up grace."""
    aw = AppWrapper.submit(world, "pytorch_job_with_an_idle_worker.yaml", retryLimit=0)
    world.until(aw.is_in("Failed"))
