"""Each step of a deletion follows its cause within one reaction (A21), each contradicted once."""

from __future__ import annotations

import pytest

from conformance.norm.verdict import Outcome
from tests.claims.judging import assert_fails, assert_passes, assert_unarmed, last, verdict_of
from tests.claims.stories import (
    FORCE,
    PAUSE,
    SOON,
    WEEK,
    attempt,
    cleared,
    deleted,
    failing,
    first_pod,
    reset,
    started,
    succeeded,
)
from tests.claims.story import FINALIZER, Story
from tests.claims.templates import config_map, job, pod
from vocabulary.history import Capabilities
from vocabulary.objects import with_path


def resetting(**settings: object) -> Story:
    """A workload that has been Resetting since 70.1 s, with everything still there."""
    story = started(pod("a-0"), config_map("a-config"), **settings)
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Resetting", resets=1)
    return story


def deleted_after_success() -> Story:
    """A workload that has succeeded, and whose AppWrapper a user deletes at 200 s."""
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100.1).enters("Succeeded", QuotaReserved="False")
    story.at(200).deletes("AppWrapper/a", by="user")
    return story


# The first delete.


def test_a_reset_that_waits_before_its_first_delete_is_a_violation() -> None:
    story = resetting()
    wrong = story.at(72).deletes("Pod/a-0")
    story.deletes("ConfigMap/a-config", gone=True)
    story.at(74).vanishes("Pod/a-0")
    verdict = assert_fails("AW-010", story, at=wrong)
    assert "the delete of pod/a-0 for reset of appwrapper/a was due within 0s of t=70.1s" in (
        verdict.because
    )


def test_a_component_that_is_deleted_later_than_the_first_is_a_violation() -> None:
    story = resetting()
    story.at(70.2).deletes("Pod/a-0")
    wrong = story.at(75).deletes("ConfigMap/a-config", gone=True)
    assert_fails("AW-010", story, at=wrong)


REFUSED = {"code": 403, "times": 0}


@pytest.mark.parametrize(
    ("fault", "is_held_back"),
    [
        ({"verb": "delete", "kind": "Pod", **REFUSED}, False),
        ({"verb": ["delete"], "name": "a-0", **REFUSED}, False),
        ({"verb": "delete", **REFUSED}, True),
        ({"verb": "delete", "kind": "ConfigMap", **REFUSED}, True),
        ({"verb": ["delete", "update"], "kind": "Pod", **REFUSED}, True),
    ],
)
def test_a_refused_delete_excuses_no_other_one(
    fault: dict[str, object], is_held_back: bool
) -> None:
    story = resetting()
    story.fault("injected", {"api_error": fault})
    story.at(70.2).refused("delete", "Pod", "a-0", 403)
    wrong = story.at(300).deletes("ConfigMap/a-config", gone=True)
    if is_held_back:
        assert verdict_of("AW-010", story).outcome is not Outcome.FAILED
    else:
        assert_fails("AW-010", story, at=wrong)


@pytest.mark.parametrize("stable", [False, True])
def test_a_component_that_is_never_deleted_is_a_violation(stable: bool) -> None:
    story = resetting()
    story.at(70.2).deletes("Pod/a-0", gone=True)
    if stable:
        story.at(70.3).mark("stable")
    assert_fails("AW-010", story.at(71 if stable else 1000).ends(), at=last(story))


def test_a_run_that_came_to_rest_while_the_operator_was_down_shows_nothing() -> None:
    story = resetting()
    story.at(70.2).process("killed")
    story.at(71).mark("stable")
    assert_unarmed("AW-010", story.ends())


def test_a_run_that_came_to_rest_after_an_outage_shows_what_never_began() -> None:
    story = resetting()
    story.at(70.2).process("killed")
    story.at(71).process("started")
    story.at(71.1).mark("stable")
    assert_fails("AW-010", story.ends(), at=last(story))


def test_a_reset_that_deletes_half_an_hour_late_has_not_made_progress() -> None:
    story = resetting()
    gone = cleared(story, 70.1 + 1800)
    late = last(story)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    assert_fails("AW-007", story, at=late)


