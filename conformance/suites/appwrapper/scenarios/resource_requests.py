"""Resources that pods ask for: in which container, as which quantity."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.faults import KillPod, LabelNode
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, container, job, pod_spec
from conformance.world import World

GPU = "nvidia.com/gpu"
ONE_GPU = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
CPU_HEALTH = "example.com/cpu-health"
CPU_TAINTS = {
    "autopilot": {
        "resourceTaints": {"cpu": [{"key": CPU_HEALTH, "value": "bad", "effect": "NoExecute"}]}
    }
}


@scenario(arms=["AW-001", "AW-002", "AW-033", "AW-087", "AW-089"], gpus=2)
def gpu_of_a_sidecar(world: World) -> None:
    """A pod whose sidecar asks for a GPU is steered, and leaves an evicted node."""
    sidecar = container(ONE_GPU, name="sidecar", restartPolicy="Always")
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(initContainers=[sidecar]))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["MLB-041", "MLB-051", "INV-9"])
def sidecar_ends_with_its_pod(world: World) -> None:
    """A pod with a sidecar succeeds when its main container has."""
    sidecar = container(name="sidecar", restartPolicy="Always")
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(initContainers=[sidecar]))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=0))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()


@scenario(
    arms=["AW-002", "AW-033", "AW-085", "AW-087", "AW-089"],
    config=CPU_TAINTS,
    cases={"thousandths": "250m", "a-decimal": "0.25", "an-exponent": "25e-2", "millionths": "1u"},
)
def fraction_of_a_resource(world: World, quantity: str) -> None:
    """A pod that asks for a fraction of a monitored resource is steered, and leaves its node."""
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec({"requests": {"cpu": quantity}}))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(LabelNode(ITS_NODE, CPU_HEALTH, "bad"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-087", "AW-033"], gpus=2)
def gpu_in_thousandths(world: World) -> None:
    """A whole GPU may be written in thousandths."""
    resources = {"requests": {GPU: "1000m"}, "limits": {GPU: "1000m"}}
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(resources))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["AW-002", "AW-033", "AW-087"],
    gpus=2,
    cases={"cpu": {"cpu": "100m"}, "memory": {"memory": "16Mi"}, "nothing": {}},
)
def gpu_is_a_limit_beside_requests(world: World, requests: Mapping[str, str]) -> None:
    """A GPU that only the limits name is asked for, though the container requests other things."""
    resources = {"requests": requests, "limits": {GPU: "1"}}
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(resources))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["AW-088", "AW-091"],
    gpus=2,
    cases={
        "a-decimal": "0.0",
        "thousandths": "0m",
        "an-exponent": "0e3",
        "of-two-to-the-ten": "0Ki",
    },
)
def no_gpu_in_other_words(world: World, quantity: str) -> None:
    """A request of nothing, however it is written, is none."""
    resources = {"requests": {GPU: quantity}, "limits": {GPU: quantity}}
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(resources))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-087"], gpus=2)
def gpu_of_an_init_container_that_has_ended(world: World) -> None:
    """A pod whose GPU was its init container's is steered; whether it is moved is left open."""
    init = container(ONE_GPU, name="prepare")
    aw = AppWrapper.submit(world, appwrapper(job({}, pod_spec(initContainers=[init]))))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.wait(3 * world.durations.failure_grace_us)
