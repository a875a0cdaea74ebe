"""Replicated jobs that wait for others when they start."""

from __future__ import annotations

from typing import Any, Final

from chaos.faults import CreateObject
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    foreign_job,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World
from vocabulary.clock import SECOND

COUNTED: Final = rule(RESTART_JOB_SET)
NON_INDEXED: Final = "NonIndexed"
IN_ORDER: Final[dict[str, Any]] = {"startupPolicy": {"startupPolicyOrder": "InOrder"}}


def _jobs(**of_workers: Any) -> list[dict[str, Any]]:
    """A replicated job that takes a while to be ready, and workers."""
    slow = replicated_job("driver", 2, behaviour="ready-after 10s")
    return [slow, {**replicated_job("w", 2), **of_workers}]


ORDERS: Final = {
    "in-order": (_jobs(), IN_ORDER),
    "when-ready": (_jobs(dependsOn=[{"name": "driver", "status": "Ready"}]), {}),
}


@scenario(arms=["JS-100"], cases=ORDERS)
def later_jobs_wait(world: World, case: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    """Jobs that wait for others start once these are ready: at first, and after a restart."""
    jobs, spec = case
    its = JobSet.submit(world, job_set(jobs, [COUNTED], **spec))
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


def _work_queue() -> dict[str, Any]:
    """Its pods share the work: how many have to complete is not said."""
    found = replicated_job(
        "driver", 2, "ready-after 10s", parallelism=2, completionMode=NON_INDEXED
    )
    del found["template"]["spec"]["completions"]
    return found


SHAPES: Final = {
    "of-less-work-than-pods": replicated_job(
        "driver", 2, "ready-after 10s", parallelism=3, completions=2
    ),
    "work-queue": _work_queue(),
}


@scenario(arms=["JS-100"], cases=SHAPES)
def later_jobs_wait_for_all_pods(world: World, earlier: dict[str, Any]) -> None:
    """A Job is ready once all the pods that it can have are: as many as it has work for."""
    JobSet.ready(world, job_set([earlier, replicated_job("w", 2)], [COUNTED], **IN_ORDER))


@scenario(arms=["JS-100"], kills="missing-jobs-are-not-awaited", cases=ORDERS)
def earlier_job_is_missing(world: World, case: tuple[list[dict[str, Any]], dict[str, Any]]) -> None:
    """Jobs wait for all that come before them, also for one whose name is taken at first."""
    world.inject(CreateObject(foreign_job("a-driver-1")))
    jobs, spec = case
    its = JobSet.submit(world, job_set(jobs, [COUNTED], **spec))
    world.until(its.has_started("driver-0"))
    world.wait(30 * SECOND)
    its.delete_job("driver-1")
    world.until(its.is_ready())


@scenario(arms=["JS-100"])
def later_jobs_wait_for_success(world: World) -> None:
    """Jobs that wait for the success of others do not start when these are ready alone."""
    jobs = [replicated_job("first", 2), replicated_job("then")]
    jobs[1]["dependsOn"] = [{"name": "first", "status": "Complete"}]
    its = JobSet.submit(world, job_set(jobs, [COUNTED]))
    for name in ("first-0", "first-1"):
        world.until(its.has_started(name))
        world.wait(10 * SECOND)
        its.fail(name, 0)
        world.until(its.has_job(name, "Complete"))
    world.until(its.is_ready())


@scenario(arms=["JS-100"])
def several_are_awaited(world: World) -> None:
    """Jobs that wait for two others start after the later one, whichever is named first."""
    jobs = [replicated_job(name) for name in ("first", "second", "then")]
    jobs[2]["dependsOn"] = [{"name": each, "status": "Complete"} for each in ("first", "second")]
    its = JobSet.submit(world, job_set(jobs, [COUNTED]))
    for name in ("first-0", "second-0"):
        world.until(its.has_started(name))
        its.fail(name, 0)
        world.until(its.has_job(name, "Complete"))
        world.wait(10 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-099", "JS-100"])
def jobs_are_resumed_in_order(world: World) -> None:
    """Jobs of a suspended JobSet are resumed in order, as they are started."""
    its = JobSet.ready(world, job_set(_jobs(), [COUNTED], **IN_ORDER))
    its.suspend()
    world.wait(20 * SECOND)
    its.resume()
    world.wait(5 * SECOND)
    world.until(its.is_ready())
