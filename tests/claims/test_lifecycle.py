"""Claims about phases, conditions and who drives them, each contradicted once."""

from __future__ import annotations

from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    created,
    entered,
    last,
)
from tests.claims.stories import (
    begin,
    deleted,
    exhausted,
    failed,
    gpu_pod,
    retried,
    started,
    suspended,
)
from tests.claims.story import Story


def test_leaving_failed_is_a_violation() -> None:
    story = exhausted(0)
    wrong = story.at(200).enters("Suspended")
    for claim in ("MLB-042", "INV-6"):
        assert_fails(claim, story, at=wrong)


def test_creating_for_a_failed_workload_is_a_violation() -> None:
    story = exhausted(0)
    wrong = story.at(200).makes()
    assert_fails("MLB-042", story, at=wrong)
    assert created(story, "Pod/a-0", 2) == wrong


def test_suspending_that_turns_back_is_a_violation() -> None:
    story = started()
    story.at(20).suspends()
    story.at(20.1).enters("Suspending")
    wrong = story.at(20.2).enters("Resuming")
    assert_fails("MLB-043", story, at=wrong)


def test_a_deleted_appwrapper_may_be_terminating_from_any_phase() -> None:
    story = deleted()
    for claim in ("INV-6", "MLB-041", "MLB-044"):
        assert_passes(claim, story)


def test_a_phase_that_nobody_knows_is_a_violation() -> None:
    story = started()
    wrong = story.at(20).enters("Restarting")
    assert_fails("MLB-041", story, at=wrong)


def test_a_controller_that_suspends_by_itself_is_a_violation() -> None:
    story = started()
    wrong = story.at(20).suspends(by="appwrapper")
    assert_fails("MLB-045", story, at=wrong)


def test_a_controller_that_admits_by_itself_is_a_violation() -> None:
    story = begin(Story(suspended=True))
    story.at(100).resumes()
    assert_fails("MLB-045", story, at=entered(story, "Resuming"))
    assert_fails("MLB-047", story, at=entered(story, "Resuming"))


def test_a_controller_that_evicts_by_itself_is_a_violation() -> None:
    story = started()
    wrong = story.at(20).enters("Suspending")
    assert_fails("MLB-045", story, at=wrong)


def test_running_without_quota_is_a_violation() -> None:
    story = started()
    wrong = story.at(20).shows(QuotaReserved="False")
    assert_fails("MLB-050", story, at=wrong)


def test_success_that_keeps_its_quota_is_a_violation() -> None:
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100.1).enters("Succeeded")
    story.at(200).ends()
    for claim in ("MLB-051", "MLB-054"):
        assert_fails(claim, story, at=last(story))


def test_success_that_takes_its_quota_back_is_a_violation() -> None:
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100.1).enters("Succeeded", QuotaReserved="False")
    wrong = story.at(200).shows(QuotaReserved="True")
    assert_fails("MLB-051", story, at=wrong)


def test_success_that_says_its_pods_are_gone_is_a_violation() -> None:
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100.1).enters("Succeeded", QuotaReserved="False")
    wrong = story.at(110).shows(ResourcesDeployed="False")
    story.at(200).ends()
    assert_fails("MLB-052", story, at=wrong)


def test_staying_unhealthy_in_the_next_execution_is_a_violation() -> None:
    story = retried(runs_again=False)
    story.at(300).resumes()
    story.shows(Unhealthy="True")
    story.makes()
    story.enters("Running")
    story.runs("a-0")
    story.at(400).ends()
    assert_fails("MLB-049", story, at=last(story))


def test_a_failure_that_is_shown_still_while_the_next_execution_resumes_is_a_violation() -> None:
    story = retried(runs_again=False)
    story.at(300).enters("Resuming", QuotaReserved="True", ResourcesDeployed="True")
    assert_fails("MLB-049", story.at(400).ends(), at=last(story))
    story = retried(runs_again=False)
    story.at(300).resumes()
    assert_passes("MLB-049", story.at(400).ends())


def test_an_execution_that_is_given_up_although_it_runs_had_been_shown_healthy() -> None:
    story = retried()
    story.at(400).enters("Failed", Unhealthy="True")
    assert_passes("MLB-049", story.ends())


def test_a_given_up_execution_that_looks_healthy_is_a_violation() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Resetting", resets=1, Unhealthy="False")
    story.at(100).ends()
    assert_fails("MLB-049", story, at=last(story))
    assert_passes("MLB-049", retried(runs_again=False).ends())


def test_a_failed_workload_that_releases_quota_late_but_in_order_is_right() -> None:
    assert_passes("MLB-053", failed(started(annotations={"retryLimit": "0"}), 10).ends())
    assert_unarmed("MLB-053", suspended())


def test_gpus_are_no_reason_for_another_order() -> None:
    story = started(gpu_pod(), annotations={"retryLimit": "0"})
    assert_passes("AW-015", failed(story, 10).ends())


def test_an_admitted_appwrapper_that_stays_suspended_is_a_violation() -> None:
    story = suspended()
    story.entries.pop()
    story.at(100).suspends(False)
    story.mark("faults-stopped")
    story.at(300).mark("stable")
    assert_fails("MLB-045", story, at=last(story))
    assert_fails("INV-8", story, at=last(story))


def test_an_admission_that_is_taken_back_at_once_decides_nothing() -> None:
    story = begin(Story(suspended=True))
    story.at(100).suspends(False)
    story.at(100.1).suspends(True)
    assert_unarmed("MLB-045", story.at(300).ends())
