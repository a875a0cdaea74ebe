"""Rules that match by the message of a failed Job, a condition that released JobSets have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET
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

OF_THE_FAILURE = f"exit code {NON_RETRIABLE} matching"
OF_ANOTHER = "exit code 3 matching"


@scenario(
    arms=["JS-003"], kills="any-message", cases={"any-reason": [], "listed-reason": [BY_POLICY]}
)
def message_is_not_matched(world: World, reasons: Sequence[str]) -> None:
    """A rule whose expression is not in the message does not match, whatever its reasons are."""
    its = _job_set(world, rule(FAIL_JOB_SET, reasons), [OF_ANOTHER])
    its.fail_until_restarted("w-0", NON_RETRIABLE)
    world.until(its.is_ready())


@scenario(
    arms=["JS-005", "JS-020", "JS-060"],
    kills="whole-message-only",
    cases={
        "part": [OF_THE_FAILURE],
        "whole": [f"^Container main for pod .* failed with {OF_THE_FAILURE} FailJob rule .*$"],
        "second": [OF_ANOTHER, OF_THE_FAILURE],
    },
)
def message_is_matched(world: World, patterns: Sequence[str]) -> None:
    """A rule matches if one of its expressions is in the message, and its other conditions hold."""
    its = _job_set(world, rule(FAIL_JOB_SET, [BY_POLICY]), patterns)
    world.until(its.is_ready())
    its.fail("w-0", NON_RETRIABLE)
    world.until(its.has_failed())


@scenario(arms=["JS-020", "JS-060"])
def message_of_the_second_rule(world: World) -> None:
    """A rule whose expression is not in the message leaves the failure to the rule after it."""
    rules = [
        {**rule(RESTART_JOB_SET), "onJobFailureMessagePatterns": [OF_ANOTHER]},
        {**rule(FAIL_JOB_SET), "onJobFailureMessagePatterns": [OF_THE_FAILURE]},
    ]
    its = JobSet.ready(world, job_set([replicated_job("w", 2, **failing_by_policy())], rules))
    its.fail("w-1", NON_RETRIABLE)
    world.until(its.has_failed())


def _job_set(world: World, condition: Any, patterns: Sequence[str]) -> JobSet:
    """A JobSet that such a rule with expressions would fail."""
    rules = [{**condition, "onJobFailureMessagePatterns": [*patterns]}]
    return JobSet.submit(world, job_set([replicated_job("w", 2, **failing_by_policy())], rules))
