"""Claims about deletion, quota, and the ways out of the retry loop, each contradicted once."""

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
    SOON,
    attempt,
    begin,
    cleared,
    delayed,
    deleted,
    exhausted,
    failed,
    first_pod,
    gpu_pod,
    retried,
    started,
    stuck,
    succeeded,
    suspended,
)
from tests.claims.story import Story, config_map, job, pod
from vocabulary.clock import seconds
from vocabulary.history import Capabilities


def failing(*components: object, **settings: object) -> Story:
    """A workload without retries that has failed at 70.1 s, with everything still there."""
    annotations = {"retryLimit": "0", **settings.pop("annotations", {})}  # type: ignore[dict-item]
    story = started(*components, annotations=annotations, **settings)
    story.at(10).becomes(first_pod(story), "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Failed")
    return story


def test_a_condition_that_turns_false_while_a_pod_stops_is_a_violation() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0")
    wrong = story.at(70.3).shows(ResourcesDeployed="False", QuotaReserved="False")
    story.at(75).vanishes("Pod/a-0")
    for claim in ("AW-013", "AW-014", "AW-015", "INV-1", "INV-2", "MLB-023", "MLB-053"):
        verdict = assert_fails(claim, story, at=wrong)
        assert "pod/a-0 (Failed, terminating)" in verdict.because


def test_the_explanation_names_both_sides_of_the_contradiction() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0")
    story.at(70.3).shows(ResourcesDeployed="False", QuotaReserved="False")
    verdict = assert_fails("AW-015", story, at=last(story))
    assert verdict.because == (
        "t=70.3s rv113 appwrapper/a: QuotaReserved turned True → False, but pod/a-0 (Failed, "
        "terminating) was still there."
    )


def test_quota_that_is_released_before_resources_are_gone_is_a_violation() -> None:
    story = failing()
    wrong = story.at(70.2).shows(QuotaReserved="False")
    assert_fails("AW-015", story, at=wrong)
    assert_unarmed("AW-013", story)


def test_success_releases_quota_while_its_pods_are_kept() -> None:
    story = succeeded()
    for claim in ("AW-015", "INV-2"):
        assert_unarmed(claim, story)


def test_an_appwrapper_that_goes_before_its_pods_is_a_violation() -> None:
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user")
    wrong = story.at(21).vanishes("AppWrapper/a", by="operator")
    for claim in ("AW-013", "AW-014", "AW-015", "INV-7"):
        assert_fails(claim, story, at=wrong)


def test_a_pod_that_is_created_after_everything_was_gone_is_a_violation() -> None:
    story = exhausted(0)
    template = job("late")
    story.components = (template,)
    story.stored["Job/late"] = {**template, "metadata": {"name": "late", "uid": "uid-late"}}
    wrong = story.at(200).spawns("Job/late", "late-0")
    for claim in ("AW-014", "INV-1"):
        assert_fails(claim, story, at=wrong)
    assert_passes("AW-013", story)


def test_a_workload_of_kueue_that_gives_quota_back_too_early_is_a_violation() -> None:
    story = started()
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Workload",
        "metadata": {"name": "w", "ownerReferences": [story.owner("AppWrapper/a")]},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "True"}]},
    }
    story.creates(workload, by="kueue")
    wrong = story.at(30).changes(
        {
            **story.stored["Workload/w"],
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False"}]},
        },
        by="kueue",
    )
    assert_fails("AW-015", story, at=wrong)


def test_a_pod_without_the_label_is_a_violation() -> None:
    story = started(job("a-job"))
    wrong = story.at(20).spawns("Job/a-job", "a-job-1", label=None)
    assert_fails("AW-020", story, at=wrong)


def test_a_pod_that_is_never_deleted_is_a_violation() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0")
    story.at(10_000).ends()
    for claim in ("AW-007", "AW-012", "AW-053", "AW-077", "MLB-024"):
        assert_fails(claim, story, at=last(story))


def test_what_somebody_else_holds_cannot_be_deleted_and_decides_nothing() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0", held_by=("example.com/hold",))
    story.at(10_000).ends()
    verdict = assert_unarmed("AW-007", story)
    assert "pod/a-0 by example.com/hold" in verdict.because


def test_once_a_hold_is_lifted_the_rest_must_follow() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0", held_by=("example.com/hold",))
    story.at(5000).vanishes("Pod/a-0", by="user")
    story.at(9000).shows(QuotaReserved="False", ResourcesDeployed="False")
    assert_passes("AW-007", story)
    assert_fails("AW-053", story, at=last(story))


def test_a_deletion_that_begins_with_a_pod_is_a_violation() -> None:
    story = failing(job("a-job"))
    wrong = story.at(70.2).deletes(f"Pod/{first_pod(story)}")
    story.deletes("Job/a-job", gone=True)
    assert_fails("AW-010", story, at=wrong)


