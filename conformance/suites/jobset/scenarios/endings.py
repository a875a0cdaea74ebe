"""Failures that end a JobSet."""

from __future__ import annotations

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    BY_POLICY,
    NON_RETRIABLE,
    failing_by_policy,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World
from vocabulary.clock import SECOND

FAIL = rule(FAIL_JOB_SET)


@scenario(arms=["JS-020", "JS-048", "JS-060"])
def restarts_are_left(world: World) -> None:
    """FailJobSet fails the JobSet though restarts are left, and nothing starts again."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3)], [FAIL], max_restarts=5))
    its.fail("w-1")
    world.until(its.has_failed())
    world.wait(30 * SECOND)


@scenario(arms=["JS-020", "JS-048"])
def after_restarts(world: World) -> None:
    """A failure that is not to be retried ends a JobSet that has restarted for others."""
    workers = replicated_job("w", 2, **failing_by_policy())
    rules = [rule(FAIL_JOB_SET, [BY_POLICY]), rule(RESTART_UNCOUNTED, targets=["w"])]
    its = JobSet.submit(world, job_set([workers], rules))
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())
    its.fail("w-0", NON_RETRIABLE)
    world.until(its.has_failed())
    world.wait(30 * SECOND)


@scenario(arms=["JS-027"])
def no_policy(world: World) -> None:
    """Without a failure policy the first failure of a Job fails the JobSet."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    its = JobSet.ready(world, job_set(jobs, None))
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(arms=["JS-022", "JS-003"], cases={"none": 0, "negative": -1})
def no_restarts_are_allowed(world: World, max_restarts: int) -> None:
    """With no restarts to spend, the first failure that counts fails the JobSet."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], max_restarts=max_restarts))
    its.fail("w-0")
    world.until(its.has_failed())
