"""Claims about deletion, quota, and what a finished workload leaves, each contradicted once."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.norm.verdict import Outcome
from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    last,
    verdict_of,
)
from tests.claims.stories import (
    cleared,
    delayed,
    exhausted,
    failing,
    first_pod,
    retried,
    started,
    stuck,
    succeeded,
)
from tests.claims.story import LABEL, Story
from tests.claims.templates import job, pod
from vocabulary.history import Capabilities
from vocabulary.objects import with_path


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
    wrong = story.at(21).vanishes("AppWrapper/a", by="appwrapper")
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


def gone_when_a_pod_is_made(by: str) -> Story:
    """All is deleted and said to be; then `by` makes a pod for the Job that was."""
    story = started(job("a-job"))
    owner = story.owner("Job/a-job")
    suspend_until_no_pod_is_left(story)
    story.at(23).creates(late_pod(owner), by=by)
    return story


def suspend_until_no_pod_is_left(story: Story) -> None:
    """The Job and its pods go, and the AppWrapper says that nothing is deployed."""
    suspend_and_remove(story)
    story.at(21).enters("Suspended", ResourcesDeployed="False", QuotaReserved="False")


def suspend_and_remove(story: Story) -> None:
    """The Job and its pods go."""
    story.at(20).suspends()
    story.enters("Suspending", DeletingResources="True")
    story.deletes("Job/a-job", propagation="Background", gone=True)
    for pod_key in [key for key in story.stored if key.startswith("Pod/")]:
        story.vanishes(pod_key, by="garbage-collector")


def late_pod(owner: dict[str, Any]) -> dict[str, Any]:
    """A pod of the workload that this reference to an owner controls."""
    metadata = {"name": "late", "labels": {LABEL: "a"}, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def test_a_pod_that_a_late_controller_makes_for_what_is_gone_decides_nothing() -> None:
    story = gone_when_a_pod_is_made(by="job-controller")
    for claim in ("AW-014", "INV-1"):
        verdict = assert_passes(claim, story)
        assert "1 undecided" in verdict.because


@pytest.mark.parametrize(("made_at", "seen"), [(20.95, False), (20.5, True)])
def test_nor_does_one_that_comes_between_the_last_look_and_the_word_that_nothing_is_left(
    made_at: float, seen: bool
) -> None:
    story = started(job("a-job"))
    owner = story.owner("Job/a-job")
    suspend_and_remove(story)
    story.at(made_at).creates(late_pod(owner), by="job-controller")
    story.at(21).enters("Suspended", ResourcesDeployed="False", QuotaReserved="False")
    for claim in ("AW-013", "AW-014", "AW-015", "INV-1", "INV-2"):
        if seen:
            assert_fails(claim, story, at=last(story))
        else:
            assert_left_open(claim, story)


def test_and_who_stood_still_after_his_look_cannot_have_seen_it_either() -> None:
    story = started(job("a-job"))
    owner = story.owner("Job/a-job")
    suspend_and_remove(story)
    story.at(20.1).process("paused")
    story.at(25).creates(late_pod(owner), by="job-controller")
    story.at(30).process("resumed")
    story.at(30.05).enters("Suspended", ResourcesDeployed="False", QuotaReserved="False")
    for claim in ("AW-013", "AW-014", "AW-015", "INV-1", "INV-2"):
        assert_left_open(claim, story)


def assert_left_open(claim: str, story: Story) -> None:
    """A19 applies to the pod, and the verdict says so."""
    verdict = verdict_of(claim, story)
    assert verdict.outcome is not Outcome.FAILED, verdict.because
    assert "undecided by decision a19" in verdict.because.lower()


def test_but_what_made_it_must_have_been_gone_when_the_condition_turned() -> None:
    """There was something to be seen, and to be waited for; that it went later is no excuse."""
    story = started(job("a-job"))
    maker = {"name": "a-set", "ownerReferences": [story.owner("Job/a-job")]}
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": maker}
    story.creates(made, by="deployment-controller")
    owner = story.owner("ReplicaSet/a-set")
    suspend_until_no_pod_is_left(story)
    story.at(22).vanishes("ReplicaSet/a-set", by="garbage-collector")
    wrong = story.at(23).creates(late_pod(owner), by="replicaset-controller")
    for claim in ("AW-014", "INV-1"):
        assert_fails(claim, story, at=wrong)


def test_but_who_turns_the_condition_after_it_has_to_see_it() -> None:
    story = gone_when_a_pod_is_made(by="job-controller")
    story.at(24).shows(ResourcesDeployed="True")
    wrong = story.at(25).shows(ResourcesDeployed="False")
    for claim in ("AW-013", "AW-014", "INV-1"):
        assert_fails(claim, story, at=wrong)


def test_and_an_operator_that_makes_one_itself_knows_what_it_does() -> None:
    story = gone_when_a_pod_is_made(by="appwrapper")
    for claim in ("AW-014", "INV-1"):
        assert_fails(claim, story, at=last(story))


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
    for claim in ("AW-007", "AW-012", "AW-053", "MLB-024"):
        assert_fails(claim, story, at=last(story))


def test_what_somebody_else_holds_cannot_be_deleted_and_decides_nothing() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0", held_by=("example.com/hold",))
    story.at(10_000).ends()
    verdict = assert_unarmed("AW-007", story)
    assert "pod/a-0 by example.com/hold" in verdict.because


@pytest.mark.parametrize("held", [True, False])
def test_nor_does_a_replica_set_that_is_held_when_all_else_is_gone(held: bool) -> None:
    """It may make pods as long as it stands: who waits for it is not late."""
    story = started(job("a-job"))
    maker = {"name": "a-set", "ownerReferences": [story.owner("Job/a-job")]}
    made = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": maker}
    story.creates(made, by="deployment-controller")
    story.at(20).suspends()
    story.enters("Suspending", DeletingResources="True")
    story.deletes("Job/a-job", propagation="Background", gone=True)
    for pod_key in [key for key in story.stored if key.startswith("Pod/")]:
        story.vanishes(pod_key, by="garbage-collector")
    story.deletes(
        "ReplicaSet/a-set", by="garbage-collector", held_by=["example.com/hold"] if held else []
    )
    story.at(2000).vanishes("ReplicaSet/a-set", by="user")
    late = story.enters("Suspended", ResourcesDeployed="False", QuotaReserved="False")
    if held:
        assert_passes("AW-054", story)
    else:
        assert_fails("AW-054", story, at=late)


def test_once_a_hold_is_lifted_the_rest_must_follow() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0", held_by=("example.com/hold",))
    story.at(5000).vanishes("Pod/a-0", by="user")
    story.at(9000).shows(QuotaReserved="False", ResourcesDeployed="False")
    assert_passes("AW-007", story)
    assert_fails("AW-053", story, at=last(story))


def test_a_hold_that_is_lifted_before_the_deletion_is_due_hastens_nothing() -> None:
    kept = {"successTTLDuration": "2h", "deletionOnFailureGracePeriodDuration": "2h"}
    success, failure = (started(pod("a-0"), pod("a-1"), annotations=kept) for _ in range(2))
    for name in ("a-0", "a-1"):
        success.at(100).becomes(name, "Succeeded")
    success.at(100.1).enters("Succeeded", QuotaReserved="False")
    failure.at(100).enters("Failed", Unhealthy="True")
    for story in (success, failure):
        story.at(110).deletes("Pod/a-0", by="user", held_by=("example.com/hold",))
        story.at(120).vanishes("Pod/a-0", by="user")
        story.at(5000).ends()
        assert_unarmed("AW-007", story)
    assert_unarmed("AW-063", success)
    assert_fails("AW-063", success.at(20_000).ends(), at=last(success))


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


def test_a_first_delete_that_shortens_a_pods_time_to_stop_is_a_violation() -> None:
    story = failing(pod("a-0"), pod("a-1"))
    story.at(70.2).deletes("Pod/a-0", grace=5)
    wrong = story.deletes("Pod/a-1", grace=5)
    # The pod that failed has stopped already; the other one runs, and may for half a minute.
    verdict = assert_fails("AW-010", story, at=wrong)
    assert "pod/a-1 of appwrapper/a was deleted with grace 5, less than it has to" in (
        verdict.because
    )


def test_a_first_delete_that_leaves_a_pod_its_time_to_stop_is_none() -> None:
    story = failing(pod("a-0"), pod("a-1", terminationGracePeriodSeconds=5))
    story.at(70.2).deletes("Pod/a-0", grace=5, gone=True)
    story.deletes("Pod/a-1", grace=5)
    story.at(72).vanishes("Pod/a-1")
    assert_passes("AW-010", story)


def test_a_first_delete_that_orphans_pods_is_a_violation() -> None:
    story = failing(job("a-job"))
    wrong = story.at(70.2).deletes("Job/a-job", propagation="Orphan")
    assert "was orphaned" in assert_fails("AW-010", story, at=wrong).because


def test_a_first_delete_that_orphans_pods_by_default_is_a_violation() -> None:
    story = failing(job("a-job"))
    wrong = story.at(70.2).deletes("Job/a-job", held_by=["orphan"])
    assert_fails("AW-010", story, at=wrong)


def test_to_delete_what_its_user_has_orphaned_is_none() -> None:
    story = failing(job("a-job"))
    story.at(70.1).deletes("Job/a-job", by="user", held_by=["orphan"])
    story.at(70.2).deletes("Job/a-job", held_by=["orphan"], propagation="Background")
    assert_passes("AW-010", story)


def test_force_that_comes_too_early_is_a_violation() -> None:
    story = stuck(force=300)
    removed = story.history.appwrappers[0].pods[0].removed
    assert removed is not None
    for claim in ("AW-010", "AW-011", "INV-10"):
        assert_fails(claim, story, at=removed.n)


def test_force_that_comes_too_late_is_a_violation() -> None:
    story = stuck(force=700)
    removed = story.history.appwrappers[0].pods[0].removed
    assert removed is not None
    assert_fails("AW-012", story, at=removed.n)


def test_a_pod_without_grace_that_somebody_holds_need_not_be_forced() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0", held_by=("example.com/hold",))
    held = story.stored["Pod/a-0"]
    story.at(71).changes(with_path(held, "metadata.deletionGracePeriodSeconds", 0), "kubelet/n0")
    story.at(5000).vanishes("Pod/a-0", by="user")
    for claim in ("AW-012", "AW-077"):
        assert_passes(claim, story)


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
    for claim in ("AW-053", "AW-062", "MLB-024"):
        assert_fails(claim, story, at=last(story))


def test_a_delay_that_is_cut_short_is_a_violation() -> None:
    story = delayed(delay=100)
    request = story.history.appwrappers[0].delete_requests[0]
    assert_fails("AW-060", story, at=request.n)


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
    assert_fails("AW-062", story, at=late)
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
    for claim in ("AW-063", "AW-064", "MLB-052"):
        assert_fails(claim, story, at=request.n)


def test_success_that_is_never_cleaned_up_is_a_violation() -> None:
    story = started(annotations={"successTTLDuration": "10m"})
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100.1).enters("Succeeded", QuotaReserved="False")
    story.at(10_000).ends()
    for claim in ("AW-063", "AW-070", "AW-078"):
        assert_fails(claim, story, at=last(story))
    assert_passes("AW-064", story)
