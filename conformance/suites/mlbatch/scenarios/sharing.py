"""Quota that teams borrow from each other, and the order in which they get it."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.mlbatch.handle import Team, priority_classes
from conformance.world import World
from vocabulary.clock import SECOND

_Amounts = tuple[int, str]
"""GPUs and CPUs."""
RUNS = "run 1m"
LONG = "run 20m"


@scenario(
    arms=["MLB-003", "MLB-004", "MLB-068", "MLB-069", "MLB-070"],
    kills="all-queues-may-lose",
    nodes=3,
    gpus=8,
    namespaces=("blue", "green"),
)
def quota_is_borrowed_and_reclaimed(world: World) -> None:
    """A team borrows what the others leave, and gives it back once one of them needs it, though its
    priority is higher; a third one, within its own quota, loses nothing."""
    _, _, high = priority_classes(world)
    red, blue, green = (Team.of(world, name, 8) for name in ("red", "blue", "green"))
    own = red.submit("own", LONG, priority=high)
    world.until(own.is_ready())
    world.wait(2 * SECOND)
    borrows = red.submit("borrows", "run 10m", priority=high)
    theirs = green.submit("theirs", LONG)
    world.until(borrows.is_ready() & theirs.is_ready())
    first = blue.submit("first", RUNS)
    world.until(first.is_ready())
    world.until(first.is_finished())
    world.until(borrows.is_ready())


@scenario(
    arms=["MLB-004", "MLB-069", "MLB-070"],
    kills="all-queues-may-lose",
    nodes=3,
    gpus=8,
    namespaces=("blue", "green"),
)
def two_give_back_what_they_borrowed(world: World) -> None:
    """Two teams that each borrow a little lose that, and nothing of their own."""
    red, blue, green = (Team.of(world, name, 8) for name in ("red", "blue", "green"))
    for team in (green, red):
        for number in range(3):
            its = team.submit(f"its-{number}", LONG, gpus=4)
            world.until(its.is_ready())
            world.wait(2 * SECOND)
    first = blue.submit("first", RUNS)
    world.until(first.is_ready())
    world.until(first.is_finished())
    world.wait(5 * SECOND)


@scenario(
    arms=["MLB-003", "MLB-004", "MLB-068", "MLB-069", "MLB-070"],
    kills="any-borrowing-counts",
    nodes=3,
    gpus=8,
    namespaces=("blue", "green"),
)
def one_resource_is_reclaimed(world: World) -> None:
    """GPUs are reclaimed from the team that borrows GPUs, and not from one that borrows CPUs
    alone, though that one was admitted last."""
    red, blue, green = (Team.of(world, name, 8, cpus=4) for name in ("red", "blue", "green"))
    of_cpus = red.submit("of-cpus", LONG, gpus=0, extra={"cpu": "6"})
    world.until(of_cpus.is_ready())
    for name in ("own", "borrows"):
        world.until(green.submit(name, LONG).is_ready())
        world.wait(2 * SECOND)
    of_gpus = red.submit("of-gpus", LONG, extra={"cpu": "0"})
    world.until(of_gpus.is_ready())
    first = blue.submit("first", RUNS)
    world.until(first.is_ready())
    world.until(first.is_finished())
    world.wait(5 * SECOND)


@scenario(
    arms=["MLB-006", "MLB-081"],
    kills="one-resource-is-enough",
    gpus=8,
    namespaces=("blue",),
    cases={
        "gpus": (("red",), (8, "1"), (1, "1"), (0, "1")),
        "cpus": (("red",), (0, "4"), (1, "1"), (1, "0")),
        "cpus-to-borrow": (("red", "blue"), (0, "4"), (8, "5"), (8, "4")),
    },
)
def one_resource_is_used_up(
    world: World, case: tuple[tuple[str, ...], _Amounts, _Amounts, _Amounts]
) -> None:
    """An AppWrapper waits while one of two resources is used up, and says which; one that needs
    none of that is admitted beside it."""
    names, *amounts = case
    teams = [Team.of(world, name, 8, cpus=4) for name in names]
    (gpus, cpus), waiting, beside = amounts
    holds = teams[-1].submit("holds", "run forever", gpus=gpus, extra={"cpu": cpus})
    world.until(holds.is_ready())
    waits = teams[0].submit("waits", RUNS, gpus=waiting[0], extra={"cpu": waiting[1]})
    world.until(waits.waits())
    fits = teams[0].submit("fits", RUNS, gpus=beside[0], extra={"cpu": beside[1]})
    world.until(fits.is_finished())
    world.wait(10 * SECOND)


@scenario(arms=["MLB-062"], kills="later-ones-come-first", gpus=8, namespaces=("blue",))
def victim_keeps_its_place(world: World) -> None:
    """An AppWrapper that was preempted is admitted before one that was submitted later."""
    red, blue = Team.of(world, "red", 8), Team.of(world, "blue", 8)
    own = red.submit("own", LONG)
    world.until(own.is_ready())
    world.wait(2 * SECOND)
    borrows = red.submit("borrows", LONG)
    world.until(borrows.is_ready())
    world.wait(2 * SECOND)
    later = red.submit("later", RUNS)
    world.wait(2 * SECOND)
    theirs = blue.submit("theirs", RUNS)
    world.until(theirs.is_ready())
    world.until(borrows.waits())
    world.until(borrows.is_ready())
    own.delete()
    world.until(later.is_finished())


@scenario(
    arms=["MLB-005"], kills="priority-comes-before-borrowing", gpus=8, namespaces=("blue", "slack")
)
def high_priority_borrows_last(world: World) -> None:
    """An AppWrapper of high priority that has to borrow waits for one of low priority, of another
    team, that fits into its own quota."""
    low, _, high = priority_classes(world)
    red, blue = Team.of(world, "red", 4), Team.of(world, "blue", 8)
    holds = blue.submit("holds", "run 2m", gpus=8)
    world.until(holds.is_ready())
    borrows = red.submit("borrows", RUNS, priority=high)
    its = blue.submit("its", "run 2m", priority=low)
    world.until(its.is_ready())
    world.until(borrows.is_finished())


@scenario(arms=["MLB-062", "MLB-063"], kills="priority-is-ignored", gpus=8)
def they_wait_in_order(world: World) -> None:
    """Of those that wait, the one of higher priority is admitted first, and equal ones as they were
    submitted."""
    low, _, high = priority_classes(world)
    red = Team.of(world, "red", 8)
    runs = red.submit("runs", RUNS, priority=high)
    world.until(runs.is_ready())
    early = red.submit("early", RUNS, priority=low)
    world.wait(2 * SECOND)
    late = red.submit("late", RUNS, priority=low)
    world.wait(2 * SECOND)
    first = red.submit("first", RUNS, priority=high)
    world.until(first.is_ready())
    world.until(early.is_ready())
    world.until(late.is_finished())


@scenario(arms=["MLB-064"], kills="heads-block", gpus=8)
def what_is_too_large_holds_up_none(world: World) -> None:
    """An AppWrapper that fits is admitted beside an older one of higher priority that does not."""
    _, default, high = priority_classes(world)
    red = Team.of(world, "red", 8, preemption={})
    runs = red.submit("runs", LONG, gpus=4, priority=default)
    world.until(runs.is_ready())
    large = red.submit("large", RUNS, priority=high)
    world.wait(2 * SECOND)
    small = red.submit("small", RUNS, gpus=4, priority=default)
    world.until(small.is_finished())
    runs.delete()
    world.until(large.is_finished())


@scenario(
    arms=["MLB-065", "MLB-066"],
    kills="it-preempts-and-borrows",
    nodes=3,
    gpus=8,
    namespaces=("blue", "slack"),
)
def preemption_and_borrowing(world: World) -> None:
    """None that would have to borrow has others preempted; one that fits into the quota of its team
    has one of lower priority preempted."""
    low, default, high = priority_classes(world)
    red, blue = Team.of(world, "red", 8), Team.of(world, "blue", 8)
    Team.of(world, "slack", 8)
    lower = red.submit("lower", LONG, priority=low)
    borrows = blue.submit("borrows", "run 6m", pods=2, priority=default)
    world.until(lower.is_ready() & borrows.is_ready())
    large = red.submit("large", RUNS, pods=2, gpus=6, priority=high)
    world.wait(10 * SECOND)
    own = red.submit("own", "run 2m", gpus=4, priority=high)
    world.until(own.is_ready())
    peer = red.submit("peer", RUNS, gpus=8, priority=high)
    world.until(peer.is_finished())
    large.delete()
    world.until(lower.is_ready())


@scenario(arms=["MLB-067"], kills="it-preempts-and-borrows", nodes=3, gpus=8, namespaces=("blue",))
def peers_fill_the_quota(world: World) -> None:
    """One that would exceed the quota of its team with those of its own priority has none of lower
    priority preempted."""
    low, _, high = priority_classes(world)
    red, blue = Team.of(world, "red", 8), Team.of(world, "blue", 8)
    peer = red.submit("peer", "run 3m", priority=high)
    lower = red.submit("lower", LONG, gpus=4, priority=low)
    world.until(peer.is_ready() & lower.is_ready())
    waits = red.submit("waits", RUNS, gpus=8, priority=high)
    world.wait(10 * SECOND)
    world.until(waits.is_finished())
    theirs = blue.submit("theirs", "run 2m")
    world.until(theirs.is_ready())
    preempts = red.submit("preempts", RUNS, priority=high)
    world.until(preempts.is_finished())
    world.until(lower.is_ready())


@scenario(arms=["MLB-006"], kills="the-last-unit-is-kept", gpus=8)
def nodes_have_no_room(world: World) -> None:
    """An AppWrapper that fits into its quota is admitted though no node has room for it; what
    becomes of that is the retry loop's part."""
    red = Team.of(world, "red", 8)
    for node in world.nodes:
        world.add_capacity(node, "nvidia.com/gpu", 0)
    its = red.submit("its", RUNS)
    world.until(its.is_admitted())
    world.wait(10 * SECOND)
    for node in world.nodes:
        world.add_capacity(node, "nvidia.com/gpu", 8)
    world.until(its.is_finished())


@scenario(arms=["MLB-046"], kills="quota-released-on-resetting", gpus=8)
def retries_keep_their_place(world: World) -> None:
    """An AppWrapper that is reset is not passed by one that waits for its quota."""
    red = Team.of(world, "red", 8)
    its = red.submit("its", "run forever")
    world.until(its.is_ready())
    waits = red.submit("waits", RUNS)
    world.wait(10 * SECOND)
    pod = PodChoice(of="AppWrapper/its", which="first")
    world.inject(KillPod(pod=pod, exit_code=1))
    world.until(its.was_reset())
    world.until(its.is_running())
    world.inject(KillPod(pod=pod, exit_code=0))
    world.until(its.is_finished())
    world.until(waits.is_finished())