def test_a_deletion_that_goes_on_with_pods_before_force_is_due_is_a_violation() -> None:
    story = failing(job("a-job"))
    name = first_pod(story)
    story.at(70.2).deletes("Job/a-job", gone=True)
    wrong = story.at(100).deletes(f"Pod/{name}")
    assert_fails("AW-010", story, at=wrong)


def test_a_deletion_that_begins_with_force_is_a_violation() -> None:
    story = failing()
    wrong = story.at(70.2).deletes("Pod/a-0", grace=0, gone=True)
    # The pod has ended: its deletion with grace 0 forces nothing.
    assert_passes("AW-010", story)
    story = failing(pod("a-0"), pod("a-1"))
    wrong = story.at(70.2).deletes("Pod/a-1", grace=0, gone=True)
    for claim in ("AW-010", "AW-011", "AW-077", "INV-10"):
        assert_fails(claim, story, at=wrong)


def test_force_that_comes_too_early_is_a_violation() -> None:
    story = stuck(force=300)
    removed = story.history.appwrappers[0].pods[0].removed
    assert removed is not None
    for claim in ("AW-010", "AW-011", "AW-077", "INV-10"):
        assert_fails(claim, story, at=removed.n)


def test_force_that_comes_too_late_is_a_violation() -> None:
    story = stuck(force=700)
    removed = story.history.appwrappers[0].pods[0].removed
    assert removed is not None
    for claim in ("AW-012", "AW-077"):
        assert_fails(claim, story, at=removed.n)


def test_the_kubelets_last_delete_forces_nothing() -> None:
    assert_unarmed("INV-10", retried())


def test_force_while_nothing_calls_for_a_deletion_is_a_violation() -> None:
    story = started()
    wrong = story.at(20).deletes("Pod/a-0", grace=0, gone=True)
    assert_fails("INV-10", story, at=wrong)


def test_a_controller_that_was_killed_before_its_first_delete_may_count_from_before() -> None:
    story = failing(job("a-job"))
    name = first_pod(story)
    story.at(70.15).process("killed")
    story.at(300).process("started")
    story.at(301).deletes("Job/a-job", gone=True)
    story.at(670.2).deletes(f"Pod/{name}", grace=0, gone=True)
    assert_passes("AW-011", story)


def test_without_delete_options_nobody_can_tell_force() -> None:
    story = started(capabilities=Capabilities(options=False))
    for claim in ("AW-010", "AW-011", "AW-012", "INV-10"):
        assert "options of delete requests" in assert_unarmed(claim, story).because


def test_a_failed_workload_that_is_kept_is_a_violation() -> None:
    story = failing()
    story.at(2000).ends()
    for claim in ("AW-053", "AW-062", "AW-076", "MLB-024"):
        assert_fails(claim, story, at=last(story))


def test_a_delay_that_is_cut_short_is_a_violation() -> None:
    story = delayed(delay=100)
    request = story.history.appwrappers[0].delete_requests[0]
    for claim in ("AW-060", "AW-070", "AW-076"):
        assert_fails(claim, story, at=request.n)


def test_a_delay_that_goes_on_is_a_violation() -> None:
    story = delayed(delay=400)
    request = story.history.appwrappers[0].delete_requests[0]
    assert_fails("AW-060", story, at=request.n)


def test_suspending_a_failed_workload_may_cut_its_delay_short() -> None:
    story = failing(annotations={"deletionOnFailureGracePeriodDuration": "5m"})
    story.at(100).suspends()
    cleared(story, 101)
    for claim in ("AW-060", "AW-076"):
        assert_passes(claim, story.ends())


def test_quota_that_is_released_during_the_delay_is_a_violation() -> None:
    story = failing(annotations={"deletionOnFailureGracePeriodDuration": "5m"})
    wrong = story.at(100).shows(QuotaReserved="False")
    for claim in ("AW-061", "AW-015"):
        assert_fails(claim, story, at=wrong)


def test_a_deletion_that_waits_though_nobody_asked_is_a_violation() -> None:
    story = failing()
    late = story.at(100).deletes("Pod/a-0", gone=True)
    for claim in ("AW-062", "AW-076"):
        assert_fails(claim, story, at=late)
    assert_unarmed("AW-060", story)


def test_a_failure_that_leaves_nothing_to_delete_arms_no_claim_about_deleting() -> None:
    story = started()
    story.at(30).deletes("Pod/a-0", by="user", gone=True)
    story.at(30.1).enters("Failed", Unhealthy="True")
    story.at(30.2).shows(QuotaReserved="False", ResourcesDeployed="False")
    assert_unarmed("AW-062", story.at(1000).ends())
    assert_passes("AW-053", story)


def test_success_that_is_cleaned_up_too_early_is_a_violation() -> None:
    story = succeeded(ttl=3600)
    request = story.history.appwrappers[0].delete_requests[0]
    for claim in ("AW-063", "AW-064", "AW-078", "MLB-052"):
        assert_fails(claim, story, at=request.n)


