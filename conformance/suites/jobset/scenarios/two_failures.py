"""Two failures, seen by the controller at once or one after the other.

The cases are the rules that they match, in each order. The JobSet has a Job `a-w-0` that fails
first, and another, `a-v-0`; rules target one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.breaking import operator_away
from conformance.scenario_type import scenario
from conformance.suites.jobset.api import (
    FAIL_JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import Condition, World
from vocabulary.clock import SECOND

FIRST: Final = "w-0"
SECOND_ONE: Final = "v-0"


def _to(action: str, target: str) -> Mapping[str, Any]:
    return rule(action, targets=[target])


ORDERS: Final = {
    "restart-then-fail": [_to(FAIL_JOB_SET, "v"), _to(RESTART_JOB_SET, "w")],
    "fail-then-restart": [_to(FAIL_JOB_SET, "w"), _to(RESTART_JOB_SET, "v")],
    "uncounted-then-counted": [_to(RESTART_JOB_SET, "v"), _to(RESTART_UNCOUNTED, "w")],
    "counted-then-uncounted": [_to(RESTART_UNCOUNTED, "v"), _to(RESTART_JOB_SET, "w")],
    "job-then-job": [_to(RESTART_JOB, "w"), _to(RESTART_JOB, "v")],
    "job-then-all": [_to(RESTART_JOB, "w"), _to(RESTART_JOB_SET, "v")],
    "all-then-job": [_to(RESTART_JOB, "v"), _to(RESTART_JOB_SET, "w")],
    "default-then-fail": [_to(FAIL_JOB_SET, "v")],
    "counted-then-counted": [rule(RESTART_JOB_SET)],
}
"""Rules that the first failure and the second one match, as Appendix B of the claims has them."""


def _answered(its: JobSet) -> Condition:
    """It has ended, or is running again: no Job stands that failed."""
    return its.has_failed() | its.is_ready()


@scenario(arms=["JS-002", "JS-008", "JS-061"], kills="latest-failure-first", cases=ORDERS)
def seen_at_once(world: World, rules: list[Any]) -> None:
    """Of two failures that happened while no controller ran, the earlier one decides."""
    its = _running(world, rules)
    with operator_away(world, for_us=5 * SECOND):
        its.fail(FIRST)
        world.wait(5 * SECOND)
        its.fail(SECOND_ONE)
    world.until(_answered(its))


@scenario(arms=["JS-008"], cases=ORDERS)
def seen_in_turn(world: World, rules: list[Any]) -> None:
    """A second failure a moment after the first is judged anew, or swept away by the restart."""
    its = _running(world, rules)
    its.fail(FIRST)
    world.until(its.has_failed_job(FIRST))
    its.fail(SECOND_ONE)
    world.wait(2 * SECOND)
    world.until(_answered(its))


@scenario(arms=["JS-008"], cases=ORDERS)
def happening_together(world: World, rules: list[Any]) -> None:
    """Two failures of the same moment may be taken in either order."""
    its = _running(world, rules)
    its.fail(FIRST)
    its.fail(SECOND_ONE)
    world.wait(2 * SECOND)
    world.until(_answered(its))


def _running(world: World, rules: list[Any]) -> JobSet:
    jobs = [replicated_job("w"), replicated_job("v")]
    return JobSet.ready(world, job_set(jobs, rules))
