"""Failed pods beside others: replaced by their controller, on a bad node, or while others wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaos.choice import NodeChoice, PodChoice
from chaos.faults import Cordon, KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE
from conformance.suites.appwrapper.scenarios.job_shapes import BEYOND_BACK_OFF, EVICTED
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    bare_pod,
    container,
    deployment,
    job,
    pod_spec,
)
from conformance.world import World
from vocabulary.durations import parse_duration
from vocabulary.kinds import POD
from vocabulary.objects import name_of
from vocabulary.requests import Patch

FAILED_POD = PodChoice(of="AppWrapper/a", phase="Failed")
UNSCHEDULABLE = pod_spec({"requests": {"cpu": "1000"}})
GPU = pod_spec({"limits": {"nvidia.com/gpu": "1"}})
BY_ITS_KUBELET = "a kubelet evicts so only where memory or disk of its node runs out"


def _evict_by_kubelet(world: World, pod: str) -> None:
    """Let a kubelet evict a pod: it is Failed, and the object stays."""
    status = {"phase": "Failed", "reason": "Evicted", "conditions": [EVICTED]}
    world.call(Patch(POD, world.namespace, pod, {"status": status}, subresource="status"), "chaos")


@scenario(
    arms=["AW-030", "AW-040", "AW-021"],
    cases={
        "pod": bare_pod(UNSCHEDULABLE, name="a-1"),
        "job": job({"parallelism": 2, "completions": 2}, UNSCHEDULABLE),
        "deployment": deployment(
            {"replicas": 1}, {"containers": [container({"requests": {"cpu": "1000"}})]}
        ),
    },
)
def pod_fails_while_others_are_pending(world: World, waiting: Mapping[str, Any]) -> None:
    """A pod that fails is not borne longer because other pods of the workload still wait."""
    manifest = appwrapper(bare_pod(name="a-0"), waiting)
    aw = AppWrapper.submit(world, manifest, warmupGracePeriodDuration="1h", retryLimit=0)
    world.until(aw.has_pods(1, "Running"))
    world.inject(KillPod("a-0", exit_code=1))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-030", "AW-040", "AW-021"], only_simulated=BY_ITS_KUBELET)
def evicted_pod_stays_beside_its_replacement(world: World) -> None:
    """An evicted pod that stays as Failed counts, though its Deployment has replaced it."""
    aw = AppWrapper.submit(world, appwrapper(deployment({"replicas": 2})), retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    _evict_by_kubelet(world, name_of(aw.pods[0]))
    world.until(aw.has_pods(2, "Running"))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-046", "AW-051", "INV-5"], only_simulated=BY_ITS_KUBELET)
def second_attempt_recovers(world: World) -> None:
    """A workload that recovers within the grace period keeps the count of its earlier resets."""
    aw = AppWrapper.submit(world, appwrapper(deployment({"replicas": 2})), retryLimit=2)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    _evict_by_kubelet(world, name_of(aw.pods[0]))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    evicted = name_of(aw.pods[0])
    _evict_by_kubelet(world, evicted)
    world.until(aw.shows("Unhealthy"))
    world.delete(POD, evicted)
    world.until(aw.shows("Unhealthy", "False"))
    world.wait(2 * world.durations.failure_grace_us)
    _evict_by_kubelet(world, name_of(aw.pods[0]))
    world.until(aw.has_reset(2))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-030", "AW-040", "AW-051"], gpus=1)
def node_of_a_failed_pod_is_evicted(world: World) -> None:
    """A node tagged EVICT on which only a failed pod is left neither hastens nor hides a reset."""
    aw = AppWrapper.submit(world, "gpu_pods.yaml", failureGracePeriodDuration="30s", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod("a-0"))
    world.until(aw.shows("Unhealthy"))
    evict = AutopilotLabel(NodeChoice(hosting=FAILED_POD), "EVICT")
    world.inject(evict)
    world.until(aw.has_reset(1))
    world.revert(evict)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-092", "INV-9"], gpus=1)
def node_of_a_replaced_pod_is_evicted(world: World) -> None:
    """A workload stays where it runs when the node that its failed pod left is tagged EVICT."""
    workload = appwrapper(job({"backoffLimit": 2}, GPU))
    aw = AppWrapper.submit(world, workload, failureGracePeriodDuration=BEYOND_BACK_OFF)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    cordon = Cordon(ITS_NODE)
    world.inject(cordon)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_pods(1, "Failed") & aw.has_pods(1, "Running"))
    world.inject(AutopilotLabel(NodeChoice(hosting=FAILED_POD), "EVICT"))
    world.wait(parse_duration(BEYOND_BACK_OFF))
