"""Workloads that give quota back for others."""

from __future__ import annotations

from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.kueue.api import LOCAL_QUEUE
from conformance.suites.kueue.handle import QueuedJob, QueuedJobSet, priority_class, queue, stop
from conformance.suites.kueue.scenarios.requeuing import NEVER_READY, requeues
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND

RUNS = "run 1m"
LONG = "run 20m"
LOWER = {"withinClusterQueue": "LowerPriority"}
RECLAIMS = {"reclaimWithinCohort": "Any", **LOWER}
SLOW = "run 20m, stop 20s"


@scenario(arms=["KQ-041", "KQ-052", "KQ-115"], kills="equal-ones-are-preempted")
def a_higher_one_preempts(world: World) -> None:
    """A Job of higher priority has one of lower priority of its queue preempted, and none of the
    same."""
    low, high = priority_class(world, "low", 1), priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=LOWER)
    QueuedJob.of(world, "low", LONG, priority=low)
    same = QueuedJob.of(world, "same", LONG, priority=high)
    world.until(same.is_ready())
    world.wait(10 * SECOND)  # A slow machine has seen by then what the queue says.
    first = QueuedJob.of(world, "first", "run 30s", priority=high)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", "run 20s", priority=high)
    world.until(second.is_finished())
    world.wait(20 * SECOND)


@scenario(
    arms=["KQ-103", "KQ-113", "KQ-116", "KQ-117", "KQ-118"],
    kills="all-queues-may-lose",
)
def borrowed_quota_is_reclaimed(world: World) -> None:
    """Quota that one queue borrowed is reclaimed from it, not from one that is within its own."""
    for name in ("main", "within", "borrows"):
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=RECLAIMS)
    early = QueuedJob.of(world, "early", LONG, queue="borrows", cpu=2)
    world.until(early.is_ready())
    late = QueuedJob.of(world, "late", LONG, queue="borrows", cpu=2)
    world.until(late.is_ready())
    world.wait(2 * SECOND)
    within = QueuedJob.of(world, "within", LONG, queue="within", cpu=2)
    world.until(within.is_ready())
    first = QueuedJob.of(world, "first", RUNS, cpu=2)
    world.until(first.is_ready())
    world.until(first.is_finished())


@scenario(arms=["KQ-118"], kills="all-queues-may-lose")
def each_loses_what_it_borrowed(world: World) -> None:
    """Of two queues that have borrowed neither loses more than that, though all that one of them
    holds is newer."""
    for name in ("main", "other", "third"):
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=RECLAIMS)
    for name in ("other", "third"):
        for n in range(3):
            its = QueuedJob.of(world, f"{name}-{n}", LONG, queue=name)
            world.until(its.is_ready())
            world.wait(2 * SECOND)
    first = QueuedJob.of(world, "first", RUNS, cpu=2)
    world.until(first.is_finished())


@scenario(arms=["KQ-103"], kills="nothing-is-reclaimed")
def two_reclaim(world: World) -> None:
    """Two queues get back what a third has borrowed from both."""
    for name in ("main", "other", "borrows"):
        queue(world, name, quota={"cpu": "1"}, cohort="all", preemption=RECLAIMS)
    for n in range(3):
        its = QueuedJob.of(world, f"b{n}", LONG, queue="borrows")
        world.until(its.is_ready())
    first = QueuedJob.of(world, "first", LONG)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", LONG, queue="other")
    world.until(second.is_ready())


@scenario(
    arms=["KQ-114"],
    kills="it-preempts-and-borrows",
)
def more_than_nominal(world: World) -> None:
    """A Job that exceeds the nominal quota of its queue has nothing preempted, and waits."""
    high = priority_class(world, "high", 10)
    for name in ("main", "other", "slack"):
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=RECLAIMS)
    low = QueuedJob.of(world, "low", "run 3m", cpu=2)
    borrows = QueuedJob.of(world, "borrows", "run 3m", queue="other", cpu=4)
    world.until(low.is_ready() & borrows.is_ready())
    large = QueuedJob.of(world, "large", RUNS, cpu=3, priority=high)
    world.wait(10 * SECOND)
    own = QueuedJob.of(world, "own", RUNS, cpu=2, priority=high)
    world.until(own.is_ready())
    world.until(own.is_finished() & large.is_finished())


