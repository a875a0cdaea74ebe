"""Claims that hold at every position, each contradicted once."""

from __future__ import annotations

import pytest

from conformance.norm.verdict import Outcome
from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    verdict_of,
)
from tests.claims.stories import (
    SOON,
    attempt,
    begin,
    cleared,
    exhausted,
    failing,
    started,
)
from tests.claims.story import FINALIZER, LABEL, Story
from tests.claims.templates import config_map, job, pod
from vocabulary.clock import seconds
from vocabulary.history import Capabilities
from vocabulary.objects import with_path


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
    wrong = story.at(2).changes({**story.stored["ConfigMap/a-config"], "data": {}}, by="appwrapper")
    assert_fails("INV-4", story, at=wrong)


def test_deleting_the_replica_set_of_somebody_else_is_a_violation() -> None:
    """No component is one, but a controller that waits for those of its Deployments sees it."""
    story = Story(config_map("a-config"))
    labelled = {"name": "strangers", "labels": {LABEL: "a"}}
    stranger = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": labelled}
    story.at(0).creates(stranger, by="user")
    begin(story)
    story.at(1).resumes()
    wrong = story.at(2).deletes("ReplicaSet/strangers", grace=0, gone=True)
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


@pytest.mark.parametrize("writers", [True, False])
def test_nor_does_a_labelled_pod_that_is_made_for_what_a_user_created(writers: bool) -> None:
    story = exhausted(0, capabilities=Capabilities(writers=writers, versions=True))
    story.at(200).creates(job("strangers"), by="user")
    story.spawns("Job/strangers", "stranger")
    for claim in ("AW-013", "AW-014", "INV-1"):
        assert_passes(claim, story)


def test_but_what_is_made_for_a_job_that_the_controller_created_without_an_owner_does() -> None:
    story = exhausted(0)
    story.at(200).creates(job("helper"), by="appwrapper")
    wrong = story.spawns("Job/helper", "late")
    for claim in ("AW-014", "INV-1"):
        assert_fails(claim, story, at=wrong)


def test_a_workload_that_has_not_settled_when_nothing_goes_on_is_a_violation() -> None:
    story = failing()
    story.at(70.2).deletes("Pod/a-0")
    story.at(71).mark("faults-stopped")
    wrong = story.at(5000).mark("stable")
    assert_fails("INV-8", story.ends(), at=wrong)


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("facts", [{"profile_sha256": "0"}, {}], ids=["program", "one-that-polls"])
def test_a_program_may_still_wait_for_its_longest_parameter_where_all_has_been_quiet(
    is_over: bool, facts: dict[str, str]
) -> None:
    """Its timers are unknown to the harness."""
    annotations = {"deletionOnFailureGracePeriodDuration": "2h"}
    story = failing(annotations=annotations, facts=facts)
    story.at(71).mark("faults-stopped")
    rests = story.at(8000 if is_over else 5000).mark("stable")
    if is_over:
        assert_fails("INV-8", story.ends(), at=rests)
    else:
        assert_unarmed("INV-8", story.ends())


def test_an_operator_without_a_timer_waits_for_no_parameter() -> None:
    story = failing(annotations={"deletionOnFailureGracePeriodDuration": "2h"})
    story.at(71).mark("faults-stopped")
    rests = story.at(72).mark("stable")
    assert_fails("INV-8", story.ends(), at=rests)


@pytest.mark.parametrize("lets_go", [True, False])
def test_an_appwrapper_that_only_others_hold_waits_for_them(lets_go: bool) -> None:
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user", held_by=[FINALIZER, "example.com/hold"])
    gone = cleared(story, 20.2)
    story.at(gone + SOON).shows(QuotaReserved="False", ResourcesDeployed="False")
    if lets_go:
        obj = story.stored["AppWrapper/a"]
        story.changes(with_path(obj, "metadata.finalizers", ["example.com/hold"]), by="appwrapper")
    story.at(100).mark("faults-stopped")
    rests = story.at(200).mark("stable")
    if lets_go:
        verdict = assert_unarmed("INV-8", story.ends())
        assert "appwrapper/a by example.com/hold" in verdict.because
    else:
        assert_fails("INV-8", story.ends(), at=rests)


def test_a_workload_that_settles_after_the_faults_is_right() -> None:
    story = exhausted(0)
    story.at(200).mark("faults-stopped")
    story.at(300).mark("stable")
    assert_passes("INV-8", story.ends())


def test_a_workload_that_settles_hours_after_the_faults_is_a_violation() -> None:
    story = begin(Story())
    story.at(1).mark("faults-stopped")
    attempt(story, 20_000)
    wrong = len(story.entries) - 1
    story.at(20_100).mark("stable")
    assert_fails("INV-8", story.ends(), at=wrong)