def test_a_component_that_somebody_else_deletes_meanwhile_needs_no_delete() -> None:
    story = resetting()
    story.at(70.2).deletes("Pod/a-0", gone=True)
    story.at(70.3).deletes("ConfigMap/a-config", by="user", gone=True)
    assert_passes("AW-010", story.at(200).ends())


def test_a_deleted_appwrapper_does_not_wait_for_its_success_ttl() -> None:
    story = deleted_after_success()
    wrong = story.at(100 + WEEK).deletes("Pod/a-0", gone=True)
    for claim in ("AW-007", "AW-010"):
        assert_fails(claim, story, at=wrong)


def test_what_a_parameter_delays_is_due_when_the_delay_is_over() -> None:
    story = succeeded(ttl=WEEK)
    for claim in ("AW-007", "AW-010", "AW-094"):
        assert_passes(claim, story)
    late = succeeded(ttl=WEEK + 100)
    assert_fails("AW-010", late, at=late.history.appwrappers[0].delete_requests[0].n)


# A delete that is refused.


def test_a_refused_delete_that_is_not_sent_again_is_a_violation() -> None:
    story = resetting()
    story.at(70.2).deletes("Pod/a-0", gone=True)
    story.refused("delete", "ConfigMap", "a-config", 403)
    wrong = story.at(80).deletes("ConfigMap/a-config", gone=True)
    verdict = assert_fails("AW-010", story, at=wrong)
    assert "another delete of configmap/a-config, which was refused with 403" in verdict.because


def test_a_refused_delete_may_be_sent_again_after_as_long_as_it_was_refused() -> None:
    story = resetting()
    story.at(70.2).deletes("Pod/a-0", gone=True)
    for time in (70.2, 71, 72.5, 75, 80):
        story.at(time).refused("delete", "ConfigMap", "a-config", 403)
    story.at(90).deletes("ConfigMap/a-config", gone=True)
    assert_passes("AW-010", story)


def test_an_answer_that_it_is_gone_may_be_believed() -> None:
    story = resetting()
    story.at(70.2).deletes("Pod/a-0", gone=True)
    story.refused("delete", "ConfigMap", "a-config", 404)
    story.at(80).deletes("ConfigMap/a-config", gone=True)
    assert_passes("AW-010", story)


# Force.


def test_force_that_comes_two_reactions_late_is_a_violation() -> None:
    story = failing(job("a-job"))
    name = first_pod(story)
    story.at(70.2).deletes("Job/a-job", gone=True)
    story.deletes(f"Pod/{name}", by="garbage-collector")
    wrong = story.at(70.2 + FORCE + 1.5).deletes(f"Pod/{name}", grace=0, gone=True)
    assert_fails("AW-012", story, at=wrong)


@pytest.mark.parametrize(("forced_after", "right"), [(FORCE + 0.5, True), (2 * FORCE, False)])
def test_deleting_a_failed_appwrapper_does_not_postpone_force(
    forced_after: float, right: bool
) -> None:
    story = failing(job("a-job"))
    name = first_pod(story)
    story.at(70.2).deletes("Job/a-job", gone=True)
    story.deletes(f"Pod/{name}", by="garbage-collector")
    story.at(70.2 + FORCE / 2).deletes("AppWrapper/a", by="user")
    forced = story.at(70.2 + forced_after).deletes(f"Pod/{name}", grace=0, gone=True)
    if right:
        assert_passes("AW-012", story)
    else:
        assert_fails("AW-012", story, at=forced)


@pytest.mark.parametrize(("late", "right"), [(1.9, True), (3.0, False)])
def test_pods_whose_job_somebody_orphaned_are_forced_as_well(late: float, right: bool) -> None:
    story = started(job("a-job"), annotations={"retryLimit": "0"})
    name = first_pod(story)
    story.at(20).deletes("Job/a-job", by="user", propagation="Orphan", gone=True)
    story.at(20.1).enters("Failed")
    forced = story.at(20.1 + FORCE + late).deletes(f"Pod/{name}", grace=0, gone=True)
    if right:
        assert_passes("AW-012", story)
    else:
        assert_fails("AW-012", story, at=forced)


