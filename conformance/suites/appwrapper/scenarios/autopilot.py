"""Autopilot: nodes whose GPUs are unhealthy are avoided, and left."""

from __future__ import annotations

from chaos.choice import NodeChoice, PodChoice
from chaos.faults import KillPod, LabelNode, Taint
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import AUTOPILOT_KEY
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.durations import format_duration

FOO_TAINTS = {
    "autopilot": {
        "resourceTaints": {
            "example.com/foo": [
                {"key": "example.com/foo-health", "value": "bad", "effect": "NoExecute"},
                {"key": "example.com/foo-health", "value": "poor", "effect": "NoSchedule"},
                {"key": "example.com/foo-health", "value": "fair", "effect": "PreferNoSchedule"},
            ]
        }
    }
}


@scenario(
    arms=["AW-001", "AW-086", "AW-087", "AW-089"], gpus=4, cases={"err": "ERR", "evict": "EVICT"}
)
def tagged_node_is_avoided(world: World, value: str) -> None:
    """Pods that request a GPU are not placed on a node that Autopilot has tagged."""
    world.inject(AutopilotLabel(world.nodes[0], value))
    aw = AppWrapper.submit(world, "gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(5 * SECOND)


@scenario(arms=["AW-002", "AW-033", "AW-043", "AW-055", "AW-086", "AW-093"], gpus=4, nodes=2)
def workload_leaves_an_evicted_node(world: World) -> None:
    """A running workload leaves a node that is tagged EVICT, at once and without being counted."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(2 * world.durations.failure_grace_us)


@scenario(arms=["AW-002", "AW-033", "AW-043"], gpus=1, nodes=3)
def last_pod_leaves_an_evicted_node(world: World) -> None:
    """A node is left whichever of the workload's pods runs on it."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    last_pod = PodChoice(of="AppWrapper/a", which="last")
    world.inject(AutopilotLabel(NodeChoice(hosting=last_pod), "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-043", "AW-033"], gpus=1, nodes=4)
def failed_pod_does_not_keep_another_on_its_node(world: World) -> None:
    """The grace period that a failed pod is given is not one for a pod on an unhealthy node."""
    aw = AppWrapper.submit(world, "gpu_pods.yaml", failureGracePeriodDuration="1h")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod("a-0"))
    world.until(aw.shows("Unhealthy"))
    world.inject(
        AutopilotLabel(NodeChoice(hosting=PodChoice(of="AppWrapper/a", phase="Running")), "EVICT")
    )
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-9"], gpus=4, config={"autopilot": {"monitorNodes": False}})
def nodes_are_not_monitored(world: World) -> None:
    """Where nodes are not to be monitored, a workload stays on one that is tagged EVICT."""
    aw = AppWrapper.submit(world, "gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-055", "AW-093", "INV-5"], gpus=4, nodes=2)
def evictions_are_not_counted(world: World) -> None:
    """Only the resets that a failure caused are counted, however the two kinds alternate."""
    aw = AppWrapper.submit(world, "gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(2))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-056"], gpus=4, cases={"at-once": 0, "after-a-reset": 1})
def eviction_at_the_limit_fails(world: World, limit: int) -> None:
    """When no retry is left, an eviction is final."""
    aw = AppWrapper.submit(world, "gpu_job.yaml", retryLimit=limit)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    if limit:
        world.inject(KillPod(FIRST_POD))
        world.until(aw.has_reset(1))
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)  # or what preceded could be the reason, too
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-090"], gpus=4)
def node_is_tagged_no_schedule(world: World) -> None:
    """A running workload stays on a node that is only closed to new pods."""
    aw = AppWrapper.submit(world, "gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "ERR"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-088", "AW-091"], gpus=4, cases={"none": "job.yaml", "zero": "zero_gpus.yaml"})
def workload_without_gpus_stays(world: World, manifest: str) -> None:
    """Pods that request no GPU, or zero of them, are neither steered nor moved."""
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["AW-092"], gpus=4)
def pods_that_do_not_run_are_not_moved(world: World) -> None:
    """Pods on an evicted node that are not yet running cause no reset."""
    grace_us = 4 * world.durations.warmup_grace_us
    aw = AppWrapper.submit(
        world,
        "gpu_job.yaml",
        behaviour="stay pending",
        retryLimit=0,
        warmupGracePeriodDuration=format_duration(grace_us),
    )
    world.until(aw.is_in("Running"))
    world.until(aw.has_pods(2, "Pending"))
    world.wait(SECOND)
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.wait(grace_us // 2)


@scenario(arms=["AW-085", "AW-087", "AW-089"], config=FOO_TAINTS, gpus=4)
def other_resources_are_monitored(world: World) -> None:
    """A resource and labels of the administrator's own choice work as GPUs do."""
    for node in world.nodes:
        world.add_capacity(node, "example.com/foo", 4)
    world.inject(LabelNode(world.nodes[0], "example.com/foo-health", "poor"))
    aw = AppWrapper.submit(world, "foo_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.revert(LabelNode(world.nodes[0], "example.com/foo-health", "poor"))
    world.inject(LabelNode(world.nodes[-1], "example.com/foo-health", "bad"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-033"], config={"autopilot": {"source": "taints"}}, gpus=4)
def real_taints_are_the_source(world: World) -> None:
    """Where so configured, taints in place of labels tell which nodes to leave."""
    aw = AppWrapper.submit(world, "tolerant_gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Taint(ITS_NODE, AUTOPILOT_KEY, "EVICT", "NoExecute"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running"))


@scenario(arms=["AW-089", "AW-087"], gpus=4)
def users_affinity_is_kept(world: World) -> None:
    """The anti-affinity is added to every term of an affinity that the user wrote."""
    aw = AppWrapper.submit(world, "affine_gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)


@scenario(
    arms=["AW-001", "AW-087", "AW-089"],
    gpus=4,
    cases={
        "limits": "gpu_limits.yaml",
        "second-container": "gpu_beside_a_proxy.yaml",
        "init-container": "gpu_for_init.yaml",
    },
)
def gpus_are_asked_for_in_other_ways(world: World, manifest: str) -> None:
    """A pod that asks for a GPU is steered, wherever in its spec it does so."""
    world.inject(AutopilotLabel(world.nodes[0], "ERR"))
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["AW-002", "AW-033"],
    gpus=4,
    cases={"limits": "gpu_limits.yaml", "second-container": "gpu_beside_a_proxy.yaml"},
)
def gpus_are_used_in_other_ways(world: World, manifest: str) -> None:
    """A running pod leaves an evicted node, wherever in its spec it asks for a GPU."""
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(AutopilotLabel(ITS_NODE, "EVICT"))
    world.until(aw.is_in("Resetting"))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["AW-087", "AW-088", "AW-089"],
    gpus=4,
    only_simulated="the control plane has no training operator",
)
def only_workers_have_gpus(world: World) -> None:
    """Of a PyTorchJob's pods exactly those are steered which ask for a GPU."""
    world.inject(AutopilotLabel(world.nodes[0], "ERR"))
    aw = AppWrapper.submit(world, "gpu_workers.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
