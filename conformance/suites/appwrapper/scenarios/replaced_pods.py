"""Pods that their controllers replace, whatever the reason, are the workload's like any others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaos.choice import ObjectChoice, PodChoice
from chaos.fault import Fault
from chaos.faults import DelayWatch, DeletePod, EvictPod, HoldObject, KillPod, Taint
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, ITS_NODE
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    deployment,
    job,
    stateful_set,
)
from conformance.world import World
from vocabulary.clock import MILLISECOND, SECOND
from vocabulary.durations import parse_duration
from vocabulary.kinds import DEPLOYMENT

EXITS_WITH_0 = "run forever, stop exit 0"
"""Containers that end well when they are stopped, as servers do: their pod Succeeded."""


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


@scenario(
    arms=["AW-046", "INV-9"],
    cases={
        "deleted": (DeletePod(FIRST_POD),),
        "evicted": (EvictPod(FIRST_POD),),
        # The pod that comes in its place is seen after the status of the StatefulSet.
        "evicted-and-seen-late": (DelayWatch(kind="Pod", by=8 * MILLISECOND), EvictPod(FIRST_POD)),
        "driven-out": (Taint(ITS_NODE, "example.com/maintenance", "now", "NoExecute"),),
    },
    kills="deleted-pods-have-completed",
)
def only_pod_exits_with_0_when_it_goes(world: World, faults: tuple[Fault, ...]) -> None:
    """A StatefulSet whose pod ends well because it has to go has not succeeded, and runs on.

    A finalizer keeps the pod visible, as its kubelet does where its volumes take long to unmount.
    """
    aw = AppWrapper.submit(
        world,
        appwrapper(stateful_set({"replicas": 1})),
        behaviour=EXITS_WITH_0,
        failureGracePeriodDuration="1m",
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    hold = HoldObject("Pod", ObjectChoice(of="AppWrapper/a"))
    world.inject(hold)
    for fault in faults:
        world.inject(fault)
    world.wait(10 * SECOND)
    world.revert(hold)
    world.until(aw.has_pods(1, "Running"))
    world.wait(2 * parse_duration("1m"))


@scenario(arms=["AW-046", "INV-9"], kills="deleted-pods-have-completed")
def pods_exit_with_0_before_their_rollout_goes_on(world: World) -> None:
    """A Deployment whose old pods all ended well before the new ones exist has not succeeded."""
    shape = {"replicas": 1, "strategy": {"type": "Recreate"}}
    aw = AppWrapper.submit(world, appwrapper(deployment(shape)), behaviour=EXITS_WITH_0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    hold = HoldObject("Pod", ObjectChoice(of="AppWrapper/a"))
    world.inject(hold)
    release = {"metadata": {"annotations": {"example.com/release": "2"}}}
    world.patch(DEPLOYMENT, "a-deployment", {"spec": {"template": release}})
    world.wait(5 * SECOND)
    world.until(aw.has_pods(1, "Running"))
    world.revert(hold)
    world.wait(2 * world.durations.failure_grace_us)


@scenario(arms=["AW-096", "MLB-051", "INV-9"])
def job_replaces_a_pod_that_exits_with_0_when_it_goes(world: World) -> None:
    """A Job has succeeded when the pod that replaces a deleted one has, too.

    The pod takes long enough to stop for its Job to see it being deleted: what ends well before
    that counts as a success.
    """
    aw = AppWrapper.submit(
        world,
        appwrapper(job({"parallelism": 2, "completions": 2})),
        behaviour=f"{EXITS_WITH_0}, stop 5s",
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us)
    world.inject(DeletePod(FIRST_POD))
    world.wait(2 * SECOND)
    world.until(aw.has_pods(2) & aw.has_pods(2, "Running"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", which="all"), exit_code=0))
    world.until(aw.is_in("Succeeded"))
    aw.wait_for_its_ttl()
