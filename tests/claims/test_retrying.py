"""Claims about the retry loop, each contradicted once."""

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
    PAUSE,
    SOON,
    attempt,
    begin,
    cleared,
    exhausted,
    externally_deleted,
    failed,
    gpu_pod,
    migrated,
    reset,
    retried,
    started,
    suspended,
)
from tests.claims.story import Story
from tests.claims.templates import config_map, pod


def reset_that_keeps_a_config_map() -> Story:
    story = started(pod("a-0"), config_map("a-config"))
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Resetting", resets=1)
    story.at(70.2).deletes("Pod/a-0", gone=True)
    story.at(160.3).resumes()
    story.makes("a-0")
    story.enters("Running")
    return story


def test_a_reset_that_keeps_a_component_is_a_violation() -> None:
    story = reset_that_keeps_a_config_map()
    for claim in ("AW-005", "AW-047"):
        assert_fails(claim, story, at=created(story, "Pod/a-0", 2))


def test_a_component_that_is_not_created_again_is_a_violation() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    gone = reset(story, 10)
    story.at(gone + PAUSE + SOON).resumes()
    story.makes("a-0")
    running = story.enters("Running")
    story.at(1000).ends()
    assert_fails("AW-006", story, at=last(story))
    assert_fails("MLB-023", story, at=running)
    assert_fails("MLB-048", story, at=running)


def test_a_reset_that_never_creates_anything_is_a_violation() -> None:
    story = started()
    reset(story, 10)
    story.at(1000).ends()
    for claim in ("AW-006", "AW-049"):
        assert_fails(claim, story, at=last(story))


def test_what_a_quota_forbids_cannot_be_created_anew() -> None:
    """Found with a released operator, which tries again for the admission grace period."""
    story = started(pod("a-0"), config_map("a-config"))
    gone = reset(story, 10)
    story.at(gone + PAUSE + SOON).resumes()
    story.makes("a-0")
    story.refused("create", "ConfigMap", "a-config", 403)
    story.at(1000).ends()
    assert_unarmed("AW-006", story)


def test_what_a_quota_forbids_for_a_while_may_be_created_late() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    gone = reset(story, 10)
    story.at(gone + PAUSE + SOON).resumes()
    story.makes("a-0")
    story.refused("create", "ConfigMap", "a-config", 403)
    story.at(gone + PAUSE + 50).makes("a-config")
    story.at(1000).ends()
    assert_unarmed("AW-006", story)


def test_what_was_refused_for_another_reason_is_no_excuse_for_creating_it_late() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    gone = reset(story, 10)
    story.at(gone + PAUSE + SOON).resumes()
    story.makes("a-0")
    story.refused("create", "ConfigMap", "a-config", 409)
    wrong = story.at(gone + PAUSE + 50).makes("a-config")
    assert_fails("AW-006", story.at(1000).ends(), at=wrong)


def test_a_first_creation_that_a_quota_forbids_ends_the_pause_as_well() -> None:
    story = started()
    gone = reset(story, 10)
    story.at(gone + PAUSE + SOON).resumes()
    story.refused("create", "Pod", "a-0", 403)
    story.at(gone + PAUSE + 50).makes()
    assert_passes("AW-049", story.at(1000).ends())


def test_a_suspension_ends_the_duty_to_create_anew() -> None:
    story = started()
    reset(story, 10)
    story.at(100).suspends()
    story.at(100.1).enters("Suspending")
    assert_unarmed("AW-006", story.at(1000).ends())


def test_a_pause_that_is_too_short_is_a_violation() -> None:
    story = retried(pause=60)
    for claim in ("AW-047", "AW-049"):
        assert_fails(claim, story, at=created(story, "Pod/a-0", 2))


def test_whose_pause_it_is_is_told() -> None:
    story = retried(pause=60, annotations={"retryPausePeriodDuration": "80s"})
    for claim in ("AW-047", "AW-049"):
        verdict = assert_fails(claim, story, at=created(story, "Pod/a-0", 2))
        assert (
            "it is allowed 80s (from an annotation) after that, and not before" in verdict.because
        )


