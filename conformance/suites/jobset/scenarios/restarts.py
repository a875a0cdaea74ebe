"""Restarts of the whole JobSet: what is replaced, in which order, and what hinders it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chaos.faults import HoldObject, KillPod, ReleaseObject
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import RESTART_JOB, RESTART_JOB_SET, RESTART_UNCOUNTED
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
from vocabulary.clock import MINUTE, SECOND

ACTIONS = {"counted": RESTART_JOB_SET, "uncounted": RESTART_UNCOUNTED}


@scenario(arms=["JS-001", "JS-026", "JS-091", "JS-094"], cases=ACTIONS)
def all_replicated_jobs_restart(world: World, action: str) -> None:
    """The failure of one targeted Job restarts the Jobs of all replicated jobs."""
    jobs = [replicated_job("driver"), replicated_job("w", 3)]
    its = JobSet.submit(world, job_set(jobs, [rule(action, targets=["w"])]))
    for name in ("w-2", "w-0"):
        its.fail_until_restarted(name)
    world.until(its.is_ready())


@scenario(
    arms=["JS-001", "JS-091", "JS-094"],
    kills="creates-before-all-are-gone",
    cases={
        "BlockingRecreate": ("BlockingRecreate", RESTART_JOB_SET),
        "BlockingRecreate-uncounted": ("BlockingRecreate", RESTART_UNCOUNTED),
        "Recreate": ("Recreate", RESTART_JOB_SET),
    },
)
def pods_stop_slowly(world: World, case: tuple[str, str]) -> None:
    """Pods that take long to stop delay their Job's successor, or those of all Jobs."""
    strategy, action = case
    jobs = [replicated_job("slow", behaviour="run forever, stop 20s"), replicated_job("w", 2)]
    manifest = job_set(jobs, [rule(action)])
    manifest["spec"]["failurePolicy"]["restartStrategy"] = strategy
    its = JobSet.submit(world, manifest)
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-091"], cases=ACTIONS)
def deletion_is_stuck(world: World, action: str) -> None:
    """A Job whose deletion is held up restarts when it is let go, and counts once."""
    its = JobSet.ready(world, job_set([replicated_job("w", 3)], [rule(action)]))
    held = HoldObject(kind="Job", name=its.job("w-2"))
    world.inject(held)
    its.fail("w-0")
    world.until(its.has_restarted(1))
    world.wait(MINUTE)
    world.inject(ReleaseObject(kind="Job", name=its.job("w-2")))
    world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-091"])
def a_job_has_completed(world: World) -> None:
    """A restart recreates the Jobs that run, whatever becomes of those that have completed."""
    jobs = [replicated_job("once", behaviour="run 2s, exit 0"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [rule(RESTART_JOB_SET)]))
    world.until(its.has_job("once-0", "Complete"))
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-021", "JS-093", "JS-095"])
def finished_jobs_are_kept(world: World) -> None:
    """A JobSet that fails deletes the Jobs that run, and keeps those that have finished."""
    jobs = [replicated_job("once", behaviour="run 2s, exit 0"), replicated_job("w", 3)]
    its = JobSet.submit(world, job_set(jobs, [], max_restarts=0))
    world.until(its.has_job("once-0", "Complete"))
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_failed())
    world.wait(30 * SECOND)


@scenario(arms=["JS-093", "JS-095"])
def completed_jobset_stays_so(world: World) -> None:
    """A JobSet all of whose Jobs succeed is Completed, and nothing starts again."""
    jobs = [replicated_job("w", 2, behaviour="run 5s, exit 0")]
    its = JobSet.submit(world, job_set(jobs, [rule(RESTART_JOB_SET)]))
    world.until(its.has_completed())
    world.wait(30 * SECOND)


@scenario(arms=["JS-090", "JS-097"])
def one_job_keeps_failing(world: World) -> None:
    """Failures that count come to an end when the budget is spent."""
    workers = replicated_job("w", 2, behaviour="run 2s, exit 1")
    its = JobSet.submit(world, job_set([workers], [rule(RESTART_JOB_SET)], max_restarts=2))
    world.until(its.has_failed())


