"""The situations: pods are lost, the operator dies, and the user changes his mind."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import DeletePod, Kill
from conformance.handle import Condition
from conformance.scenario import scenario
from conformance.world import World
from vocabulary.kinds import POD
from vocabulary.objects import get_path

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
        return get_path(crew, "status.ready", 0) == pods == len(world.list(POD))

    return Condition(f"Crew a has {pods} pods", holds)


@scenario(arms=("TOY-001", "TOY-002"))
def lost_pods_come_back(world: World) -> None:
    """A pod that is deleted, also while the operator is down, is replaced."""
    _crew(world, 3)
    world.inject(DeletePod(PodChoice("Crew/a")))
    world.wait(30_000_000)
    world.until(_ready(world, 3))
    world.inject(Kill(restart_after=20_000_000))
    world.inject(DeletePod(PodChoice("Crew/a", which="last")))
    world.wait(60_000_000)
    world.until(_ready(world, 3))


@scenario(arms=("TOY-002",))
def a_crew_changes_its_size(world: World) -> None:
    """A Crew that is made smaller loses its last pods, and gets them back."""
    _crew(world, 2)
    world.inject(ResizeCrew("a", 1))
    world.until(_ready(world, 1))
    world.inject(ResizeCrew("a", 4))
    world.until(_ready(world, 4))
