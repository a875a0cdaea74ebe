"""Queues, and jobs that wait in them, drawn at random, always the same.

The other scenarios put one thing to the test each. Here quotas, limits and policies of every kind
stand side by side, over queues that lend to one another; jobs of several pod sets come, lose pods,
fail, are stopped and go.
"""

from __future__ import annotations

from random import Random
from typing import Any

from chaos.choice import PodChoice
from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.kueue.handle import (
    QueuedJob,
    QueuedJobSet,
    job,
    job_set,
    priority_class,
    queue,
)
from conformance.world import World
from vocabulary.clock import SECOND

FLAVORS = ("f0", "f1", "f2")
BEHAVIOURS = ("run 30s", "run 1m", "run forever", "run forever, stop 5s")
ROUNDS, MOST_JOBS = 16, 8


@scenario(
    arms=["KQ-047"],
    kills="first-pod-set-is-enough",
    roles=("kueue", "jobset"),
    cases={f"{number:02}": number for number in range(1, 33)},
)
def queues_are_drawn(world: World, number: int) -> None:
    """Queues and jobs that were drawn keep to the quota, the order and the policies."""
    rng = Random(number)
    queues = _queues(world, rng)
    classes = [priority_class(world, name, value) for name, value in (("low", 1), ("high", 9))]
    jobs: list[QueuedJob | QueuedJobSet] = []
    its: QueuedJob | QueuedJobSet | None = None
    for _ in range(ROUNDS):
        if len(jobs) < MOST_JOBS and (not jobs or rng.random() < 0.7):
            into, priority = rng.choice(queues), rng.choice(classes)
            jobs.append(_submit(world, rng, f"j{len(jobs)}", into, priority))
        world.wait(rng.choice((1, 5, 20)) * SECOND)
        # Several things happen to the same job, one after the other.
        its = rng.choice(jobs) if its is None or rng.random() < 0.5 else its
        _befall(world, rng, its)
    world.wait(30 * SECOND)
    for its in jobs:
        if its.now:
            its.delete()


def _queues(world: World, rng: Random) -> list[str]:
    names = ["qa", "qb", "qc"][: rng.choice((1, 2, 2, 3))]
    cohort = {"cohort": "all"} if len(names) > 1 else {}
    for name in names:
        limits: dict[str, str] = {}
        if cohort and rng.random() < 0.3:
            limits["borrowingLimit"] = str(rng.choice((0, 1, 2)))
        if cohort and rng.random() < 0.3:
            limits["lendingLimit"] = str(rng.choice((0, 1)))
        queue(
            world,
            name,
            quota={"cpu": str(rng.choice((2, 2, 3, 4)))},
            flavors=rng.sample(FLAVORS, rng.choice((1, 1, 2, 3))),
            limits=limits,
            queueingStrategy=rng.choice(("StrictFIFO", "BestEffortFIFO")),
            flavorFungibility={
                "whenCanBorrow": rng.choice(("Borrow", "TryNextFlavor")),
                "whenCanPreempt": rng.choice(("Preempt", "TryNextFlavor")),
            },
            preemption={
                "withinClusterQueue": rng.choice(
                    ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
                ),
                "reclaimWithinCohort": rng.choice(("Never", "LowerPriority", "Any")),
            },
            **cohort,
        )
    return names


def _submit(
    world: World, rng: Random, name: str, into: str, priority: str
) -> QueuedJob | QueuedJobSet:
    asked: dict[str, Any] = {
        "queue": into,
        "priority": priority if rng.random() < 0.6 else "",
        "cpu": rng.choice((1, 1, 2)),
    }
    behaviour = rng.choice(BEHAVIOURS)
    if rng.random() < 0.6:
        pods = rng.choice((1, 1, 2, 3))
        made = job(name, pods=pods, parallelism=rng.randint(1, pods), **asked)
        return QueuedJob.submit(world, made, behaviour)
    jobs, has_driver = rng.choice((1, 2)), rng.random() < 0.4
    made = job_set(name, jobs=jobs, driver={} if has_driver else None, **asked)
    rules = [{"action": "RestartJobSetAndIgnoreMaxRestarts"}]
    made["spec"]["failurePolicy"] = {"maxRestarts": rng.choice((0, 1)), "rules": rules}
    return QueuedJobSet.submit(world, made, behaviour)


def _befall(world: World, rng: Random, its: QueuedJob | QueuedJobSet) -> None:
    """One of the things that happen to a job."""
    what = rng.choice(("nothing", "pod ends", "pod ends", "pod fails", "stop", "delete"))
    if not its.now or not its.workload or its.state.is_finished:
        return
    if what == "delete":
        its.delete()
    elif what == "stop" or not its.state.is_active:
        its.activate(not its.state.is_active)
    elif what != "nothing":
        chosen = PodChoice(
            of=f"{its.kind.kind}/{its.name}",
            phase="Running",
            which=rng.choice(("first", "last")),
        )
        world.inject(KillPod(pod=chosen, exit_code=0 if what == "pod ends" else 1))