def test_a_pause_that_is_too_long_is_a_violation_of_its_length_alone() -> None:
    story = retried(pause=120)
    for claim in ("AW-006", "AW-049"):
        assert_fails(claim, story, at=created(story, "Pod/a-0", 2))
    assert_passes("AW-047", story)


def test_a_pause_counts_from_the_last_resource_that_was_gone() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Resetting", resets=1)
    cleared(story, 70.2, takes=20)
    attempt(story, 70.2 + PAUSE + SOON)
    assert_fails("AW-049", story, at=created(story, "Pod/a-0", 2))


def test_an_instance_that_is_not_its_template_is_a_violation() -> None:
    story = started()
    gone = reset(story, 10)
    story.at(gone + PAUSE + SOON).resumes()
    wrong = story.makes(spec__containers=[{"name": "main", "image": "other"}])
    story.enters("Running")
    verdict = assert_fails("AW-048", story, at=wrong)
    assert "spec.containers[0].image is 'other'" in verdict.because


def test_quota_that_is_released_during_the_pause_is_a_violation() -> None:
    story = started()
    gone = reset(story, 10)
    released = story.at(gone + 1).shows(QuotaReserved="False")
    for claim in ("AW-050", "MLB-046"):
        assert_fails(claim, story, at=released)


def test_quota_that_was_released_and_reserved_again_unseen_is_a_violation() -> None:
    story = started()
    gone = reset(story, 10)
    story.at(gone + 1).shows(QuotaReserved="False")
    unseen = story.entries.pop()
    again = story.at(gone + 2).shows(QuotaReserved="True")
    assert unseen.n == again
    assert_fails("MLB-046", story, at=again)
    assert_passes("AW-050", story)


def test_a_reset_that_is_not_counted_is_a_violation() -> None:
    story = retried(count=0)
    assert_fails("AW-051", story, at=entered(story, "Resuming", 2))


def test_a_reset_that_counts_twice_is_a_violation() -> None:
    story = retried(count=2)
    for claim in ("AW-051", "INV-5"):
        assert_fails(
            claim,
            story,
            at=entered(story, "Resuming", 2) if claim == "AW-051" else entered(story, "Resetting"),
        )


def test_a_failure_that_counts_as_a_reset_is_a_violation() -> None:
    story = retried(annotations={"retryLimit": "1"})
    story.at(1000).becomes("a-0", "Failed")
    story.at(1000 + SOON).shows(Unhealthy="True")
    wrong = story.at(1070).enters("Failed", resets=2)
    assert_fails("AW-051", story, at=wrong)


def test_a_count_that_falls_is_a_violation() -> None:
    story = retried()
    fell = story.at(1000).enters("Suspending", resets=0)
    assert_fails("INV-5", story, at=fell)


def test_a_count_that_goes_up_without_a_reset_is_a_violation() -> None:
    story = externally_deleted()
    rose = story.at(100).enters("Terminating", resets=1)
    assert_fails("INV-5", story, at=rose)


def test_a_reset_by_who_has_not_heard_that_the_appwrapper_is_deleted_counts_once() -> None:
    def deleted_unheard(count: int, reset_at: float = 70.1) -> Story:
        story = started(pod("a-0"))
        story.at(10).becomes("a-0", "Failed")
        story.at(70).deletes("AppWrapper/a", by="user")
        story.at(reset_at).enters("Resetting", resets=count)
        story.at(reset_at + 0.1).enters("Terminating")
        return story

    assert_passes("INV-5", deleted_unheard(1))
    twice, late = deleted_unheard(2), deleted_unheard(1, reset_at=270)
    for wrong in (twice, late):
        assert_fails("INV-5", wrong, at=entered(wrong, "Resetting"))


def test_an_autopilot_reset_that_counts_is_a_violation() -> None:
    story = migrated(count=1)
    assert_fails("AW-055", story, at=entered(story, "Resuming", 2))