@scenario(arms=["KQ-115"], kills="it-preempts-and-borrows")
def peers_fill_the_quota(world: World) -> None:
    """A Job that would exceed the nominal quota with those of its own priority has none of lower
    priority preempted."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "4"}, cohort="all", preemption=LOWER)
    queue(world, "other", quota={"cpu": "3"}, cohort="all", preemption=LOWER)
    peer = QueuedJob.of(world, "peer", "run 3m", cpu=4, priority=high)
    low = QueuedJob.of(world, "low", "run 3m", cpu=3)
    world.until(peer.is_ready() & low.is_ready())
    waits = QueuedJob.of(world, "waits", RUNS, cpu=2, priority=high)
    world.wait(10 * SECOND)
    world.until(waits.is_finished())


@scenario(
    arms=["KQ-054"],
    kills="newer-ones-are-spared",
    cases={"another-ends": False, "a-higher-one-is-stopped": True},
)
def a_newer_equal_one_gives_way(world: World, is_stopped: bool) -> None:
    """With LowerOrNewerEqualPriority an older Job gets the quota of a newer one of its priority
    that had passed it, once a third one leaves."""
    policy = {"withinClusterQueue": "LowerOrNewerEqualPriority"}
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=policy)
    runs = QueuedJob.of(world, "runs", RUNS, priority=high if is_stopped else "")
    world.until(runs.is_ready())
    world.wait(2 * SECOND)
    old = QueuedJob.of(world, "old", RUNS, cpu=2)
    world.wait(2 * SECOND)
    newer = QueuedJob.of(world, "newer", LONG)
    world.until(newer.is_ready())
    if is_stopped:
        runs.activate(False)
    world.until(old.is_finished())
    world.until(newer.is_ready())


@scenario(arms=["KQ-012"], kills="equal-ones-are-preempted", config=requeues())
def evicted_one_takes_nothing_back(world: World) -> None:
    """With LowerOrNewerEqualPriority a Job that was evicted has none preempted that has passed it
    since, where evictions decide the order."""
    policy = {"withinClusterQueue": "LowerOrNewerEqualPriority"}
    queue(world, quota={"cpu": "2"}, preemption=policy)
    runs = QueuedJob.of(world, "runs", "run 7m")
    its = QueuedJob.of(world, "its", NEVER_READY)
    world.until(runs.is_ready() & its.is_admitted())
    world.wait(2 * SECOND)
    newer = QueuedJob.of(world, "newer", RUNS, cpu=2)
    world.until(its.was_requeued(1))
    world.until(its.is_admitted())
    world.until(runs.is_finished())
    world.until(newer.is_ready())
    its.delete()
    world.until(newer.is_finished())


@scenario(arms=["KQ-052"], kills="newer-ones-always-lose")
def a_newer_equal_one_stays(world: World) -> None:
    """With LowerPriority a newer Job of the same priority keeps its quota, until one of a higher
    priority needs it."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=LOWER)
    runs = QueuedJob.of(world, "runs", RUNS)
    world.until(runs.is_ready())
    world.wait(2 * SECOND)
    old = QueuedJob.of(world, "old", RUNS, cpu=2)
    world.wait(2 * SECOND)
    newer = QueuedJob.of(world, "newer", "run 3m")
    world.until(newer.is_ready())
    world.until(runs.is_finished())
    world.wait(10 * SECOND)
    urgent = QueuedJob.of(world, "urgent", RUNS, cpu=2, priority=high)
    world.until(urgent.is_finished() & old.is_finished() & newer.is_finished())


def holds_until_terminal() -> dict[str, Any]:
    """The configuration in which a Job's quota is held until its pods are terminal."""
    return {"integrations": {"quotaReleaseStrategy": {"batch/job": "OnTerminal"}}}