def test_success_that_is_never_cleaned_up_is_a_violation() -> None:
    story = started(annotations={"successTTLDuration": "10m"})
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100.1).enters("Succeeded", QuotaReserved="False")
    story.at(10_000).ends()
    for claim in ("AW-063", "AW-070", "AW-078"):
        assert_fails(claim, story, at=last(story))
    assert_passes("AW-064", story)


def test_a_component_that_exists_twice_is_a_violation() -> None:
    template = {**config_map("unused"), "metadata": {"generateName": "a-", "name": "a-1"}}
    generated = {**template, "metadata": {"generateName": "a-"}}
    story = Story(generated)
    begin(story)
    story.at(SOON).resumes()
    story.components = (template,)
    first = story.makes()
    story.components = ({**template, "metadata": {"generateName": "a-", "name": "a-2"}},)
    second = story.makes()
    assert first < second
    assert_fails("INV-3", story, at=second)


def test_a_component_without_a_finalizer_on_its_appwrapper_is_a_violation() -> None:
    story = begin(Story())
    story.at(SOON).enters("Resuming", QuotaReserved="True", ResourcesDeployed="True")
    wrong = story.makes()
    assert_fails("INV-7", story, at=wrong)


def test_a_finalizer_that_is_removed_too_early_is_a_violation() -> None:
    story = started()
    wrong = story.at(20).finalizer(False)
    assert_fails("INV-7", story, at=wrong)


def test_deleting_what_somebody_else_made_is_a_violation() -> None:
    story = Story(config_map("a-config"))
    story.at(0).creates(config_map("a-config"), by="user")
    begin(story)
    story.at(1).resumes()
    wrong = story.at(2).deletes("ConfigMap/a-config", gone=True)
    assert_fails("INV-4", story, at=wrong)


def test_changing_what_somebody_else_made_is_a_violation() -> None:
    story = Story(config_map("a-config"))
    story.at(0).creates(config_map("a-config"), by="user")
    begin(story)
    story.at(1).resumes()
    wrong = story.at(2).changes({**story.stored["ConfigMap/a-config"], "data": {}}, by="operator")
    assert_fails("INV-4", story, at=wrong)


def test_leaving_alone_what_somebody_else_made_is_seen() -> None:
    story = Story(config_map("a-config"))
    story.at(0).creates(config_map("a-config"), by="user")
    begin(story)
    story.at(1).resumes()
    story.refused("create", "ConfigMap", "a-config", 409)
    story.at(2).enters("Failed", Unhealthy="True")
    assert_passes("INV-4", story)


def test_a_pod_that_a_user_labelled_does_not_belong_to_the_workload() -> None:
    story = exhausted(0)
    stranger = {**pod("stranger"), "metadata": {"name": "stranger", "labels": {}}}
    stranger["metadata"]["labels"] = {"workload.codeflare.dev/appwrapper": "a"}
    story.at(200).creates(stranger, by="user")
    for claim in ("AW-013", "AW-014", "INV-1"):
        assert_passes(claim, story)


def test_a_workload_that_has_not_settled_when_nothing_goes_on_is_a_violation() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0")
    story.at(71).mark("faults-stopped")
    wrong = story.at(5000).mark("stable")
    assert_fails("INV-8", story.ends(), at=wrong)


def test_a_workload_that_settles_after_the_faults_is_right() -> None:
    story = exhausted(0)
    story.at(200).mark("faults-stopped")
    story.at(300).mark("stable")
    assert_passes("INV-8", story.ends())


def test_a_run_without_an_end_of_faults_arms_no_claim_about_settling() -> None:
    assert_unarmed("INV-8", started().at(1000).ends())


def test_a_reset_without_any_reason_is_a_violation() -> None:
    story = started()
    wrong = story.at(50).enters("Resetting", resets=1, Unhealthy="True")
    verdict = assert_fails("INV-9", story, at=wrong)
    assert "1 of 1 running, 0 failed" in verdict.because


def test_a_phase_edge_that_the_life_cycle_lacks_is_a_violation() -> None:
    story = started()
    wrong = story.at(50).enters("Suspended")
    for claim in ("INV-6", "MLB-044"):
        assert_fails(claim, story, at=wrong)


def test_watch_events_alone_may_miss_a_phase_but_never_leave_a_final_one() -> None:
    story = started(capabilities=Capabilities(writers=False, options=False))
    story.at(50).enters("Resuming")
    assert_passes("INV-6", story)
    story.at(60).enters("Failed")
    wrong = story.at(70).enters("Resuming")
    assert_fails("INV-6", story, at=wrong)


def test_whole_second_times_give_one_second_of_slack() -> None:
    coarse = Capabilities(exact_times=False)
    story = started(capabilities=coarse)
    gone = 80.0
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Resetting", resets=1)
    story.at(70.2).deletes("Pod/a-0")
    story.at(gone).vanishes("Pod/a-0")
    attempt(story, gone + 89.5)
    assert_passes("AW-047", story)
    assert story.history.timing.slack_us == seconds(1)


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
    wrong = story.at(20).suspends(by="operator")
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
