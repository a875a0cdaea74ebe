"""Rules that match a failure, and rules that do not: by order, by reason, by target."""

from __future__ import annotations

from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    BY_BACKOFF,
    BY_POLICY,
    NON_RETRIABLE,
    failing_by_policy,
    job_set,
    replicated_job,
    rule,
)
from conformance.world import World

UNCOUNTED = rule(RESTART_UNCOUNTED)
COUNTED = rule(RESTART_JOB_SET)
FAIL = rule(FAIL_JOB_SET)


@scenario(
    arms=["JS-002"],
    cases={
        "uncounted-before-fail": [UNCOUNTED, FAIL],
        "counted-before-uncounted": [COUNTED, UNCOUNTED],
        "uncounted-before-counted": [UNCOUNTED, COUNTED],
        "counted-before-fail": [COUNTED, FAIL],
    },
)
def first_of_two_rules_decides(world: World, rules: list[Any]) -> None:
    """Of two rules that match a failure, the first one decides."""
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], rules))
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-002", "JS-020"])
def first_rule_fails_the_jobset(world: World) -> None:
    """A first rule that fails the JobSet leaves nothing to a second one that would restart it."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], [FAIL, COUNTED]))
    its.fail("w-0")
    world.until(its.has_failed())


@scenario(
    arms=["JS-003", "JS-005", "JS-022"],
    cases={"no-rules": [], "another-reason": [rule(FAIL_JOB_SET, [BY_POLICY])]},
)
def unmatched_failure_restarts(world: World, rules: list[Any]) -> None:
    """Failures that no rule matches restart the JobSet until the maximum, and then fail it."""
    its = JobSet.submit(
        world, job_set([replicated_job("w", 2, **failing_by_policy())], rules, max_restarts=1)
    )
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(
    arms=["JS-005"],
    kills="first-reason-only",
    cases={
        "the-only-one": [BY_POLICY],
        "the-last-of-all": [
            "DeadlineExceeded",
            "MaxFailedIndexesExceeded",
            "FailedIndexes",
            BY_BACKOFF,
            BY_POLICY,
        ],
    },
)
def reason_is_listed(world: World, reasons: list[str]) -> None:
    """A rule that lists the failure's reason matches, wherever in the list it stands."""
    workers = replicated_job("w", 2, **failing_by_policy())
    its = JobSet.submit(world, job_set([workers], [rule(RESTART_UNCOUNTED, reasons), FAIL]))
    its.fail_until_restarted("w-0", NON_RETRIABLE)
    world.until(its.is_ready())


DEADLINE = {"activeDeadlineSeconds": 5}
INDEXED = {"completionMode": "Indexed", "parallelism": 2, "completions": 2, "backoffLimit": None}
PER_INDEX = {**INDEXED, "backoffLimitPerIndex": 0}
ENOUGH = {**PER_INDEX, "maxFailedIndexes": 0}


@scenario(
    arms=["JS-005"],
    cases={
        BY_BACKOFF: (BY_BACKOFF, {}),
        "DeadlineExceeded": ("DeadlineExceeded", DEADLINE),
        "MaxFailedIndexesExceeded": ("MaxFailedIndexesExceeded", ENOUGH),
        "FailedIndexes": ("FailedIndexes", PER_INDEX),
    },
)
def each_reason_matches(world: World, case: tuple[str, dict[str, Any]]) -> None:
    """Each of the reasons that batch/v1 gives failed Jobs is matched as it is written."""
    reason, job = case
    behaviour = "run forever" if "activeDeadlineSeconds" in job else "run 2s, exit 1"
    workers = replicated_job("w", behaviour=behaviour, **job)
    rules = [rule(FAIL_JOB_SET, [reason]), UNCOUNTED]
    its = JobSet.submit(world, job_set([workers, replicated_job("v")], rules))
    world.until(its.has_failed())


@scenario(arms=["JS-008", "JS-061"])
def target_fails(world: World) -> None:
    """A rule that targets a replicated job matches the failure of each of its Jobs."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [rule(RESTART_UNCOUNTED, targets=["w"]), FAIL]))
    for name in ("w-0", "w-1"):
        its.fail_until_restarted(name)
    world.until(its.is_ready())


@scenario(arms=["JS-003", "JS-008", "JS-062"])
def another_than_the_target_fails(world: World) -> None:
    """A failure of a replicated job that no rule targets restarts the JobSet, and counts."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(jobs, [rule(FAIL_JOB_SET, targets=["w"])]))
    its.fail_until_restarted("driver-0")
    world.until(its.is_ready())


BOTH = [rule(FAIL_JOB_SET, [BY_POLICY], ["w"])]


@scenario(
    arms=["JS-010"],
    cases={"reason-alone": ("driver-0", NON_RETRIABLE), "target-alone": ("w-0", 1)},
)
def half_a_match_is_none(world: World, case: tuple[str, int]) -> None:
    """A rule with reasons and targets does not match what has only one of the two."""
    job = failing_by_policy()
    jobs = [replicated_job("driver", **job), replicated_job("w", 2, **job)]
    its = JobSet.submit(world, job_set(jobs, BOTH))
    its.fail_until_restarted(*case)
    world.until(its.is_ready())


