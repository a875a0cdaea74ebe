"""A JobSet may be recorded, and limited, in ways that the norm leaves open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.suites.jobset.api import (
    JOB_SET,
    RELEASED,
    RESTART_JOB,
    RESTART_JOB_SET,
)
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
from reference_controller.jobset.job_set import (
    counted_restarts_of,
    max_restarts,
    partial_restarts_of,
)
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from tests.claims.jobset_runs import RIGHT, judged_with, run_of, run_scenario, violated
from vocabulary.clock import parse_rfc3339
from vocabulary.history import Write
from vocabulary.objects import Object, condition, condition_status, get_path

JOB_SETS = str(JOB_SET)


def test_two_jobs_may_be_restarted_by_one_write() -> None:
    run = run_scenario("partial-restarts/two-jobs-fail-together")
    records = [
        get_path(entry.object, "status.partialRestarts") or ()
        for entry in run.entries
        if isinstance(entry, Write) and entry.kind == JOB_SETS and entry.object is not None
    ]
    both = next(each for each in records if len(each) == 2)

    def at_once(obj: Object) -> Object:
        if not get_path(obj, "status.partialRestarts"):
            return obj
        return {**obj, "status": {**obj["status"], "partialRestarts": both}}

    assert violated(judged_with(run, JOB_SETS, at_once)) == {}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("exit code 3 ", set()), (f"exit code {NON_RETRIABLE} ", {"JS-020"}), ("(", set())],
    ids=["of another message", "of this message", "no expression"],
)
def test_a_rule_with_message_patterns_matches_by_them(pattern: str, expected: set[str]) -> None:
    def steps(world: World) -> None:
        jobs = [replicated_job("w", 2, **failing_by_policy())]
        its = JobSet.submit(world, job_set(jobs))
        its.fail_until_restarted("w-0", NON_RETRIABLE)
        world.until(its.is_ready())

    added = {
        "name": "a",
        "action": "FailJobSet",
        "onJobFailureReasons": [BY_POLICY],
        "onJobFailureMessagePatterns": [pattern],
    }

    def with_rule(obj: Object) -> Object:
        policy = {**obj["spec"]["failurePolicy"], "rules": [added]}
        return {**obj, "spec": {**obj["spec"], "failurePolicy": policy}}

    found = violated(judged_with(run_of(steps, edition=RELEASED), JOB_SETS, with_rule))
    assert expected <= found.keys()
    assert expected or not found


def test_a_controller_may_act_before_the_pods_of_a_failed_job_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def target(job: Job) -> dict[str, Any] | None:
        for type_ in ("Failed", "FailureTarget"):
            if condition_status(job.object, type_) == "True":
                return dict(condition(job.object, type_) or {})
        return None

    monkeypatch.setattr(Job, "has_failed", property(lambda job: target(job) is not None))
    monkeypatch.setattr(
        Job, "failure_reason", property(lambda job: str((target(job) or {}).get("reason", "")))
    )
    monkeypatch.setattr(
        Job,
        "failed_at_us",
        property(lambda job: parse_rfc3339((target(job) or {})["lastTransitionTime"])),
    )

    def steps(world: World) -> None:
        jobs = [replicated_job("w", 2, "run forever, stop 5s", parallelism=2, completions=2)]
        its = JobSet.submit(world, job_set(jobs, [rule(RESTART_JOB_SET)]))
        its.fail_until_restarted("w-0")
        world.until(its.is_ready())

    assert violated(run_of(steps).verdicts) == {}


class LimitsPartsApart(Rules):
    """Partial restarts have a limit of their own, which is maxRestarts, too."""

    def needs_budget(self, action: str) -> bool:
        self.asked_for = action
        return super().needs_budget(action)

    def is_within_budget(self, job_set: Object) -> bool:
        if self.asked_for == RESTART_JOB_SET:
            return counted_restarts_of(job_set) < max_restarts(job_set)
        records = partial_restarts_of(job_set)
        return sum(int(each["restarts"]) for each in records) < max_restarts(job_set)


def test_another_limit_of_partial_restarts_is_no_wrong_match_of_rules() -> None:
    def steps(world: World) -> None:
        jobs = [replicated_job("d"), replicated_job("w")]
        its = JobSet.submit(
            world, job_set(jobs, [rule(RESTART_JOB, targets=["w"])], max_restarts=1)
        )
        its.fail_until_partly_restarted("w-0")
        its.fail_until_restarted("d-0")
        world.until(its.is_ready())

    wrong = replace(RIGHT, rules=LimitsPartsApart)
    assert violated(run_of(steps, wrong).verdicts).keys() == {"JS-073", "JS-097"}
