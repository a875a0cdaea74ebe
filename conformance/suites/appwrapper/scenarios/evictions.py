"""Nodes that Autopilot tags under a running workload: who leaves, who stays, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chaos.choice import NodeChoice, PodChoice
from chaos.faults import KillPod, LabelNode, Taint
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import AUTOPILOT_KEY
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.objects import Object

REAL_TAINTS = {"autopilot": {"source": "taints"}}
OWN_KEY = "example.com/gpu-state"
OWN_LABELS = {
    "autopilot": {
        "resourceTaints": {
            "nvidia.com/gpu": [
                {"key": OWN_KEY, "value": "broken", "effect": "NoExecute"},
                {"key": OWN_KEY, "value": "suspect", "effect": "NoSchedule"},
            ]
        }
    }
}
TWO_RESOURCES = {
    "autopilot": {
        "resourceTaints": {
            "nvidia.com/gpu": [{"key": AUTOPILOT_KEY, "value": "EVICT", "effect": "NoExecute"}],
            "example.com/foo": [{"key": OWN_KEY, "value": "broken", "effect": "NoExecute"}],
        }
    }
}


@scenario(arms=["AW-085", "AW-043", "AW-055", "AW-093"], config=OWN_LABELS, gpus=4)
def labels_are_the_administrators_own(world: World) -> None:
    """Where other labels are configured, those are obeyed, and the usual ones mean nothing."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.wait(5 * SECOND)
    world.inject(LabelNode(ITS_NODE, OWN_KEY, "broken"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-056"], config=REAL_TAINTS, gpus=4)
def taint_is_final_at_the_limit(world: World) -> None:
    """When no retry is left, a taint that drives a workload out is final."""
    aw = AppWrapper.submit(world, "tolerant_gpu_job.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)  # or what preceded could be the reason, too
    world.inject(Taint(ITS_NODE, AUTOPILOT_KEY, "EVICT", "NoExecute"))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-090"], config=REAL_TAINTS, gpus=4)
def taint_closes_a_node_to_new_pods(world: World) -> None:
    """A running workload stays on a node that a taint only closes to new pods."""
    aw = AppWrapper.submit(world, "tolerant_gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Taint(ITS_NODE, AUTOPILOT_KEY, "ERR", "NoSchedule"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-091"], gpus=4)
def pod_without_gpu_is_on_the_evicted_node(world: World) -> None:
    """A workload stays if the evicted node hosts only those of its pods that use no GPU."""
    aw = AppWrapper.submit(
        world, _placed(AppWrapper.manifest(world, "gpu_and_plain.yaml"), world.nodes)
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(world.nodes[1], "EVICT"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-092"], gpus=1)
def pods_that_have_ended_are_not_moved(world: World) -> None:
    """A node whose pod has ended can be evicted without harm to the pod that still runs."""
    aw = AppWrapper.submit(world, "gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD, exit_code=0))
    world.until(aw.has_pods(1, "Succeeded"))
    ended = PodChoice(of="AppWrapper/a", phase="Succeeded")
    world.inject(AutopilotLabel(NodeChoice(hosting=ended), "EVICT"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-002", "AW-033", "AW-043"], gpus=4)
def closed_node_is_evicted(world: World) -> None:
    """A running workload leaves a node that was only closed to new pods when it is evicted."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "ERR"))
    world.wait(5 * SECOND)
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-091"], config=TWO_RESOURCES, gpus=4)
def node_is_evicted_for_another_resource(world: World) -> None:
    """A workload stays on a node that is tagged for a resource which its pods do not use."""
    aw = AppWrapper.submit(world, "gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(LabelNode(ITS_NODE, OWN_KEY, "broken"))
    world.wait(3 * world.durations.failure_grace_us)


def _placed(manifest: Object, nodes: Sequence[str]) -> dict[str, Any]:
    """The AppWrapper of bare pods, each bound to a node of its own."""
    components = []
    for component, node in zip(manifest["spec"]["components"], nodes, strict=False):
        template = component["template"]
        spec = {**template["spec"], "nodeSelector": {"kubernetes.io/hostname": node}}
        components.append({**component, "template": {**template, "spec": spec}})
    return {**manifest, "spec": {**manifest["spec"], "components": components}}
