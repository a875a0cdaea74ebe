"""The situations: pods are lost, the operator dies, and the user changes his mind."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import Cordon, DeletePod, Kill, KillPod, Start
from conformance import Condition, World, scenario
from conformance.suites.appwrapper.handle import AppWrapper
from vocabulary.clock import SECOND
from vocabulary.kinds import POD
from vocabulary.objects import controller_of, get_path

from .api import CREW
from .faults import ResizeCrew


def _crew(world: World, pods: int) -> None:
    spec = {"pods": pods}
    world.create(
        {"apiVersion": CREW.api_version, "kind": "Crew", "metadata": {"name": "a"}, "spec": spec}
    )
    world.until(_ready(world, pods))


def _ready(world: World, pods: int) -> Condition:
    def holds() -> bool:
        crew = world.get(CREW, "a") or {}
        mine = [pod for pod in world.list(POD) if (controller_of(pod) or {}).get("kind") == "Crew"]
        return get_path(crew, "status.ready", 0) == pods == len(mine)

    return Condition(f"Crew a has {pods} pods", holds)


@scenario(arms=("TOY-001", "TOY-002", "TOY-003"), kills="lost-pods-stay-lost")
def lost_pods_come_back(world: World) -> None:
    """A pod that is deleted, also while the operator is down, is replaced."""
    _crew(world, 3)
    world.inject(DeletePod(PodChoice("Crew/a")))
    world.wait(3 * SECOND)
    world.until(_ready(world, 3))
    world.inject(Kill(restart_after=3 * SECOND))
    world.inject(DeletePod(PodChoice("Crew/a", which="last")))
    world.wait(5 * SECOND)
    world.until(_ready(world, 3))


@scenario(arms=("TOY-002", "TOY-003"), kills="counts-pods-that-wait")
def a_crew_changes_its_size(world: World) -> None:
    """A Crew that is made smaller loses its last pods; what it gets back counts once it runs."""
    _crew(world, 2)
    world.inject(ResizeCrew("a", 1))
    world.until(_ready(world, 1))
    closed = [Cordon(node) for node in world.nodes]
    for cordon in closed:
        world.inject(cordon)
    world.inject(ResizeCrew("a", 4))
    world.wait(3 * SECOND)
    for cordon in closed:
        world.revert(cordon)
    world.until(_ready(world, 4))


@scenario(arms=("TOY-001", "TOY-002", "TOY-003", "AW-006", "AW-049"), roles=("toy", "appwrapper"))
def operators_die_in_turn(world: World) -> None:
    """A Crew and an AppWrapper share a namespace; while one's operator is down, the other works."""
    workload = AppWrapper.submit(world, "appwrapper.yaml")
    _crew(world, 2)
    world.until(workload.is_in("Running"))
    world.inject(Kill("toy", restart_after=None))
    world.inject(KillPod(PodChoice("AppWrapper/w")))
    world.until(workload.has_reset(1))
    world.until(workload.is_in("Running"))
    world.inject(Start("toy"))
    world.inject(Kill("appwrapper", restart_after=None))
    world.inject(DeletePod(PodChoice("Crew/a")))
    world.wait(3 * SECOND)
    world.until(_ready(world, 2))
    world.inject(Start("appwrapper"))


@scenario(arms=("TOY-001", "TOY-003"), roles=("toy", "appwrapper"), operators=2)
def a_leader_is_followed_by_its_own_replica(world: World) -> None:
    """When the Crews' operator dies, its own second replica takes over by their own Lease."""
    workload = AppWrapper.submit(world, "appwrapper.yaml")
    _crew(world, 2)
    world.until(workload.is_in("Running"))
    world.inject(Kill(actor=world.leader, restart_after=None))
    world.inject(DeletePod(PodChoice("Crew/a")))
    world.wait(20 * SECOND)
    world.until(_ready(world, 2))
