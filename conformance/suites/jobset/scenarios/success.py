"""JobSets that succeed, by each success policy, and what is not a success yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chaos.faults import ApiErrors
from conformance.breaking import during, operator_away
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    SEEN_SECONDS,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World
from vocabulary.clock import SECOND

COUNTED: Final = rule(RESTART_JOB_SET)
ALL: Final = {"operator": "All"}
ANY: Final = {"operator": "Any"}
OF_W: Final = {"targetReplicatedJobs": ["w"]}
OF_SPARE: Final = {"targetReplicatedJobs": ["spare"]}


@scenario(
    arms=["JS-098", "JS-102"],
    kills="success-of-all-is-asked",
    cases={
        "all": (None, ("w-0", "v-0", "w-1")),
        "all-of-one": ({**ALL, **OF_W}, ("w-0", "w-1")),
        "all-of-one-later": ({**ALL, **OF_W}, ("v-0", "w-0", "w-1")),
        "any": (ANY, ("v-0",)),
        "any-of-one": ({**ANY, **OF_W}, ("v-0", "w-1")),
    },
)
def jobs_succeed_in_turn(
    world: World, case: tuple[Mapping[str, Any] | None, tuple[str, ...]]
) -> None:
    """A JobSet completes with the last of the Jobs that its success policy asks for."""
    policy, order = case
    spec: dict[str, Any] = {} if policy is None else {"successPolicy": policy}
    jobs = [replicated_job("w", 2), replicated_job("v")]
    its = JobSet.ready(world, job_set(jobs, [COUNTED], **spec))
    for name in order:
        its.fail(name, 0)
        world.until(its.has_job(name, "Complete"))
        world.wait(10 * SECOND)
    world.until(its.has_completed())
    world.wait(10 * SECOND)


@scenario(arms=["JS-098"], cases={"all": ALL, "any": ANY, "any-of-none": {**ANY, **OF_SPARE}})
def replicated_job_of_no_replicas(world: World, policy: Mapping[str, Any]) -> None:
    """A replicated job without Jobs neither completes a JobSet nor keeps it from completing."""
    jobs = [replicated_job("w", 2), replicated_job("spare", 0)]
    its = JobSet.ready(world, job_set(jobs, [COUNTED], successPolicy=policy))
    world.wait(10 * SECOND)
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    for name in ("w-0", "w-1"):
        if its.runs(name):
            its.fail(name, 0)
            world.wait(10 * SECOND)


@scenario(
    arms=["JS-116"], kills="successes-run-again", cases={"by-ttl": True, "by-its-user": False}
)
def what_has_succeeded_is_gone(world: World, has_ttl: bool) -> None:
    """A Job that has succeeded and is deleted does not run again, and the JobSet completes with the
    others; after a restart it runs again."""
    ttl: dict[str, Any] = {"ttlSecondsAfterFinished": SEEN_SECONDS} if has_ttl else {}
    its = JobSet.ready(world, job_set([replicated_job("w", 2, **ttl)], [COUNTED]))
    for times in range(2):
        its.fail("w-0", 0)
        world.until(its.has_job("w-0", "Complete"))
        world.wait(2 * SEEN_SECONDS * SECOND)
        if not has_ttl:
            its.delete_job("w-0")
            world.wait(10 * SECOND)
        if times == 0:
            its.fail("w-1")
            its.ready_again(1)
    its.fail("w-1", 0)
    world.until(its.has_completed())


@scenario(arms=["JS-098"])
def success_before_a_restart(world: World) -> None:
    """A JobSet that restarts after some of its Jobs had succeeded completes with all of them."""
    jobs = [replicated_job("once", behaviour="run 5s, exit 0"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [COUNTED]))
    world.until(its.has_job("once-0", "Complete"))
    its.fail("w-0", 0)
    world.until(its.has_job("w-0", "Complete"))
    its.fail("w-1")
    its.ready_again(1)
    its.fail("w-1", 0)
    world.until(its.has_job("w-1", "Complete"))
    world.wait(10 * SECOND)
    its.fail("w-0", 0)
    world.until(its.has_completed())


@scenario(arms=["JS-098"])
def success_of_a_job_that_restarts(world: World) -> None:
    """A Job that succeeds after the restart which replaces it, and before it is deleted, may count,
    and the JobSet completes."""
    jobs = [replicated_job("w", 2)]
    its = JobSet.ready(world, job_set(jobs, [COUNTED], successPolicy=ANY))
    kept_back = ApiErrors(verb=("delete",), kind="Job", times=0)
    with during(world, kept_back):
        its.fail("w-0")
        world.until(its.has_restarted(1))
        its.fail("w-1", 0)
        world.until(its.has_job("w-1", "Complete"))
        world.wait(10 * SECOND)
    world.until(its.is_ready() | its.has_completed())
    if its.runs("w-0"):
        its.fail("w-0", 0)
    world.until(its.has_completed())


@scenario(arms=["JS-098"], kills="completes-without-missing-jobs")
def success_of_a_later_job_is_awaited(world: World) -> None:
    """A JobSet does not complete before the Jobs that wait for others have succeeded, too."""
    jobs = [replicated_job("first"), replicated_job("then")]
    jobs[1]["dependsOn"] = [{"name": "first", "status": "Complete"}]
    its = JobSet.submit(world, job_set(jobs, [COUNTED]))
    world.until(its.has_started("first-0"))
    its.fail("first-0", 0)
    world.until(its.is_ready())
    its.fail("then-0", 0)
    world.until(its.has_completed())


@scenario(arms=["JS-093", "JS-095"])
def success_beside_the_end(world: World) -> None:
    """A JobSet that a failure has ended stays Failed, though all that it waited for succeed."""
    jobs = [replicated_job("w"), replicated_job("v")]
    policy = {**ALL, **OF_W}
    its = JobSet.ready(world, job_set(jobs, [rule(FAIL_JOB_SET)], successPolicy=policy))
    with operator_away(world, for_us=5 * SECOND):
        its.fail("v-0")
        world.wait(5 * SECOND)
        its.fail("w-0", 0)
    world.until(its.has_failed())
    world.wait(30 * SECOND)
