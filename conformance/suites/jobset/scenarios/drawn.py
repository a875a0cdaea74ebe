"""Failure policies, JobSets and what happens to them drawn at random, always the same.

The other scenarios put one thing to the test each. Here rules of every kind stand in any order,
over names that begin alike, with lists that are empty or missing, and with any budget; Jobs fail
for either reason, or succeed. JobSets have any shape: replicated jobs without Jobs, Jobs with more
completions than pods, groups, an order; and their Jobs are deleted, and the whole is suspended.
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
    SEEN_SECONDS,
    failing_by_policy,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.objects import name_of
from vocabulary.requests import PropagationPolicy

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


@scenario(
    arms=["JS-103"],
    cases={f"{number:02}": number for number in range(1, 25)},
)
def shape_is_drawn(world: World, number: int) -> None:
    """A JobSet of a shape that was drawn comes through what happens to JobSets."""
    _live(world, Random(2_000 + number), ACTIONS)


@scenario(
    arms=["JS-103"],
    cases={f"{number:02}": number for number in range(1, 25)},
)
def shape_with_future_actions_is_drawn(world: World, number: int) -> None:
    """A JobSet of a shape that was drawn comes through it with the actions of the future work."""
    _live(world, Random(3_000 + number), (*FUTURE_ACTIONS, FAIL_JOB))


def _live(world: World, rng: Random, actions: tuple[str, ...]) -> None:
    its = JobSet.submit(world, _shape(rng, actions))
    for _ in range(ROUNDS):
        world.wait(10 * SECOND)
        if its.state.has_ended:
            break
        _befall(its, rng)
    if its.state.is_suspended and not its.state.has_ended:
        its.resume()
    world.wait(30 * SECOND)


def _befall(its: JobSet, rng: Random) -> None:
    """One of the things that happen to a JobSet that has not ended."""
    what = rng.choice(("fail", "fail", "fail both", "delete", "suspend"))
    running = [name for name in map(name_of, its.jobs) if its.runs(name.removeprefix("a-"))]
    if what == "suspend" or its.state.is_suspended:
        its.suspend(not its.state.is_suspended)
    elif what == "delete":
        name = rng.choice([name_of(job) for job in its.jobs] or [""])
        if name:
            in_foreground = rng.random() < 0.3
            propagation: PropagationPolicy = "Foreground" if in_foreground else "Background"
            its.delete_job(name.removeprefix("a-"), propagation)
    elif running:
        code = rng.choice(EXIT_CODES)
        for name in rng.sample(running, min(len(running), 2 if what == "fail both" else 1)):
            its.fail(name.removeprefix("a-"), code)


def _shape(rng: Random, actions: tuple[str, ...]) -> dict[str, Any]:
    names = rng.sample(NAMES, rng.choice((2, 2, 3, 4)))
    jobs = [_replicated_job(rng, name) for name in names]
    jobs[-1]["replicas"] = max(1, jobs[-1]["replicas"])
    order = rng.choice(("any", "any", "in order", "after others"))
    if order == "after others":
        for position in range(1, len(jobs)):
            needed = rng.sample(names[:position], rng.randint(1, min(2, position)))
            states = [rng.choice(("Ready", "Ready", "Complete")) for _ in needed]
            jobs[position]["dependsOn"] = [
                {"name": name, "status": status}
                for name, status in zip(needed, states, strict=True)
            ]
    rules = [_rule(rng, actions, names) for _ in range(rng.choice((1, 2, 2, 3)))]
    found = job_set(jobs, rules, max_restarts=rng.choice((1, 2, 3)))
    if order == "in order":
        found["spec"]["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    if rng.random() < 0.3:
        there = [each["name"] for each in jobs if each["replicas"]]
        found["spec"]["successPolicy"] = {
            "operator": rng.choice(("All", "Any")),
            "targetReplicatedJobs": rng.sample(there, 1),
        }
    found["spec"]["suspend"] = rng.random() < 0.2
    return found


def _replicated_job(rng: Random, name: str) -> dict[str, Any]:
    parallelism = rng.choice((1, 1, 2))
    fields: dict[str, Any] = {
        "parallelism": parallelism,
        "completions": parallelism * rng.choice((1, 1, 2)),
        **failing_by_policy(),
    }
    if rng.random() < 0.3:
        fields["ttlSecondsAfterFinished"] = SEEN_SECONDS
    behaviour = rng.choice(("run forever", "run forever, stop 5s", "run 15s, exit 0"))
    found = replicated_job(name, rng.choice((0, 1, 1, 2, 2, 3)), behaviour, **fields)
    if rng.random() < 0.4:
        found["groupName"] = rng.choice(("g", "h"))
    return found


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
