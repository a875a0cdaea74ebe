"""Nodes fail under a workload: tainted, not ready, lost, cordoned."""

from __future__ import annotations

from chaos.faults import Cordon, NodeDeleted, NodeLost, NodeNotReady, Taint
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import ITS_NODE
from conformance.world import World


@scenario(arms=["AW-034", "AW-006"], nodes=3)
def node_is_tainted_no_execute(world: World) -> None:
    """Pods that a taint drives out are replaced by a reset, elsewhere."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Taint(ITS_NODE, "example.com/maintenance", "now", "NoExecute"))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-9"], nodes=2)
def node_is_tainted_no_schedule(world: World) -> None:
    """Pods that already run are not harmed by a taint against new ones."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Taint(ITS_NODE, "example.com/maintenance", "soon", "NoSchedule"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["INV-8"], nodes=3, alone=True)
def node_is_not_ready(world: World) -> None:
    """Pods of a node that stays not ready are evicted after their tolerations, and replaced."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(NodeNotReady(ITS_NODE))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-8", "AW-007"], nodes=3, alone=True)
def node_is_lost(world: World) -> None:
    """Pods of a lost node are forced away when its silence has lasted long enough."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(NodeLost(ITS_NODE))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-8"], nodes=3, only_simulated="pods of a deleted node stay for a minute")
def node_is_deleted(world: World) -> None:
    """Pods of a node that was deleted are collected, and the workload goes on elsewhere."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(NodeDeleted(ITS_NODE))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-032", "AW-042"], nodes=2)
def all_nodes_are_cordoned(world: World) -> None:
    """A workload that was admitted but finds no open node fails by its warm-up grace period."""
    for node in world.nodes:
        world.inject(Cordon(node))
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=0)
    world.until(aw.is_in("Failed"))