@pytest.mark.parametrize(("forced_after", "right"), [(FORCE + SOON, True), (FORCE - 10, False)])
def test_pods_that_were_orphaned_during_a_delay_are_forced_a_grace_period_after_it(
    forced_after: float, right: bool
) -> None:
    delay = {"deletionOnFailureGracePeriodDuration": "5m"}
    story = failing(job("a-job", pods=2), annotations=delay)
    running = max(key for key in story.stored if key.startswith("Pod/"))
    story.at(100).deletes("Job/a-job", by="user", propagation="Orphan", gone=True)
    forced = story.at(370.1 + forced_after).deletes(running, grace=0, gone=True)
    if right:
        for claim in ("AW-010", "AW-011", "INV-10"):
            assert verdict_of(claim, story).outcome is not Outcome.FAILED
    else:
        assert_fails("AW-011", story, at=forced)


def test_pods_that_were_orphaned_while_the_operator_was_down_are_forced_first() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(19).process("killed")
    story.at(20).deletes("AppWrapper/a", by="user")
    story.at(30).deletes("Job/a-job", by="user", propagation="Orphan", gone=True)
    story.at(60).process("started")
    story.at(60.1 + FORCE).deletes(f"Pod/{name}", grace=0, gone=True)
    assert_unarmed("AW-010", story)
    assert_passes("AW-011", story)


def test_a_pod_that_is_deleted_before_its_job_was_not_orphaned() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(20).deletes("AppWrapper/a", by="user")
    wrong = story.at(20.1).deletes(f"Pod/{name}", gone=True)
    story.at(20.2).deletes("Job/a-job", gone=True)
    assert_fails("AW-010", story, at=wrong)


# What follows the last object.


@pytest.mark.parametrize("condition", ["ResourcesDeployed", "QuotaReserved"])
def test_a_condition_that_does_not_follow_the_last_object_is_a_violation(condition: str) -> None:
    story = failing()
    gone = cleared(story, 70.2)
    other = {"ResourcesDeployed", "QuotaReserved"} - {condition}
    story.at(gone + SOON).shows(**dict.fromkeys(other, "False"))
    assert_fails("AW-094", story.at(gone + 1.2).ends(), at=last(story))
    assert_fails("AW-053", story, at=last(story))


def test_an_operator_that_waits_a_delay_twice_is_a_violation() -> None:
    story = failing(annotations={"deletionOnFailureGracePeriodDuration": "5m"})
    gone = cleared(story, 370.2)
    wrong = story.at(gone + 300).shows(ResourcesDeployed="False", QuotaReserved="False")
    for claim in ("AW-053", "AW-094"):
        assert_fails(claim, story, at=wrong)


def test_what_goes_by_itself_during_a_delay_may_stay_deployed_until_that_is_over() -> None:
    story = failing(annotations={"deletionOnFailureGracePeriodDuration": "5m"})
    story.at(100).deletes("Pod/a-0", by="user", gone=True)
    story.at(371).shows(ResourcesDeployed="False", QuotaReserved="False")
    assert_passes("AW-094", story)


def test_a_reset_turns_resources_deployed_and_keeps_the_quota() -> None:
    story = started()
    reset(story, 10)
    assert_passes("AW-094", story)
    late = resetting()
    gone = cleared(late, 70.2)
    attempt(late, gone + PAUSE + SOON)
    assert_fails("AW-094", late, at=last(late))


@pytest.mark.parametrize("stays", [True, False])
def test_a_condition_may_wait_for_a_pod_that_somebody_labelled(stays: bool) -> None:
    story = failing()
    labels = {"workload.codeflare.dev/appwrapper": "a"}
    metadata = {"name": "intruder", "labels": labels}
    story.creates({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}, by="user")
    story.at(70.2).deletes("Pod/a-0", gone=True)
    if stays:
        assert_unarmed("AW-094", story.at(1000).ends())
        return
    story.at(200).vanishes("Pod/intruder", by="user")
    story.at(200.1).shows(ResourcesDeployed="False", QuotaReserved="False")
    assert_passes("AW-094", story)