@scenario(arms=["JS-097"])
def one_job_restarts_alone(world: World) -> None:
    """A Job that restarts alone waits longer each time, and spends the budget of all."""
    rules = [rule(RESTART_JOB, targets=["w"])]
    jobs = [replicated_job("driver"), replicated_job("w", 2, behaviour="run 1s, exit 1")]
    its = JobSet.submit(world, job_set(jobs, rules, max_restarts=6))
    world.until(its.has_failed())


@scenario(arms=["JS-024", "JS-025"])
def uncounted_restart_follows_a_counted_one(world: World) -> None:
    """A restart that does not count comes before a counted one has all of its Jobs replaced."""
    slow = replicated_job("slow", behaviour="run forever, stop 20s")
    workers = replicated_job("w", **failing_by_policy())
    its = JobSet.submit(world, job_set([slow, workers], [rule(RESTART_UNCOUNTED, [BY_POLICY])]))
    its.fail_until_restarted("w-0")
    world.wait(6 * SECOND)
    world.until(its.has_started("w-0"))
    its.fail("w-0", NON_RETRIABLE)
    its.ready_again(2)


@scenario(arms=["JS-001", "JS-047"])
def evicted_often_after_a_restart(world: World) -> None:
    """The cost of later suspensions is not the cost of the restart before them."""
    its = JobSet.submit(world, job_set([replicated_job("w", 4)], [rule(RESTART_JOB_SET)]))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    for _ in range(6):
        its.suspend()
        world.wait(10 * SECOND)
        its.resume()
        world.until(its.is_ready())


@scenario(arms=["JS-001", "JS-047"], kills="completed-run-again")
def one_job_is_slow_after_a_restart(world: World) -> None:
    """While one Job of a restart starts slowly, nothing is asked for again that is there or has
    been."""
    jobs = [
        replicated_job("slow", behaviour="ready-after 60s"),
        replicated_job("once", 2, behaviour="run 1s, exit 0"),
        replicated_job("w", 2),
        replicated_job("shaky", parallelism=8, completions=8, backoffLimit=99),
    ]
    its = JobSet.submit(world, job_set(jobs, [rule(RESTART_JOB_SET)]))
    its.fail_until_restarted("w-0")
    world.until(its.has_started("shaky-0"))
    for _ in range(8):
        world.inject(KillPod(its.pods_of("shaky-0", "first"), exit_code=1))
        world.wait(5 * SECOND)
    world.until(its.is_ready())


@scenario(arms=["JS-022", "JS-090"])
def one_failure_spends_the_last_restart(world: World) -> None:
    """The failure that the last restart answers does not fail the JobSet while its Job is going."""
    workers = replicated_job("w", 2, behaviour="run forever, stop 5s")
    its = JobSet.submit(world, job_set([workers], [rule(RESTART_JOB_SET)], max_restarts=1))
    its.fail_until_restarted("w-0")
    world.wait(5 * SECOND)
    world.until(its.is_ready())


ORDERS: Final[Mapping[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "in-order": ({}, {"startupPolicy": {"startupPolicyOrder": "InOrder"}}),
    "depends-on": ({"dependsOn": [{"name": "driver", "status": "Ready"}]}, {}),
}


@scenario(arms=["JS-001", "JS-091"], kills="waiting-jobs-stay-away", cases=ORDERS)
def replicated_jobs_wait_for_others(
    world: World, order: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    """Jobs that wait for those of another replicated job come back once these are ready."""
    waits, spec = order
    workers = {**replicated_job("w", 2), **waits}
    its = JobSet.ready(
        world, job_set([replicated_job("driver"), workers], [rule(RESTART_JOB_SET)], **spec)
    )
    for times, name in enumerate(("driver-0", "w-1"), start=1):
        its.fail(name)
        world.until(its.has_restarted(times))
        world.wait(5 * SECOND)
        world.until(its.is_ready())