@scenario(
    arms=["KQ-041", "KQ-047"],
    kills="victims-come-back-first",
    config=holds_until_terminal(),
)
def victim_fits_again(world: World) -> None:
    """A victim of higher priority that fits into its nominal quota again by the time that its own
    is back waits for its preemptor."""
    high = priority_class(world, "high", 10)
    for name in ("main", "other", "third"):
        queue(world, name, quota={"cpu": "4"}, cohort="all", preemption=RECLAIMS)
    third = QueuedJob.of(world, "third", "run 10m", queue="third", cpu=6, priority=high)
    world.until(third.is_ready())
    stays = QueuedJob.of(world, "stays", "run 2m", queue="other", cpu=2, priority=high)
    world.until(stays.is_ready())
    world.wait(2 * SECOND)
    victim = QueuedJob.of(world, "victim", SLOW, queue="other", cpu=4, priority=high)
    world.until(victim.is_ready())
    world.wait(105 * SECOND)
    first = QueuedJob.of(world, "first", RUNS, cpu=4)
    world.until(first.is_finished())
    world.until(victim.is_ready())


@scenario(
    arms=["KQ-041"],
    kills="victims-come-back-first",
    config=holds_until_terminal(),
    nodes=3,
)
def preemptor_has_just_come_back(world: World) -> None:
    """A victim of higher priority waits for its preemptor, which was evicted itself in the second
    in which it preempts, and whose quota another one got."""
    high = priority_class(world, "high", 10)
    for name in ("main", "other", "third"):
        queue(world, name, quota={"cpu": "4"}, cohort="all", preemption=RECLAIMS)
    queue(world, "takes", quota={"cpu": "4"}, cohort="all")
    for name, of, cpu, behaves in (
        ("third", "third", 6, "run 10m"),
        ("stays", "other", 2, "run 2m"),
        ("victim", "other", 4, SLOW),
    ):
        its = QueuedJob.of(world, name, behaves, queue=of, cpu=cpu, priority=high)
        world.until(its.is_ready())
        world.wait(2 * SECOND)
    first = QueuedJob.of(world, "first", LONG, cpu=4)
    world.until(first.is_ready())
    takes = QueuedJob.of(world, "takes", LONG, queue="takes", cpu=4)
    world.wait(105 * SECOND)
    world.wait(SECOND - world.now_us % SECOND)
    first.activate(False)
    world.until(takes.is_admitted())
    first.activate(True)
    world.until(first.is_ready())
    first.delete()
    world.until(its.is_ready())


@scenario(
    arms=["KQ-047"],
    kills="preemptors-do-not-wait",
    config=holds_until_terminal(),
)
def victims_take_their_time(world: World) -> None:
    """A preemptor is admitted only once the quota of its victims, whose pods end slowly, is
    back."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=LOWER)
    for name in ("a", "b"):
        its = QueuedJob.of(world, name, SLOW)
        world.until(its.is_ready())
    first = QueuedJob.of(world, "first", RUNS, cpu=2, priority=high)
    world.until(first.is_finished())


@scenario(
    arms=["KQ-045"],
    kills="the-last-flavor-comes-first",
    config=holds_until_terminal(),
)
def rest_of_a_flavor_is_kept(world: World) -> None:
    """A Job gets the second flavor while the rest of the first is kept for another one, whose
    victim takes its time."""
    high = priority_class(world, "high", 10)
    queue(
        world,
        flavors=("f0", "f1"),
        quota={"cpu": "2"},
        preemption=LOWER,
        flavorFungibility={"whenCanPreempt": "Preempt"},
    )
    low = QueuedJob.of(world, "low", SLOW)
    world.until(low.is_ready())
    first = QueuedJob.of(world, "first", RUNS, cpu=2, priority=high)
    world.wait(5 * SECOND)
    beside = QueuedJob.of(world, "beside", RUNS)
    world.until(first.is_finished() & beside.is_finished())


@scenario(arms=["KQ-054"], kills="preemptors-do-not-wait")
def it_preempts_when_it_comes_back(world: World) -> None:
    """A Job gets the quota of one that is deleted as it comes, and, when it comes back later, that
    of one which is preempted for it."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=LOWER)
    early = QueuedJob.of(world, "early", LONG, cpu=2)
    world.until(early.is_ready())
    its = QueuedJob.of(world, "its", LONG, cpu=2, priority=high)
    early.delete("Background")
    world.until(its.is_ready())
    its.activate(False)
    late = QueuedJob.of(world, "late", SLOW, cpu=2)
    world.until(late.is_ready())
    its.activate(True)
    world.until(its.is_ready())