def test_a_condition_that_was_false_already_arms_nothing() -> None:
    story = failing()
    story.at(70.2).shows(ResourcesDeployed="False", QuotaReserved="False")
    cleared(story, 70.3)
    assert_unarmed("AW-094", story.at(200).ends())


# The finalizer.


def test_a_deleted_appwrapper_that_stays_is_a_violation() -> None:
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user")
    gone = cleared(story, 20.2)
    story.at(gone + SOON).shows(QuotaReserved="False", ResourcesDeployed="False")
    wrong = story.at(gone + 5).vanishes("AppWrapper/a", by="appwrapper")
    assert_fails("AW-095", story, at=wrong)
    assert_passes("AW-095", deleted())


def test_an_appwrapper_with_nothing_to_remove_goes_at_once() -> None:
    story = started()
    reset(story, 10)
    story.at(100).deletes("AppWrapper/a", by="user")
    assert_fails("AW-095", story.at(200).ends(), at=last(story))


def test_a_finalizer_that_is_put_back_is_a_violation() -> None:
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user")
    gone = cleared(story, 20.2)
    story.at(gone + SOON).finalizer(present=False)
    story.at(gone + 2 * SOON).finalizer()
    assert_fails("AW-095", story.at(200).ends(), at=last(story))


def held_by_others() -> Story:
    """A deleted AppWrapper without any objects left, with a foreign finalizer."""
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user", held_by=[FINALIZER, "example.com/hold"])
    cleared(story, 20.2)
    return story


def test_a_finalizer_of_somebody_else_is_left_before_the_deletion_too() -> None:
    story = started()
    held = with_path(
        story.stored["AppWrapper/a"], "metadata.finalizers", [FINALIZER, "example.com/hold"]
    )
    story.at(20).changes(held, by="user")
    story.at(30).shows(PodsReady="True")
    assert_passes("AW-095", story)
    wrong = story.at(40).finalizer()
    assert_fails("AW-095", story, at=wrong)


def test_a_finalizer_of_somebody_else_is_left() -> None:
    story = held_by_others()
    story.finalizer(present=False)
    verdict = assert_fails("AW-095", story, at=last(story))
    assert "the finalizer example.com/hold of appwrapper/a was removed" in verdict.because


def test_nor_is_one_taken_by_what_ends_the_appwrapper() -> None:
    story = held_by_others()
    assert_fails("AW-095", story, at=story.vanishes("AppWrapper/a", by="appwrapper"))


def test_what_others_hold_may_stay_for_ever() -> None:
    story = held_by_others()
    obj = story.stored["AppWrapper/a"]
    metadata = {**obj["metadata"], "finalizers": ["example.com/hold"]}
    story.changes({**obj, "metadata": metadata}, by="appwrapper")
    assert_passes("AW-095", story.at(1000).ends())


def test_without_writers_nobody_can_tell_who_took_a_finalizer() -> None:
    story = Story(capabilities=Capabilities(writers=False, versions=True))
    story.at(0).submitted()
    story.finalizer()
    story.at(20).deletes("AppWrapper/a", by="user", held_by=[FINALIZER, "example.com/hold"])
    story.at(20.1).finalizer(present=False)
    assert_passes("AW-095", story)


def test_a_component_that_was_forgotten_tells_nothing_of_the_grace_period_before_force() -> None:
    story = resetting(annotations={"forcefulDeletionGracePeriodDuration": "20s"})
    story.at(70.2).deletes("Pod/a-0")
    story.at(71).vanishes("Pod/a-0")
    story.at(400).ends()
    assert_fails("AW-010", story, at=last(story))
    assert_fails("AW-012", story, at=last(story))
    assert verdict_of("AW-077", story).outcome is not Outcome.FAILED
