"""Pods that their controllers replace, whatever the reason, are the workload's like any others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaos.choice import PodChoice
from chaos.faults import DeletePod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, deployment
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import DEPLOYMENT


@scenario(
    arms=["AW-020", "INV-9"],
    cases={
        "one-more": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "one-less": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "all-at-once": {"type": "Recreate"},
    },
)
def deployment_is_rolled_out(world: World, strategy: Mapping[str, Any]) -> None:
    """A Deployment that replaces its pods by new ones within the grace period needs no reset."""
    aw = AppWrapper.submit(world, appwrapper(deployment({"replicas": 3, "strategy": strategy})))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    release = {"metadata": {"annotations": {"example.com/release": "2"}}}
    world.patch(DEPLOYMENT, "a-deployment", {"spec": {"template": release}})
    world.wait(5 * SECOND)
    world.until(aw.has_pods(3) & aw.has_pods(3, "Running"))
    world.wait(2 * world.durations.failure_grace_us)


@scenario(arms=["AW-013", "AW-014", "AW-015", "INV-1", "INV-2"])
def deployment_is_suspended_amid_its_rollout(world: World) -> None:
    """The pods of the old and of the new ReplicaSet are gone before the quota is released."""
    aw = AppWrapper.submit(
        world, appwrapper(deployment({"replicas": 3})), behaviour="run forever, stop 3s"
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    release = {"metadata": {"annotations": {"example.com/release": "2"}}}
    world.patch(DEPLOYMENT, "a-deployment", {"spec": {"template": release}})
    world.wait(SECOND)
    aw.suspend()
    world.until(aw.is_in("Suspended"))
    world.wait(10 * SECOND)


@scenario(arms=["AW-020", "INV-9", "AW-046"])
def every_pod_is_replaced_in_turn(world: World) -> None:
    """A workload none of whose first pods is left has never been unhealthy for long."""
    aw = AppWrapper.submit(world, appwrapper(deployment({"replicas": 2})))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    for which in ("first", "last", "first"):
        world.inject(DeletePod(PodChoice(of="AppWrapper/a", which=which)))
        world.wait(2 * SECOND)
        world.until(aw.has_pods(2, "Running"))
        world.wait(2 * world.durations.failure_grace_us)