@scenario(arms=["JS-010"])
def whole_match_decides(world: World) -> None:
    """A rule with reasons and targets matches a failure that has both."""
    job = failing_by_policy()
    jobs = [replicated_job("driver", **job), replicated_job("w", 2, **job)]
    its = JobSet.ready(world, job_set(jobs, BOTH))
    its.fail("w-1", NON_RETRIABLE)
    world.until(its.has_failed())


@scenario(arms=["JS-023", "JS-028"])
def budget_outlives_ignored_restarts(world: World) -> None:
    """Restarts that do not count leave the budget to those that do, in any order."""
    workers = replicated_job("w", 2, **failing_by_policy())
    rules = [rule(RESTART_UNCOUNTED, [BY_POLICY])]
    its = JobSet.submit(world, job_set([workers], rules, max_restarts=2))
    codes = (NON_RETRIABLE, NON_RETRIABLE, 1, NON_RETRIABLE, NON_RETRIABLE, 1, NON_RETRIABLE)
    for code in codes:
        its.fail_until_restarted("w-0", code)
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(arms=["JS-003", "JS-008"])
def target_begins_another_name(world: World) -> None:
    """A rule for a replicated job does not target another one whose name begins with its name."""
    jobs = [replicated_job("w"), replicated_job("w-big")]
    its = JobSet.submit(world, job_set(jobs, [rule(FAIL_JOB_SET, targets=["w"])]))
    its.fail_until_restarted("w-big-0")
    world.until(its.is_ready())


@scenario(arms=["JS-008", "JS-061"])
def second_target_fails(world: World) -> None:
    """A rule with several targets matches a failure of the second of them."""
    jobs = [replicated_job(name) for name in ("driver", "w", "other")]
    its = JobSet.ready(world, job_set(jobs, [rule(FAIL_JOB_SET, targets=["driver", "w"])]))
    its.fail("w-0")
    world.until(its.has_failed())


@scenario(arms=["JS-003", "JS-005"])
def reason_is_part_of_another(world: World) -> None:
    """A rule for FailedIndexes does not match a Job that failed by MaxFailedIndexesExceeded."""
    indexed: dict[str, Any] = {
        "completionMode": "Indexed",
        "completions": 2,
        "parallelism": 2,
        "backoffLimit": None,
        "backoffLimitPerIndex": 0,
        "maxFailedIndexes": 0,
    }
    workers = replicated_job("w", **indexed)
    its = JobSet.submit(world, job_set([workers], [rule(FAIL_JOB_SET, ["FailedIndexes"])]))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-003", "JS-022"])
def maximum_is_missing(world: World) -> None:
    """A failure policy without maxRestarts allows no restart that counts."""
    policy = {"rules": [rule(RESTART_UNCOUNTED, [BY_POLICY])]}
    manifest = job_set([replicated_job("w", 2)], None, failurePolicy=policy)
    its = JobSet.ready(world, manifest)
    its.fail("w-0")
    world.until(its.has_failed())


@scenario(arms=["JS-002", "JS-022"])
def later_rule_does_not_step_in(world: World) -> None:
    """A rule that has no restart left fails the JobSet, though a later one matches, too."""
    its = JobSet.submit(
        world, job_set([replicated_job("w", 2)], [COUNTED, UNCOUNTED], max_restarts=1)
    )
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    its.fail("w-0")
    world.until(its.has_failed())


@scenario(arms=["JS-002", "JS-060"])
def general_rule_stands_first(world: World) -> None:
    """A rule without conditions that stands first decides before one with conditions."""
    rules = [UNCOUNTED, rule(FAIL_JOB_SET, [BY_BACKOFF], ["w"])]
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], rules))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-005", "JS-060"])
def lists_are_empty(world: World) -> None:
    """A rule with empty lists of reasons and targets matches any failure."""
    written_out = {**UNCOUNTED, "onJobFailureReasons": [], "targetReplicatedJobs": []}
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], [written_out, FAIL]))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())


@scenario(arms=["JS-005", "JS-008"], kills="half-a-match")
def reason_stands_in_two_rules(world: World) -> None:
    """Several rules may name one reason, each for other targets."""
    rules = [rule(FAIL_JOB_SET, [BY_BACKOFF], ["v"]), rule(RESTART_UNCOUNTED, [BY_BACKOFF], ["w"])]
    its = JobSet.submit(world, job_set([replicated_job("v"), replicated_job("w", 2)], rules))
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


@scenario(arms=["JS-023"], cases={"none-that-count": 0, "one-that-counts": 1})
def ignored_restarts_have_no_end(world: World, max_restarts: int) -> None:
    """Restarts that do not count go on and on, whatever maxRestarts is."""
    manifest = job_set([replicated_job("w")], [UNCOUNTED], max_restarts=max_restarts)
    its = JobSet.submit(world, manifest)
    for _ in range(14):
        its.fail_until_restarted("w-0")
    world.until(its.is_ready())
