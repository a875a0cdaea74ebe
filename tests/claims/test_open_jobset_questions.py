"""A JobSet may be recorded, and limited, in ways that the norm leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from conformance import claims
from conformance.history import History
from conformance.implementation import implementation
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import RunResult
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
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
from vocabulary.clock import parse_rfc3339
from vocabulary.history import Entry, Write
from vocabulary.objects import Object, condition, condition_status, get_path

claims.load()
REFERENCE = implementation("reference", "jobset")
JOB_SETS = str(JOB_SET)


def ran(steps: Callable[[World], None], rules: type[Rules] | None = None, **how: Any) -> RunResult:
    """A run of steps of its own, on the reference or on one with other rules."""
    scenario = replace(
        SCENARIOS["jobset/restarts/a-job-has-completed"], steps=steps, nodes=3, arms=()
    )
    under_test = REFERENCE if rules is None else replace(REFERENCE, rules=rules)
    return run_one(scenario, under_test, DEFAULT_SEED, **how)


def violated(verdicts: tuple[Verdict, ...] | list[Verdict]) -> dict[str, str]:
    return {each.claim: each.because for each in verdicts if each.outcome is Outcome.FAILED}


def retold(run: RunResult, change: Callable[[Object], Object]) -> dict[str, str]:
    """The violations of the same run, had the JobSets been written otherwise."""

    def entries() -> Iterator[Entry]:
        for entry in run.entries:
            if isinstance(entry, Write) and entry.kind == JOB_SETS and entry.object is not None:
                yield structs.replace(entry, object=change(entry.object))
            else:
                yield entry

    return violated(claims.judge(History(run.header, list(entries()))))


def test_two_jobs_may_be_restarted_by_one_write() -> None:
    run = run_one(
        SCENARIOS["jobset/partial-restarts/two-jobs-fail-together"], REFERENCE, DEFAULT_SEED
    )
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

    assert retold(run, at_once) == {}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("exit code 3 ", set()), (f"exit code {NON_RETRIABLE} ", {"JS-020"}), ("(", set())],
    ids=["of another message", "of this message", "no expression"],
)
def test_a_rule_with_message_patterns_matches_by_them(pattern: str, expected: set[str]) -> None:
    def steps(world: World) -> None:
        jobs = [replicated_job("w", 2, **failing_by_policy())]
        its = JobSet.submit(world, job_set(jobs))
        world.until(its.is_ready())
        its.fail("w-0", NON_RETRIABLE)
        world.until(its.has_restarted(1))
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

    found = retold(ran(steps, edition=RELEASED), with_rule)
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
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_restarted(1))
        world.until(its.is_ready())

    assert violated(ran(steps).verdicts) == {}


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
        world.until(its.is_ready())
        its.fail("w-0")
        world.until(its.has_partly_restarted(1))
        world.until(its.is_ready())
        its.fail("d-0")
        world.until(its.has_restarted(1))
        world.until(its.is_ready())

    assert violated(ran(steps, LimitsPartsApart).verdicts).keys() == {"JS-073", "JS-097"}
