"""Quota that is there, borrowed, lent and lacking; flavors in their order."""

from __future__ import annotations

from typing import Any

from chaos.faults import LabelNode
from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import QueuedJob, flavor, queue
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import World
from vocabulary.clock import SECOND

RUNS = "run 1m"
LONG = "run 20m"
ZONE = "example.com/zone"


@scenario(arms=["KQ-047", "KQ-102"], kills="nothing-is-borrowed")
def unused_quota_is_lent(world: World) -> None:
    """A queue borrows what its cohort has left, and no more."""
    queue(world, quota={"cpu": "2"}, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, cohort="all")
    queue(world, "alone", quota={"cpu": "2"})
    borrows = QueuedJob.of(world, "borrows", RUNS, cpu=3)
    world.until(borrows.is_admitted())
    waits = QueuedJob.of(world, "waits", RUNS, cpu=2, queue="other")
    fits = QueuedJob.of(world, "fits", RUNS, queue="other")
    world.until(fits.is_admitted())
    world.until(waits.is_finished())


@scenario(arms=["KQ-047"], kills="limits-do-not-bind", cases={"borrowing": True, "lending": False})
def limits(world: World, borrowing: bool) -> None:
    """A queue borrows up to its limit, and no more than the others lend."""
    mine = {"borrowingLimit": "1"} if borrowing else {}
    theirs = {} if borrowing else {"lendingLimit": "1"}
    queue(world, quota={"cpu": "2"}, limits=mine, cohort="all")
    queue(world, "other", quota={"cpu": "2"}, limits=theirs, cohort="all")
    first = QueuedJob.of(world, "first", RUNS, cpu=3)
    world.until(first.is_admitted())
    second = QueuedJob.of(world, "second", RUNS)
    world.wait(10 * SECOND)
    world.until(second.is_finished())


@scenario(arms=["KQ-047"], kills="uncovered-resources-are-free")
def uncovered_resource(world: World) -> None:
    """A Job that asks for a resource that its queue has no quota of waits."""
    queue(world, quota={"cpu": "2", "memory": "1Gi"})
    none = QueuedJob.of(world, "none", RUNS, requests={"cpu": "1", "ephemeral-storage": "1Gi"})
    half = QueuedJob.of(world, "half", RUNS, requests={"cpu": "1", "memory": "2Gi"})
    both = QueuedJob.of(world, "both", RUNS, requests={"cpu": "1", "memory": "1Gi"})
    world.until(both.is_finished())
    world.until(none.waits() & half.waits())


@scenario(arms=["KQ-045"], kills="the-last-flavor-comes-first", cases={"two": 2, "three": 3})
def flavors_are_tried(world: World, count: int) -> None:
    """Jobs get the first flavor with room, then the next one."""
    names = [f"f{n}" for n in range(count)]
    queue(world, flavors=names, quota={"cpu": "1", "memory": "1Gi"})
    jobs = []
    for n in range(count):
        its = QueuedJob.of(world, f"j{n}", RUNS, requests={"cpu": "1", "memory": "512Mi"})
        world.until(its.is_admitted())
        jobs.append(its)
    world.until(jobs[-1].is_finished())


@scenario(arms=["KQ-045"], kills="borrowing-is-put-off", cases={"borrow": True, "next": False})
def borrowing_or_the_next_flavor(world: World, borrow: bool) -> None:
    """A Job borrows in the first flavor before the next is tried, unless its queue says
    otherwise."""
    policy = "Borrow" if borrow else "TryNextFlavor"
    fungibility: dict[str, Any] = {"flavorFungibility": {"whenCanBorrow": policy}}
    queue(world, flavors=("f0", "f1"), quota={"cpu": "1"}, cohort="all", **fungibility)
    queue(world, "other", flavors=("f0", "f1"), quota={"cpu": "1"}, cohort="all")
    first = QueuedJob.of(world, "first", RUNS)
    world.until(first.is_admitted())
    second = QueuedJob.of(world, "second", RUNS)
    world.until(second.is_finished())


@scenario(
    arms=["KQ-045"],
    kills="taints-do-not-matter",
    cases={"taint": "taint", "label": "label", "affinity": "affinity"},
)
def flavor_does_not_suit(world: World, by: str) -> None:
    """A flavor whose taints or labels the pods do not match is skipped."""
    taints = [{"key": "spot", "value": "true", "effect": "NoSchedule"}] if by == "taint" else []
    flavor(world, "f0", nodeLabels={ZONE: "a"}, nodeTaints=taints)
    flavor(world, "f1", nodeLabels={ZONE: "b"})
    queue(world, flavors=("f0", "f1"))
    term = {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pods: dict[str, dict[str, Any]] = {
        "taint": {},
        "label": {"nodeSelector": {ZONE: "b"}},
        "affinity": {"affinity": {"nodeAffinity": required}},
    }
    its = QueuedJob.of(world, "its", RUNS, **pods[by])
    world.until(its.is_admitted())
    world.wait(10 * SECOND)
    its.delete()


@scenario(
    arms=["KQ-024", "KQ-045"],
    kills="the-last-flavor-comes-first",
    config=requeues(timestamp="Creation"),
)
def first_flavor_becomes_free(world: World) -> None:
    """A Job that was evicted from the second flavor gets the first, which became free meanwhile,
    before one that was submitted later."""
    queue(world, flavors=("f0", "f1"))
    holds = QueuedJob.of(world, "holds", "run 4m")
    world.until(holds.is_admitted())
    its = QueuedJob.of(world, "its", NEVER_READY)
    world.until(its.is_admitted())
    world.until(its.was_requeued(1))
    world.until(its.has_released())
    world.until(its.is_admitted())
    its.delete()


@scenario(arms=["KQ-068"], kills="flavors-place-nothing")
def pods_go_where_their_quota_is(world: World) -> None:
    """Each of two Jobs runs on the node of its flavor."""
    for node, zone in zip(world.nodes, ("a", "b"), strict=True):
        world.inject(LabelNode(node=node, key=ZONE, value=zone))
        flavor(world, f"f-{zone}", nodeLabels={ZONE: zone})
    queue(world, flavors=("f-a", "f-b"))
    jobs = [QueuedJob.of(world, name, "run 20s") for name in ("one", "two")]
    for its in jobs:
        world.until(its.is_finished())