@scenario(arms=["KQ-207"], kills="heads-block", config=holds_until_terminal())
def two_wait_for_their_victims(world: World) -> None:
    """While one waits for the pods of its victim, another one is preempted for the next."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, preemption=LOWER)
    for name in ("a", "b"):
        its = QueuedJob.of(world, name, SLOW)
        world.until(its.is_ready())
    first = QueuedJob.of(world, "first", RUNS, priority=high)
    world.wait(2 * SECOND)  # of two of one second either may be the first
    second = QueuedJob.of(world, "second", RUNS, priority=high)
    world.until(first.is_finished())
    world.until(second.is_finished())


@scenario(
    arms=["KQ-052"],
    kills="anything-is-reclaimed",
    cases={"of-other-queues": False, "own-ones-stay": True},
)
def only_lower_ones_are_reclaimed(world: World, own: bool) -> None:
    """With reclaimWithinCohort LowerPriority a borrower of the same priority is spared; a lower one
    of the own queue is, too."""
    policies = {"reclaimWithinCohort": "LowerPriority"}
    low, high = priority_class(world, "low", 1), priority_class(world, "high", 10)
    queue(world, quota={"cpu": "2"}, cohort="all", preemption=policies)
    queue(world, "other", quota={"cpu": "2"}, cohort="all", preemption=policies)
    QueuedJob.of(world, "high", LONG, queue="other", cpu=2, priority=high)
    world.wait(2 * SECOND)
    equal = QueuedJob.of(world, "equal", "run 2m", queue="other", priority=high)
    lower = QueuedJob.of(world, "lower", LONG, queue="main" if own else "other", priority=low)
    world.until(equal.is_ready() & lower.is_ready())
    first = QueuedJob.of(world, "first", RUNS, priority=high)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", RUNS, priority=high)
    world.until(second.is_finished())


@scenario(arms=["KQ-052"], kills="thresholds-do-not-bind")
def only_some_lose_to_a_borrower(world: World) -> None:
    """A Job that borrows has one preempted whose priority is at the threshold, and none above."""
    may_borrow = {"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 5}}
    high, middle = priority_class(world, "high", 10), priority_class(world, "middle", 7)
    low = priority_class(world, "low", 5)
    for name in ("main", "other", "slack"):
        policies = {**RECLAIMS, **may_borrow}
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=policies)
    above = QueuedJob.of(world, "above", "run 3m", queue="other", cpu=3, priority=middle)
    world.until(above.is_ready())
    world.wait(2 * SECOND)
    below = QueuedJob.of(world, "below", LONG, queue="other", cpu=3, priority=low)
    world.until(below.is_ready())
    first = QueuedJob.of(world, "first", "run 5m", cpu=3, priority=high)
    world.until(first.is_ready())
    second = QueuedJob.of(world, "second", RUNS, cpu=3, priority=high)
    world.until(second.is_finished())


@scenario(arms=["KQ-055"], kills="all-candidates-lose")
def small_ones_are_spared(world: World) -> None:
    """Of two Jobs of lower priority only the larger one, which is enough, is preempted."""
    high = priority_class(world, "high", 10)
    queue(world, quota={"cpu": "4"}, preemption=LOWER)
    large = QueuedJob.of(world, "large", LONG, cpu=3)
    world.until(large.is_ready())
    world.wait(2 * SECOND)
    small = QueuedJob.of(world, "small", LONG)
    world.until(small.is_ready())
    world.wait(2 * SECOND)
    first = QueuedJob.of(world, "first", RUNS, cpu=3, priority=high)
    world.until(first.is_finished())
    world.until(large.is_ready())


@scenario(arms=["KQ-055"], kills="high-ones-lose-first", roles=("kueue", "jobset"))
def flavor_comes_before_victims(world: World) -> None:
    """Two of lower priority are preempted in the first flavor, though one of them holds enough of
    the second."""
    middle, high = priority_class(world, "middle", 5), priority_class(world, "high", 10)
    queue(world, flavors=("f0", "f1"), quota={"cpu": "3"}, preemption=LOWER)
    for name, priority in (("middle", middle), ("low", "")):
        its = QueuedJob.of(world, name, LONG, priority=priority)
        world.until(its.is_ready())
        world.wait(2 * SECOND)
    both = QueuedJobSet.of(world, "both", LONG, driver={"cpu": 2})
    world.until(both.is_ready())
    world.wait(2 * SECOND)
    first = QueuedJob.of(world, "first", RUNS, cpu=2, priority=high)
    world.until(first.is_finished())


@scenario(arms=["KQ-045"], kills="the-last-flavor-comes-first", roles=("kueue", "jobset"))
def preemptor_goes_where_its_victim_was(world: World) -> None:
    """A Job gets the flavor for which another one was preempted, though that gave back some of the
    first one, too, which its queue would borrow."""
    high = priority_class(world, "high", 10)
    for name, flavors, cpu in (("main", ("f0", "f1"), "2"), ("other", ("f0",), "1")):
        queue(
            world,
            name,
            {"cpu": cpu},
            flavors,
            cohort="all",
            preemption=LOWER,
            flavorFungibility={"whenCanPreempt": "Preempt"},
        )
    own = QueuedJob.of(world, "own", LONG, priority=high)
    world.until(own.is_ready())
    both = QueuedJobSet.of(world, "both", LONG, jobs=2, driver={})
    world.until(both.is_ready())
    world.wait(2 * SECOND)
    first = QueuedJob.of(world, "first", RUNS, cpu=2, priority=high)
    world.until(first.is_finished())


@scenario(
    arms=["KQ-113"],
    kills="preemptors-borrow",
    roles=("kueue", "jobset"),
    cases={"at-once": False, "its-queue-is-held-meanwhile": True},
)
def victim_gives_back_more(world: World, is_held: bool) -> None:
    """A JobSet, for whose first pod set a borrower of several CPUs is preempted, does not borrow
    from the rest of them for its second, which gets the next flavor."""
    fungibility = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
    queue(
        world,
        flavors=("f0", "f1"),
        quota={"cpu": "2"},
        cohort="all",
        preemption=RECLAIMS,
        flavorFungibility=fungibility,
    )
    queue(world, "other", flavors=("f0",), quota={"cpu": "3"}, cohort="all")
    own = QueuedJob.of(world, "own", LONG)
    behaviour = f"{LONG}, stop 20s" if is_held else LONG
    borrows = QueuedJob.of(world, "borrows", behaviour, queue="other", cpu=4)
    world.until(own.is_ready() & borrows.is_ready())
    world.wait(2 * SECOND)
    its = QueuedJobSet.of(world, "its", RUNS, driver={})
    if is_held:
        world.wait(5 * SECOND)
        stop(world, LOCAL_QUEUE, "main", "Hold")
        borrows.activate(False)
        world.until(borrows.has_released())
        stop(world, LOCAL_QUEUE, "main", "None")
    world.until(its.is_finished())


@scenario(arms=["KQ-045"], kills="borrowing-is-put-off")
def preemptor_comes_back_and_borrows(world: World) -> None:
    """A Job, for which another one was preempted, is stopped. When it comes back, it borrows in the
    first flavor as any other one."""
    high = priority_class(world, "high", 10)
    for name, flavors in (("main", ("f0", "f1")), ("other", ("f0",))):
        queue(world, name, {"cpu": "2"}, flavors, cohort="all", preemption=LOWER)
    lends = QueuedJob.of(world, "lends", LONG, queue="other", cpu=2)
    low = QueuedJob.of(world, "low", LONG, cpu=2)
    world.until(lends.is_ready() & low.is_ready())
    fills = QueuedJob.of(world, "fills", LONG, cpu=2, priority=high)
    world.until(fills.is_ready())
    its = QueuedJob.of(world, "its", RUNS, cpu=2, priority=high)
    world.until(its.is_ready())
    for each in (low, lends, fills):
        each.delete("Background")
    its.activate(False)
    world.until(its.has_released())
    own = QueuedJob.of(world, "own", LONG, cpu=2, priority=high)
    world.until(own.is_ready())
    its.activate(True)
    world.until(its.is_finished())


@scenario(
    arms=["KQ-055"],
    kills="high-ones-lose-first",
    cases={"priority": "priority", "time": "time", "quota-again": "again"},
)
def candidates_have_an_order(world: World, by: str) -> None:
    """The Job of the lowest priority is preempted, and of equal ones the last to get quota, which
    may be the first that was created."""
    low, high = priority_class(world, "low", 1), priority_class(world, "high", 10)
    middle = priority_class(world, "middle", 5) if by == "priority" else low
    queue(world, quota={"cpu": "2"}, preemption=LOWER)
    jobs = []
    for name, priority in (("early", low), ("late", middle)):
        jobs.append(QueuedJob.of(world, name, LONG, priority=priority))
        world.until(jobs[-1].is_ready())
        world.wait(2 * SECOND)
    if by == "again":
        jobs[0].activate(False)
        world.until(jobs[0].has_released())
        jobs[0].activate(True)
        world.until(jobs[0].is_ready())
        world.wait(2 * SECOND)
    first = QueuedJob.of(world, "first", RUNS, priority=high)
    world.until(first.is_finished())
    world.wait(MINUTE)


@scenario(arms=["KQ-105"], kills="debts-are-never-paid")
def two_preempt_each_other(world: World) -> None:
    """Of two Jobs that have preempted each other the one that fits is admitted."""
    high = priority_class(world, "high", 10)
    for name in ("main", "other"):
        queue(world, name, quota={"cpu": "2"}, cohort="all", preemption=RECLAIMS)
    ends = QueuedJob.of(world, "ends", "run 3m", queue="other", cpu=2, priority=high)
    world.until(ends.is_ready())
    one = QueuedJob.of(world, "one", LONG, queue="other", cpu=2)
    world.until(one.is_ready())
    world.wait(5 * SECOND)
    two = QueuedJob.of(world, "two", LONG, cpu=2)
    world.until(two.is_ready())
    stop(world, LOCAL_QUEUE, "other", "Hold")
    world.until(ends.is_finished())
    borrows = QueuedJob.of(world, "borrows", "run 30m", cpu=2, priority=high)
    world.until(borrows.is_ready())
    stop(world, LOCAL_QUEUE, "other", "None")
    world.until(two.has_released())
    world.until(one.is_ready())


@scenario(
    arms=["KQ-055", "KQ-116"],
    kills="leaving-ones-come-last",
    config=holds_until_terminal(),
    cases={"enough": True, "half": False},
)
def what_leaves_is_counted(world: World, is_enough: bool) -> None:
    """A Job needs no victims, or fewer, where others are about to give quota back anyway."""
    for name in ("main", "other"):
        queue(world, name, quota={"cpu": "4"}, cohort="all", preemption=RECLAIMS)
    of = "other" if is_enough else "main"
    leaves = QueuedJob.of(world, "leaves", "run forever, stop 2m", queue=of, cpu=2)
    world.until(leaves.is_ready())
    for n in range(2 if is_enough else 3):
        world.wait(2 * SECOND)
        borrows = QueuedJob.of(world, f"borrows-{n}", LONG, queue="other", cpu=2)
        world.until(borrows.is_ready())
    leaves.activate(False)
    world.wait(10 * SECOND)
    needs = QueuedJob.of(world, "needs", RUNS, cpu=4)
    world.until(needs.is_finished())
