"""Jobs that are left failed, and the JobSets that they belong to."""

from __future__ import annotations

from typing import Final

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import (
    FAIL_JOB,
    RESTART_JOB,
    RESTART_REPLICATED_JOB,
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

LEAVES: Final = rule(FAIL_JOB)


@scenario(arms=["JS-072"], cases={"one": ("w-1",), "two": ("w-0", "w-2")})
def others_complete(world: World, failing: tuple[str, ...]) -> None:
    """Jobs that are left failed leave the others running, and the JobSet completes with those."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3), replicated_job("v")], [LEAVES]))
    for name in failing:
        its.fail(name)
        world.until(its.has_failed_job(name))
    world.wait(30 * SECOND)
    for name in sorted({"w-0", "w-1", "w-2", "v-0"} - {*failing}):
        its.fail(name, 0)
    world.until(its.has_completed())


@scenario(
    arms=["JS-072"],
    cases={"all": {}, "any": {"operator": "Any", "targetReplicatedJobs": ["w"]}},
)
def all_are_left_failed(world: World, policy: dict[str, object]) -> None:
    """A JobSet of which all Jobs that it asks for are left failed has failed."""
    jobs = [replicated_job("w", 2), *([replicated_job("v")] if policy else [])]
    manifest = job_set(jobs, [LEAVES])
    if policy:
        manifest["spec"]["successPolicy"] = policy
    its = JobSet.ready(world, manifest)
    its.fail("w-0")
    world.until(its.has_failed_job("w-0"))
    world.wait(10 * SECOND)
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(
    arms=["JS-072"],
    kills="completes-beside-failed",
    cases={
        "any-of-all": {"operator": "Any"},
        "all-of-one": {"operator": "All", "targetReplicatedJobs": ["v"]},
    },
)
def success_waits_for_the_others(world: World, policy: dict[str, object]) -> None:
    """Once a Job is left failed, the JobSet completes when all others have finished."""
    jobs = [replicated_job("w", 2), replicated_job("v")]
    its = JobSet.ready(world, job_set(jobs, [LEAVES], successPolicy=policy))
    its.fail("w-0")
    world.until(its.has_failed_job("w-0"))
    world.wait(5 * SECOND)
    its.fail("v-0", 0)
    world.until(its.has_job("v-0", "Complete"))
    world.wait(10 * SECOND)
    its.fail("w-1", 0)
    world.until(its.has_completed())


@scenario(arms=["JS-072"])
def other_failures_are_answered(world: World) -> None:
    """A Job that is left failed neither answers nor hides the failures of others."""
    jobs = [replicated_job("driver"), replicated_job("w", 2, **failing_by_policy())]
    rules = [rule(FAIL_JOB, [BY_POLICY]), rule(RESTART_JOB, [BY_BACKOFF], ["w"])]
    its = JobSet.ready(world, job_set(jobs, rules))
    its.fail("w-0", NON_RETRIABLE)
    world.until(its.has_failed_job("w-0"))
    its.fail("w-1")
    world.until(its.has_partly_restarted(1))
    its.fail("driver-0")
    its.ready_again(1)


@scenario(arms=["JS-072", "JS-105"])
def one_is_left_failed_for_good(world: World) -> None:
    """A Job that is left failed counts as such as long as the others run."""
    jobs = [replicated_job("w", 3), replicated_job("v")]
    its = JobSet.ready(world, job_set(jobs, [LEAVES]))
    its.fail("w-1")
    world.until(its.has_failed_job("w-1"))
    world.wait(10 * SECOND)


@scenario(arms=["JS-072"], cases={"one": ("w-0",), "two": ("w-0", "w-2")})
def left_failed_job_has_a_ttl(world: World, failing: tuple[str, ...]) -> None:
    """A Job that is left failed does not start again once its TTL has it deleted, and the JobSet
    completes with the others."""
    workers = replicated_job("w", 3, ttlSecondsAfterFinished=SEEN_SECONDS)
    its = JobSet.ready(world, job_set([workers, replicated_job("v")], [LEAVES]))
    for name in failing:
        its.fail(name)
        world.until(its.has_failed_job(name))
    world.wait(2 * SEEN_SECONDS * SECOND)
    for name in sorted({"w-0", "w-1", "w-2", "v-0"} - {*failing}):
        its.fail(name, 0)
    world.until(its.has_completed())


@scenario(arms=["JS-072", "JS-105"], kills="left-failed-comes-back")
def left_failed_job_is_gone(world: World) -> None:
    """The others run on when the TTL of a Job that is left failed has it deleted."""
    workers = replicated_job("w", 3, ttlSecondsAfterFinished=SEEN_SECONDS)
    its = JobSet.ready(world, job_set([workers, replicated_job("v")], [LEAVES]))
    its.fail("w-1")
    world.until(its.has_failed_job("w-1"))
    world.wait(2 * SEEN_SECONDS * SECOND)
    world.until(its.has_started("w-0"))


@scenario(arms=["JS-072", "JS-105"])
def another_job_is_deleted(world: World) -> None:
    """One Job is left failed; another one, which a user deletes, comes back."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3)], [LEAVES]))
    its.fail("w-1")
    world.until(its.has_failed_job("w-1"))
    its.delete_job("w-0")
    world.until(its.has_started("w-0"))


@scenario(
    arms=["JS-072"],
    cases={"all": ("All", False), "all-resumed": ("All", True), "any": ("Any", False)},
)
def left_failed_job_is_waited_for(world: World, case: tuple[str, bool]) -> None:
    """Jobs that wait for the success of one that is left failed never start: the JobSet has failed
    if it needs them, and completes with the others if it does not."""
    jobs = [replicated_job("first"), replicated_job("then"), replicated_job("w", 2)]
    jobs[1]["dependsOn"] = [{"name": "first", "status": "Complete"}]
    operator, is_resumed = case
    policy = {"operator": operator}
    asked = job_set(jobs, [LEAVES], successPolicy=policy, suspend=is_resumed)
    its = JobSet.submit(world, asked)
    if is_resumed:
        world.wait(10 * SECOND)
        its.resume()
    for name in ("first-0", "w-0", "w-1"):
        world.until(its.has_started(name))
    its.fail("first-0")
    world.until(its.has_failed_job("first-0"))
    world.wait(20 * SECOND)
    if operator == "Any":
        its.fail("w-0", 0)
        its.fail("w-1", 0)
    world.until(its.has_completed() | its.has_failed())


@scenario(arms=["JS-072"], cases={"success": "Complete", "readiness": "Ready"})
def left_failed_job_is_waited_for_by_way_of_another(world: World, status: str) -> None:
    """Jobs never start that wait for Jobs which wait for the success of one that is left failed:
    the JobSet has failed if its success policy asks for theirs."""
    jobs = [replicated_job("first"), replicated_job("then"), replicated_job("last")]
    jobs[1]["dependsOn"] = [{"name": "first", "status": "Complete"}]
    jobs[2]["dependsOn"] = [{"name": "then", "status": status}]
    policy = {"operator": "All", "targetReplicatedJobs": ["last"]}
    its = JobSet.submit(world, job_set(jobs, [LEAVES], successPolicy=policy))
    world.until(its.has_started("first-0"))
    its.fail("first-0")
    world.until(its.has_failed())


@scenario(arms=["JS-072", "JS-116"], kills="successes-run-again")
def what_was_waited_for_is_gone(world: World) -> None:
    """Jobs that run since all that they wait for had succeeded go on when one of those is deleted,
    and another one is left failed, and the JobSet completes with them."""
    jobs = [replicated_job("first"), replicated_job("then"), replicated_job("w")]
    jobs[1]["dependsOn"] = [{"name": "first", "status": "Complete"}]
    its = JobSet.submit(world, job_set(jobs, [LEAVES]))
    world.until(its.has_started("first-0"))
    its.fail("first-0", 0)
    world.until(its.has_started("then-0"))
    its.delete_job("first-0")
    world.wait(20 * SECOND)
    its.fail("w-0")
    world.until(its.has_failed_job("w-0"))
    world.wait(20 * SECOND)
    its.fail("then-0", 0)
    world.until(its.has_completed())


@scenario(arms=["JS-070", "JS-091"])
def left_failed_job_restarts_with_its_replicated_job(world: World) -> None:
    """A Job that is left failed starts again when a later failure restarts its replicated job."""
    rules = [rule(FAIL_JOB, [BY_POLICY]), rule(RESTART_REPLICATED_JOB, targets=["w"])]
    its = JobSet.ready(world, job_set([replicated_job("w", 2, **failing_by_policy())], rules))
    its.fail("w-0", NON_RETRIABLE)
    world.until(its.has_failed_job("w-0"))
    world.wait(5 * SECOND)
    its.fail("w-1")
    its.ready_again(partly=1)


@scenario(
    arms=["JS-072"],
    kills="all-that-never-start-count",
    cases={
        "all-of-others": ("All", ["w"], "Completed"),
        "any-of-others": ("Any", ["w"], "Completed"),
        "any-of-both": ("Any", ["then", "w"], "Completed"),
        "all-of-both": ("All", ["then", "w"], "Failed"),
        "any-of-those": ("Any", ["then"], "Failed"),
    },
)
def jobs_that_never_start(world: World, case: tuple[str, list[str], str]) -> None:
    """Jobs that wait for one that is left failed never start, nor once it is deleted. That fails
    the JobSet if its success policy cannot hold without them, and else it completes with the
    others."""
    operator, targets, end = case
    jobs = [replicated_job("first"), replicated_job("then"), replicated_job("w")]
    jobs[1]["dependsOn"] = [{"name": "first", "status": "Complete"}]
    policy = {"operator": operator, "targetReplicatedJobs": targets}
    its = JobSet.submit(world, job_set(jobs, [LEAVES], successPolicy=policy))
    for name in ("first-0", "w-0"):
        world.until(its.has_started(name))
    its.fail("first-0")
    world.until(its.has_failed_job("first-0"))
    if end == "Completed":
        world.wait(10 * SECOND)
        its.delete_job("first-0")
        world.wait(10 * SECOND)
        its.fail("w-0", 0)
        world.until(its.has_completed())
    else:
        world.until(its.has_failed())
