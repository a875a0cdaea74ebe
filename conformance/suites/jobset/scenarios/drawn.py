"""Failure policies and failures drawn at random, always the same: all of a policy at once.

The other scenarios put one thing to the test each. Here rules of every kind stand in any order,
over names that begin alike, with lists that are empty or missing, and with any budget; Jobs fail
for either reason, or succeed.
"""

from __future__ import annotations

from random import Random
from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import (
    FAIL_JOB,
    FAIL_JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_REPLICATED_JOB,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    BY_BACKOFF,
    BY_POLICY,
    NON_RETRIABLE,
    failing_by_policy,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World
from vocabulary.clock import SECOND

ACTIONS = (FAIL_JOB_SET, RESTART_JOB_SET, RESTART_JOB_SET, RESTART_UNCOUNTED, RESTART_UNCOUNTED)
"""Those that restart stand twice: a JobSet that has failed shows nothing more."""
FUTURE_ACTIONS = (*ACTIONS, RESTART_REPLICATED_JOB, RESTART_JOB, RESTART_JOB, FAIL_JOB)
NAMES = ("w", "w-1", "work", "workers")
EXIT_CODES = (1, 1, NON_RETRIABLE, NON_RETRIABLE, 0)
ROUNDS = 6


@scenario(arms=["JS-090"], cases={f"{number:02}": number for number in range(1, 25)})
def policy_is_drawn(world: World, number: int) -> None:
    """Failures are answered by a policy that was drawn."""
    _run(world, Random(number), ACTIONS, together=(1,))


@scenario(
    arms=["JS-090"],
    kills="empty-lists-match-nothing",
    cases={f"{number:02}": number for number in range(1, 13)},
)
def policy_with_future_actions_is_drawn(world: World, number: int) -> None:
    """Failures are answered by a policy that was drawn, with the actions of the future work."""
    _run(world, Random(1_000 + number), FUTURE_ACTIONS, together=(1, 1, 2))


def _run(world: World, rng: Random, actions: tuple[str, ...], together: tuple[int, ...]) -> None:
    """`together`: how many Jobs fail at once; which one of them decides differs by edition."""
    names = rng.sample(NAMES, rng.choice((2, 2, 3)))
    jobs = [replicated_job(name, rng.choice((1, 2, 3)), **failing_by_policy()) for name in names]
    rules = [_rule(rng, actions, names) for _ in range(rng.choice((1, 2, 2, 3)))]
    manifest = job_set(jobs, rules, max_restarts=rng.choice((0, 1, 2, 2, 3)))
    if rng.random() < 0.3:
        targets = rng.sample(names, 1) if rng.random() < 0.5 else []
        manifest["spec"]["successPolicy"] = {
            "operator": rng.choice(("All", "Any")),
            **({"targetReplicatedJobs": targets} if targets else {}),
        }
    its = JobSet.ready(world, manifest)
    for _ in range(ROUNDS):
        running = [
            f"{each['name']}-{index}"
            for each in jobs
            for index in range(each["replicas"])
            if its.runs(f"{each['name']}-{index}")
        ]
        if not running:
            return
        for name in rng.sample(running, min(len(running), rng.choice(together))):
            its.fail(name, rng.choice(EXIT_CODES))
        world.wait(5 * SECOND)
        world.until(its.has_settled())


def _rule(rng: Random, actions: tuple[str, ...], names: list[str]) -> dict[str, Any]:
    """A rule whose lists are missing, empty, or hold some of what there is."""
    found = dict(rule(rng.choice(actions)))
    for field, values in (
        ("onJobFailureReasons", (BY_POLICY, BY_BACKOFF)),
        ("targetReplicatedJobs", tuple(names)),
    ):
        shape = rng.choice(("missing", "missing", "empty", "some"))
        if shape == "some":
            found[field] = rng.sample(values, rng.randint(1, len(values) - 1))
        elif shape == "empty":
            found[field] = []
    return found