def test_one_reset_too_many_is_a_violation() -> None:
    story = started(annotations={"retryLimit": "0"})
    reset(story, 10)
    for claim in ("AW-052", "AW-075"):
        assert_fails(claim, story, at=entered(story, "Resetting"))


def test_failing_before_the_limit_is_a_violation() -> None:
    story = failed(started(), 10)
    verdict = assert_fails("AW-052", story, at=entered(story, "Failed"))
    assert "after 0 counted resets; its retry limit is 3" in verdict.because


def test_a_limit_that_is_beyond_what_the_source_speaks_of_decides_nothing() -> None:
    story = exhausted(1, annotations={"retryLimit": "4294967297"})
    assert_unarmed("AW-052", story)


def test_exit_codes_that_end_the_retries_decide_nothing_about_the_limit() -> None:
    story = failed(started(annotations={"terminalExitCodes": "3"}), 10)
    assert_unarmed("AW-052", story)


def eviction_with_exhausted_retries(phase: str) -> Story:
    story = Story(gpu_pod(), annotations={"retryLimit": "0"})
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(30 + SOON).enters(phase, Unhealthy="True")
    return story.at(31).ends()


def test_an_autopilot_reset_beyond_the_limit_is_a_violation() -> None:
    story = eviction_with_exhausted_retries("Resetting")
    assert_fails("AW-056", story, at=entered(story, "Resetting"))


def test_failing_when_autopilot_evicts_and_retries_are_exhausted_is_right() -> None:
    assert_passes("AW-056", eviction_with_exhausted_retries("Failed"))


def test_a_reset_after_an_external_deletion_is_a_violation() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    story.at(30).deletes("ConfigMap/a-config", by="user", gone=True)
    wrong = story.at(30.1).enters("Resetting", resets=1, Unhealthy="True")
    assert_fails("AW-057", story, at=wrong)


def test_an_external_deletion_that_is_counted_is_a_violation() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    story.at(30).deletes("ConfigMap/a-config", by="user", gone=True)
    wrong = story.at(30.1).enters("Failed", resets=1, Unhealthy="True")
    assert_fails("AW-057", story, at=wrong)


def test_an_external_deletion_that_waits_for_the_failure_grace_is_a_violation() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    story.at(30).deletes("ConfigMap/a-config", by="user", gone=True)
    late = story.at(90.1).enters("Failed", Unhealthy="True")
    assert_fails("AW-045", story, at=late)


def test_a_component_that_is_terminating_for_somebody_else_counts_as_deleted() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    story.at(30).deletes("ConfigMap/a-config", by="user", held_by=("example.com/hold",))
    story.at(100).ends()
    assert_fails("AW-057", story, at=last(story))


def test_deleting_its_own_components_is_no_external_deletion() -> None:
    story = retried()
    for claim in ("AW-035", "AW-045", "AW-057"):
        assert_unarmed(claim, story)


def test_a_suspension_that_is_ignored_is_a_violation() -> None:
    story = started()
    story.at(20).suspends()
    story.at(100).ends()
    assert_fails("AW-054", story, at=last(story))


def test_a_suspension_during_the_retry_pause_that_is_ignored_is_a_violation() -> None:
    story = started()
    gone = reset(story, 10)
    story.at(gone + 1).suspends()
    attempt(story, gone + PAUSE + SOON)
    story.at(1000).ends()
    assert_fails("AW-054", story, at=last(story))


def test_being_suspended_with_quota_is_a_violation() -> None:
    story = started()
    story.at(20).suspends()
    story.at(20.1).enters("Suspending")
    gone = cleared(story, 20.2)
    wrong = story.at(gone + SOON).enters("Suspended", ResourcesDeployed="False")
    assert_fails("AW-054", story, at=wrong)


def test_a_suspension_that_is_taken_back_at_once_decides_nothing() -> None:
    story = started()
    story.at(20).suspends()
    story.at(20.1).suspends(False)
    assert_unarmed("AW-054", story.at(100).ends())


def test_suspending_and_resuming_keeps_the_count() -> None:
    story = suspended("Resetting")
    story.at(200).suspends(False)
    attempt(story, 201)
    assert_passes("INV-5", story)
