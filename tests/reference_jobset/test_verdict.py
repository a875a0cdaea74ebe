"""The next status of a JobSet, from made-up observations."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.jobset.rules import RIGHT
from reference_controller.jobset.verdict import judge
from tests.reference_jobset.driver import policy, replicated_job
from tests.reference_jobset.observed import (
    NOW,
    complete,
    failed,
    jobs_of,
    ready,
    seen,
    standing,
)
from vocabulary.clock import MINUTE, SECOND, to_rfc3339_micro
from vocabulary.objects import Object, condition

BOTH = (replicated_job("a"), replicated_job("b"))


def judged(made: Object, **jobs: Object) -> Object:
    return judge(seen(made, jobs_of(made, **jobs)), RIGHT).status


def state(status: Object) -> tuple[Any, ...]:
    """(restarts, of which count, how it ended, why)"""
    failure = condition({"status": status}, "Failed") or {}
    return (
        status.get("restarts", 0),
        status.get("restartsCountTowardsMax", 0),
        status.get("terminalState"),
        failure.get("reason"),
    )


RUNS = (0, 0, None, None)


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("FailJobSet", (0, 0, "Failed", "FailJobSetFailurePolicyAction")),
        ("RestartJobSet", (1, 1, None, None)),
        ("RestartJobSetAndIgnoreMaxRestarts", (1, 0, None, None)),
        ("RestartReplicatedJob", RUNS),
        ("RestartJob", RUNS),
    ],
)
def test_an_action_changes_the_counters_that_are_its_own(
    action: str, expected: tuple[Any, ...]
) -> None:
    rules = policy({"action": action}, max_restarts=1)
    assert state(judged(standing(*BOTH, failurePolicy=rules), a_0=failed())) == expected


@pytest.mark.parametrize(
    "action", ["RestartJobSet", "RestartReplicatedJob", "RestartJob", "unmatched"]
)
def test_what_counts_fails_the_job_set_once_the_budget_is_used(action: str) -> None:
    targets = {"targetReplicatedJobs": ["b"]} if action == "unmatched" else {}
    rule = {"action": "FailJobSet" if action == "unmatched" else action, **targets}
    rules = policy(rule, max_restarts=2)
    used = {
        "restarts": 5,
        "restartsCountTowardsMax": 1,
        "partialRestarts": [
            {"replicatedJob": "b", "job": "", "restarts": 1, "notBefore": to_rfc3339_micro(0)}
        ],
    }
    made = standing(*BOTH, failurePolicy=rules, status=used)
    assert state(judged(made, a_0=failed())) == (5, 1, "Failed", "ReachedMaxRestarts")


def test_an_uncounted_restart_needs_no_budget() -> None:
    rules = policy({"action": "RestartJobSetAndIgnoreMaxRestarts"})
    made = standing(failurePolicy=rules, status={"restarts": 7})
    assert state(judged(made, a_0=failed())) == (8, 0, None, None)


def test_without_a_policy_the_first_failure_fails_a_job_set_and_with_an_empty_one_too() -> None:
    assert state(judged(standing(), a_0=failed())) == (0, 0, "Failed", "FailedJobs")
    empty = standing(failurePolicy={})
    assert state(judged(empty, a_0=failed())) == (0, 0, "Failed", "ReachedMaxRestarts")


def test_the_earliest_failure_decides_and_only_it() -> None:
    rules = policy(
        {"action": "FailJobSet", "targetReplicatedJobs": ["b"]},
        {"action": "RestartJobSetAndIgnoreMaxRestarts"},
    )
    made = standing(*BOTH, failurePolicy=rules)
    first_a = judged(made, a_0=failed(ago_us=5 * SECOND), b_0=failed())
    first_b = judged(made, a_0=failed(), b_0=failed(ago_us=5 * SECOND))
    assert state(first_a) == (1, 0, None, None)
    assert state(first_b) == (0, 0, "Failed", "FailJobSetFailurePolicyAction")


def test_a_failure_that_was_answered_is_not_seen_again() -> None:
    before = standing(failurePolicy=policy(max_restarts=9))
    jobs = jobs_of(before, a_0=failed())
    after = {**before, "status": judge(seen(before, jobs), RIGHT).status}
    assert state(after["status"]) == (1, 1, None, None)
    again = judge(seen(after, jobs), RIGHT).status
    assert state(again) == (1, 1, None, None)


def test_labels_that_a_client_changed_make_no_failure_count_twice() -> None:
    before = standing(failurePolicy=policy(max_restarts=9))
    (job,) = jobs_of(before, a_0=failed())
    key = "jobset.sigs.k8s.io/restarts"
    for forged in ({key: "7"}, {}):
        metadata = {**job.object["metadata"], "labels": forged, "annotations": forged}
        tampered = jobs_of(before, a_0={**failed(), "metadata": metadata})
        after = {**before, "status": judge(seen(before, tampered), RIGHT).status}
        assert state(after["status"]) == (1, 1, None, None)
        assert seen(after, tampered).stale == tuple(tampered)


def test_a_failure_goes_before_a_success() -> None:
    rules = policy(max_restarts=1)
    made = standing(*BOTH, failurePolicy=rules, successPolicy={"operator": "Any"})
    assert state(judged(made, a_0=failed(), b_0=complete())) == (1, 1, None, None)


def test_while_suspended_neither_a_failure_nor_a_success_beside_it_counts() -> None:
    rules = policy(max_restarts=1)
    some = {"successPolicy": {"operator": "Any"}, "failurePolicy": rules}
    made = standing(*BOTH, suspend=True, **some)
    status = judged(made, a_0=failed(), b_0=complete())
    assert state(status) == RUNS
    resumed = {**made, "spec": {**made["spec"], "suspend": False}, "status": status}
    assert state(judged(resumed, a_0=failed(), b_0=complete())) == (1, 1, None, None)


@pytest.mark.parametrize(
    ("success", "jobs", "ended"),
    [
        ({}, {"a_0": complete()}, None),
        ({}, {"a_0": complete(), "b_0": complete()}, "Completed"),
        ({"operator": "Any"}, {"b_0": complete()}, "Completed"),
        ({"operator": "All", "targetReplicatedJobs": ["a"]}, {"a_0": complete()}, "Completed"),
        ({"operator": "Any", "targetReplicatedJobs": ["a"]}, {"b_0": complete()}, None),
    ],
)
def test_the_success_policy_says_when_a_job_set_has_completed(
    success: Object, jobs: dict[str, Object], ended: str | None
) -> None:
    made = standing(*BOTH, successPolicy=success) if success else standing(*BOTH)
    assert judged(made, **jobs).get("terminalState") == ended


LEFT = {"failurePolicy": policy({"action": "FailJob"})}


@pytest.mark.parametrize(
    ("spec", "jobs", "ended"),
    [
        ({}, {"a_0": failed(), "b_0": ready()}, None),
        ({}, {"a_0": failed(), "b_0": complete()}, "Completed"),
        ({}, {"a_0": failed(), "b_0": failed()}, "Failed"),
        ({"successPolicy": {"operator": "Any"}}, {"a_0": failed(), "b_0": complete()}, "Completed"),
        (
            {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["a"]}},
            {"a_0": failed(), "b_0": ready()},
            "Failed",
        ),
    ],
)
def test_a_job_that_is_left_failed_is_left_out_of_the_success_policy(
    spec: Object, jobs: dict[str, Object], ended: str | None
) -> None:
    assert judged(standing(*BOTH, **LEFT, **spec), **jobs).get("terminalState") == ended


def test_after_a_job_was_left_failed_a_job_that_is_still_to_come_is_waited_for() -> None:
    success = {"successPolicy": {"operator": "All", "targetReplicatedJobs": ["b"]}}
    three = (*BOTH, replicated_job("c"))
    made = standing(*three, **LEFT, **success)
    some = {"a_0": failed(), "b_0": complete()}
    all_but_c = [job for job in jobs_of(made, **some) if job.child.replicated_job != "c"]
    assert judge(seen(made, all_but_c), RIGHT).status.get("terminalState") is None
    assert judged(made, **some, c_0=complete()).get("terminalState") == "Completed"


@pytest.mark.parametrize(
    ("success", "ended"),
    [({"operator": "All"}, "Failed"), ({"operator": "Any"}, "Completed")],
)
def test_jobs_that_wait_for_one_that_is_left_failed_are_out_of_reach(
    success: Object, ended: str
) -> None:
    waits = {"dependsOn": [{"name": "a", "status": "Complete"}]}
    three = (replicated_job("a"), replicated_job("b"), replicated_job("c", **waits))
    made = standing(*three, **LEFT, successPolicy=success)
    jobs = jobs_of(made, a_0=failed(), b_0=complete())[:2]
    assert judge(seen(made, jobs), RIGHT).status.get("terminalState") == ended


@pytest.mark.parametrize(
    ("streak", "ran_us", "backoff_us"),
    [(0, SECOND, SECOND), (3, SECOND, 8 * SECOND), (9, SECOND, MINUTE), (9, 10 * MINUTE, SECOND)],
)
def test_a_partial_restart_backs_off_longer_each_time_until_the_job_has_run_long(
    streak: int, ran_us: int, backoff_us: int
) -> None:
    record = {
        "replicatedJob": "a",
        "job": "js-a-0",
        "restarts": streak,
        "streak": streak,
        "notBefore": to_rfc3339_micro(NOW),
    }
    rules = policy({"action": "RestartJob"}, max_restarts=99)
    made = standing(failurePolicy=rules, status={"partialRestarts": [record]})
    status = judged(made, a_0=failed(began_us=NOW - ran_us))
    (after,) = status["partialRestarts"]
    assert after["restarts"] == streak + 1
    assert after["notBefore"] == to_rfc3339_micro(NOW + backoff_us)


def test_a_finished_job_set_shows_what_is_left_of_it() -> None:
    made = standing(*BOTH)
    status = judged(made, a_0=failed(), b_0=ready())
    ended = {**made, "status": status}
    later = judge(seen(ended, ()), RIGHT).status
    counts = {each["name"]: each for each in later["replicatedJobsStatus"]}
    assert (counts["a"]["failed"], counts["b"]["active"], counts["b"]["ready"]) == (0, 0, 0)
    assert later["conditions"] == status["conditions"]


def test_a_condition_stays_where_it_is_and_keeps_its_time_while_its_status_does() -> None:
    made = standing(*BOTH, startupPolicy={"startupPolicyOrder": "InOrder"}, suspend=True)
    suspended = {**made, "status": judged(made)}
    resumed = {**suspended, "spec": {**made["spec"], "suspend": False}}
    once = {**resumed, "status": judged(resumed)}
    assert judged(once) == once["status"]
    types = [each["type"] for each in once["status"]["conditions"]]
    assert types == ["Suspended", "StartupPolicyInProgress"]