@pytest.mark.parametrize("takes", [1, 50_000])
def test_a_workload_settles_after_it_was_suspended_by_a_queue(takes: float) -> None:
    story = begin(Story())
    story.at(100).mark("faults-stopped")
    story.at(50_000).suspends(by="kueue")
    story.at(50_000 + takes).enters("Suspending")
    rests = story.enters("Suspended", QuotaReserved="False", ResourcesDeployed="False")
    story.at(200_000).mark("stable")
    if takes == 1:
        assert_passes("INV-8", story.ends())
    else:
        assert_fails("INV-8", story.ends(), at=rests)


def test_a_run_without_an_end_of_faults_arms_no_claim_about_settling() -> None:
    assert_unarmed("INV-8", started().at(1000).ends())


def test_a_reset_without_any_reason_is_a_violation() -> None:
    story = started()
    wrong = story.at(50).enters("Resetting", resets=1, Unhealthy="True")
    verdict = assert_fails("INV-9", story, at=wrong)
    assert "1 of 1 pods were running, nothing had failed, and nothing" in verdict.because


def test_a_phase_edge_that_the_life_cycle_lacks_is_a_violation() -> None:
    story = started()
    wrong = story.at(50).enters("Suspended")
    for claim in ("INV-6", "MLB-044"):
        assert_fails(claim, story, at=wrong)


def test_watch_events_alone_may_miss_a_phase_but_never_leave_a_final_one() -> None:
    story = started(capabilities=Capabilities(writers=False, options=False))
    before = assert_passes("INV-6", story).armed
    story.at(50).enters("Resuming")
    excused = assert_passes("INV-6", story)
    assert excused.armed == before
    assert "1 undecided" in excused.because
    story.at(60).enters("Failed")
    wrong = story.at(70).enters("Resuming")
    assert_fails("INV-6", story, at=wrong)


@pytest.mark.parametrize("claim", ["INV-6", "MLB-044"])
def test_a_step_that_only_a_gap_excuses_is_not_taken_for_one_of_the_life_cycle(claim: str) -> None:
    story = started(capabilities=Capabilities(versions=False))
    before = assert_passes(claim, story).armed
    story.at(50).enters("Suspended")
    excused = assert_passes(claim, story)
    assert excused.armed == before
    assert "1 undecided" in excused.because


def test_a_creation_that_only_a_gap_excuses_is_not_taken_for_an_announced_one() -> None:
    story = begin(Story(pod("a-0"), capabilities=Capabilities(versions=False)))
    story.makes()
    assert_unarmed("INV-1", story)


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
    assert story.history.operator.timing.slack_us == seconds(1)


def _another_appwrapper(story: Story, phase: str) -> None:
    """An AppWrapper `b` that wants a ConfigMap of the name that `a` uses."""
    spec = {"components": [{"template": config_map("a-config")}]}
    metadata = {"name": "b", "annotations": {}}
    other = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
    story.creates({**other, "metadata": metadata, "spec": spec}, by="user")
    obj = {**story.stored["AppWrapper/b"], "status": {"phase": phase}}
    story.changes(obj, by="appwrapper", subresource="status")


@pytest.mark.parametrize("phase", ["Resuming", "Failed"])
def test_deleting_what_another_appwrapper_owns_is_a_violation(phase: str) -> None:
    story = started(config_map("a-config"))
    story.at(20)
    _another_appwrapper(story, phase)
    wrong = story.at(21).deletes("ConfigMap/a-config", gone=True)
    verdict = assert_fails("INV-4", story, at=wrong)
    assert "which appwrapper/a of uid uid-1 owns" in verdict.because


def test_adopting_what_another_appwrapper_owns_is_a_violation() -> None:
    story = started(config_map("a-config"))
    story.at(20)
    _another_appwrapper(story, "Resuming")
    obj = story.stored["ConfigMap/a-config"]
    owners = {"ownerReferences": [story.owner("AppWrapper/b")]}
    adopted = {**obj, "metadata": {**obj["metadata"], **owners}}
    wrong = story.at(21).changes(adopted, by="appwrapper")
    assert_fails("INV-4", story, at=wrong)


def test_an_appwrapper_that_is_cleaned_up_loses_its_own_whatever_others_do() -> None:
    story = started(config_map("a-config"))
    story.at(20)
    _another_appwrapper(story, "Resuming")
    story.suspends()
    story.at(20.1).enters("Suspending")
    story.at(20.2).deletes("ConfigMap/a-config", gone=True)
    assert_passes("INV-4", story)


@pytest.mark.parametrize("is_given_up", [True, False])
def test_the_surplus_of_one_component_may_make_up_for_what_another_lacks_or_not(
    is_given_up: bool,
) -> None:
    """The source counts pods, and does not say of what."""
    story = begin(Story(job("a-job"), pod("a-0")))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    for name in ("done", "working"):
        story.spawns("Job/a-job", name)
        story.at(story.now + 1).runs(name)
    story.becomes("done", "Succeeded")
    if is_given_up:
        story.at(300.3).shows(Unhealthy="True")
        story.at(360.5).enters("Resetting", resets=1)
    story.at(500).ends()
    for claim in ("INV-9", "AW-030", "AW-032", "AW-042", "AW-085"):
        assert verdict_of(claim, story).outcome is not Outcome.FAILED, claim
