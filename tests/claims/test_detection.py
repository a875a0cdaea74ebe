"""Claims about noticing that a workload is unhealthy, each contradicted once."""

from __future__ import annotations

import pytest

from conformance.norm.verdict import Outcome
from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    entered,
    last,
    verdict_of,
)
from tests.claims.stories import SOON, attempt, begin, first_pod, gpu_pod, repaired, started
from tests.claims.story import Story
from tests.claims.templates import config_map, job, pod
from vocabulary.history import Capabilities
from vocabulary.objects import with_path

TEMPLATE = {"spec": pod("any")["spec"]}


def unnoticed_failed_pod() -> Story:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    return story.at(100).ends()


def test_a_failed_pod_that_nobody_notices_is_a_violation() -> None:
    story = unnoticed_failed_pod()
    for claim in ("AW-003", "AW-021", "AW-030"):
        assert_fails(claim, story, at=last(story))


def test_a_failed_pod_that_is_noticed_too_late_is_a_violation_where_it_is_noticed() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    late = story.at(12).shows(Unhealthy="True")
    verdict = assert_fails("AW-030", story.at(20).ends(), at=late)
    assert "with 1s granted on top of that, at the latest at t=11s" in verdict.because


def test_a_failed_pod_that_has_lost_its_label_need_not_be_noticed() -> None:
    story = started()
    story.at(10).changes(with_path(story.stored["Pod/a-0"], "metadata.labels", {}), by="user")
    story.at(20).becomes("a-0", "Failed")
    assert_unarmed("AW-030", story.at(100).ends())


def test_a_failed_pod_that_is_replaced_before_the_deadline_decides_nothing() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10.5).vanishes("Pod/a-0")
    assert_unarmed("AW-030", story.at(100).ends())


def test_failed_pods_that_their_job_has_replaced_need_not_be_noticed() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(10).becomes(name, "Failed")
    story.spawns("Job/a-job", "a-job-again")
    assert_unarmed("AW-030", story.at(100).ends())


def test_while_the_operator_is_down_nothing_needs_to_be_noticed() -> None:
    story = started()
    story.at(9).process("killed")
    story.at(10).becomes("a-0", "Failed")
    story.at(60).process("started")
    story.at(61).shows(Unhealthy="True")
    assert_passes("AW-030", story.at(100).ends())


def test_a_history_that_ends_before_the_deadline_decides_nothing() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    assert_unarmed("AW-030", story.at(10.9).ends())


def test_pods_that_vanish_unnoticed_are_a_violation() -> None:
    story = started(job("a-job", pods=2))
    story.at(30).vanishes(f"Pod/{first_pod(story)}", by="garbage-collector")
    story.at(200).ends()
    assert_fails("AW-021", story, at=last(story))


@pytest.mark.parametrize(("succeeded", "deleted"), [(10, 30), (31, 30)])
def test_a_deleted_pod_that_a_finalizer_holds_is_missed_unless_it_had_succeeded_before(
    succeeded: float, deleted: float
) -> None:
    story = started(job("a-job", pods=2))
    name = first_pod(story)
    for at in sorted((succeeded, deleted)):
        if at == succeeded:
            story.at(at).becomes(name, "Succeeded")
        else:
            story.at(at).deletes(f"Pod/{name}", by="user", held_by=["example.com/hold"])
    story.at(200).ends()
    if succeeded < deleted:
        assert_unarmed("AW-021", story)
    else:
        assert_fails("AW-021", story, at=last(story))


def test_pods_that_vanish_early_may_be_missed_when_the_admission_grace_period_is_over() -> None:
    story = started(job("a-job", pods=2), annotations={"failureGracePeriodDuration": "0s"})
    story.at(30).vanishes(f"Pod/{first_pod(story)}", by="garbage-collector")
    story.at(60.5).shows(Unhealthy="True")
    story.at(60.6).enters("Resetting", resets=1)
    assert_passes("AW-021", story.at(61).ends())


def test_pods_that_vanish_early_have_to_be_missed_by_then() -> None:
    story = started(job("a-job", pods=2), annotations={"failureGracePeriodDuration": "0s"})
    story.at(30).vanishes(f"Pod/{first_pod(story)}", by="garbage-collector")
    late = story.at(65).shows(Unhealthy="True")
    assert_fails("AW-021", story.at(100).ends(), at=late)


def complete(left: str) -> Story:
    """One of two jobs is complete; its first pod is evicted, and its second is what is `left`."""
    story = started(job("a-job", pods=2), job("b-job"))
    first, second = sorted(key for key in story.stored if key.startswith("Pod/a-job"))
    story.at(400).becomes(first.removeprefix("Pod/"), "Succeeded")
    story.becomes(second.removeprefix("Pod/"), left)
    complete_job(story, "Job/a-job")
    story.at(500).vanishes(first, by="pod-gc")
    return story.at(900).ends()


def test_pods_of_a_complete_job_need_not_be_there() -> None:
    story = complete("Succeeded")
    assert_unarmed("AW-021", story)
    assert_passes("AW-101", story)


@pytest.mark.parametrize("completes", [True, False])
def test_failed_pods_of_a_complete_pytorch_job_do_not_keep_others_from_being_ready(
    completes: bool,
) -> None:
    """A PyTorchJob is complete when its master is, whatever became of its workers."""
    replicas = {role: {"replicas": 1, "template": TEMPLATE} for role in ("Master", "Worker")}
    train = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": replicas, "template": TEMPLATE},
    }
    story = attempt(begin(Story(train, pod("b-0"))), SOON, run=False)
    for name in ("master", "worker"):
        story.spawns("PyTorchJob/train", name, by="pytorchjob-controller")
    story.runs("master", "worker", "b-0")
    story.at(400).becomes("worker", "Failed")
    story.at(400.1).shows(Unhealthy="True", PodsReady="False")
    story.at(401).becomes("master", "Succeeded")
    if completes:
        conditions = [{"type": "Succeeded", "status": "True"}]
        done = with_path(story.stored["PyTorchJob/train"], "status.conditions", conditions)
        story.changes(done, by="pytorchjob-controller", subresource="status")
    ready = story.at(403).shows(PodsReady="True")
    if completes:
        assert_passes("AW-101", story)
    else:
        assert_fails("AW-101", story, at=ready)


def test_a_pod_that_a_complete_job_leaves_behind_has_to_run() -> None:
    story = complete("Pending")
    assert_fails("AW-021", story, at=last(story))


@pytest.mark.parametrize("completes", [True, False])
def test_failed_pods_of_a_job_that_completes_without_replacing_them_count_no_more(
    completes: bool,
) -> None:
    """A Job without a number of completions makes no more pods once one has succeeded."""
    story = started(job("a-job", pods=2), pod("b-0"))
    first, second = sorted(key for key in story.stored if key.startswith("Pod/a-job"))
    story.at(400).becomes(first.removeprefix("Pod/"), "Succeeded")
    story.becomes(second.removeprefix("Pod/"), "Failed")
    story.at(400.1).shows(Unhealthy="True")
    if completes:
        complete_job(story, "Job/a-job")
    ready = story.at(402).shows(Unhealthy="False", PodsReady="True")
    story.at(900).ends()
    if completes:
        assert_passes("AW-101", story)
    else:
        assert_fails("AW-101", story, at=ready)
    for claim in ("AW-003", "AW-021", "AW-030", "AW-040"):
        if completes:
            assert verdict_of(claim, story).outcome is not Outcome.FAILED
        else:
            assert_fails(claim, story, at=last(story))


def complete_job(story: Story, key: str) -> None:
    conditions = [{"type": "Complete", "status": "True"}]
    obj = with_path(story.stored[key], "status.conditions", conditions)
    story.changes(obj, by="job-controller", subresource="status")


def replaced(runs: bool) -> Story:
    """Long after the start a pod is replaced; the new one runs, or stays pending."""
    story = started(job("a-job", pods=2))
    story.at(500).vanishes(f"Pod/{first_pod(story)}", by="garbage-collector")
    story.at(500.2).spawns("Job/a-job", "replacement")
    if runs:
        story.at(501).runs("replacement")
    return story


def test_a_replacement_that_never_runs_and_is_not_noticed_is_a_violation() -> None:
    story = replaced(runs=False)
    story.at(700).ends()
    assert_fails("AW-021", story, at=last(story))


def test_a_replacement_that_runs_in_time_need_not_be_noticed() -> None:
    assert_unarmed("AW-021", replaced(runs=True).at(700).ends())


def test_a_replacement_that_never_runs_and_is_noticed_is_none() -> None:
    story = replaced(runs=False)
    story.at(500.5).shows(Unhealthy="True")
    assert_passes("AW-021", story.at(510).ends())


def test_a_job_that_failed_unnoticed_is_a_violation() -> None:
    story = started(job("a-job"))
    story.at(30).fails_job("a-job")
    story.at(100).ends()
    for claim in ("AW-003", "AW-022", "AW-034"):
        assert_fails(claim, story, at=last(story))


def test_a_pytorch_job_that_failed_unnoticed_is_a_violation() -> None:
    template = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1}}},
    }
    story = attempt(begin(Story(template)), SOON)
    obj = story.stored["PyTorchJob/train"]
    failed = {"conditions": [{"type": "Failed", "status": "True"}]}
    story.at(30).changes({**obj, "status": failed}, by="pytorchjob-controller")
    story.at(100).ends()
    assert_fails("AW-034", story, at=last(story))


def test_a_tagged_node_that_nobody_notices_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(100).ends()
    assert_fails("AW-033", story, at=last(story))


def test_a_deleted_component_that_nobody_misses_is_a_violation() -> None:
    story = started(pod("a-0"), pod("a-1"))
    story.at(30).deletes("Pod/a-1", by="user", gone=True)
    story.at(100).ends()
    for claim in ("AW-003", "AW-022", "AW-035"):
        assert_fails(claim, story, at=last(story))


def test_without_writers_nobody_can_say_who_deleted_a_component() -> None:
    story = started(pod("a-0"), capabilities=Capabilities(writers=False, options=False))
    story.at(30).deletes("Pod/a-0", gone=True)
    verdict = assert_unarmed("AW-035", story.at(100).ends())
    assert "does not say who made each write" in verdict.because


def test_lack_of_pods_that_is_noticed_too_early_is_a_violation() -> None:
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    early = story.at(30).shows(Unhealthy="True")
    story.at(100).ends()
    assert_fails("AW-031", story, at=early)


def late_pod(noticed_at: float) -> Story:
    """The Job controller is paused past a warmup of 10 s; then its pod comes, and never runs."""
    story = begin(Story(job("a-job"), annotations={"warmupGracePeriodDuration": "10s"}))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    story.at(50).spawns("Job/a-job", "late")
    story.at(noticed_at).shows(Unhealthy="True")
    return story.at(100).ends()


def test_idle_pods_that_came_late_are_not_to_be_noticed_before_they_came() -> None:
    assert_passes("AW-032", late_pod(50.5))


def test_idle_pods_that_came_late_have_to_be_noticed_when_they_come() -> None:
    story = late_pod(70)
    late = next(n for n, entry in enumerate(story.entries) if entry.t == 70_000_000)
    assert_fails("AW-032", story, at=late)


def test_lack_of_pods_that_nobody_notices_is_a_violation() -> None:
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    story.at(100).ends()
    assert_fails("AW-031", story, at=last(story))


def test_pods_that_come_in_time_arm_no_claim_about_lacking_them() -> None:
    story = started().at(1000).ends()
    for claim in ("AW-031", "AW-032", "AW-041", "AW-042"):
        assert_unarmed(claim, story)


def test_idle_pods_that_are_noticed_too_early_are_a_violation() -> None:
    story = attempt(begin(Story()), SOON, run=False)
    early = story.at(70).shows(Unhealthy="True")
    story.at(400).ends()
    assert_fails("AW-032", story, at=early)


def test_idle_pods_that_nobody_notices_are_a_violation() -> None:
    story = attempt(begin(Story()), SOON, run=False)
    story.at(400).ends()
    assert_fails("AW-032", story, at=last(story))


def test_a_workload_that_lacks_pods_and_is_reset_without_failure_grace_is_a_violation() -> None:
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    story.at(61).enters("Resetting", resets=1, Unhealthy="True")
    assert_fails("AW-041", story, at=entered(story, "Resetting"))


def test_a_workload_that_lacks_pods_for_ever_is_a_violation() -> None:
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    story.at(61).shows(Unhealthy="True")
    story.at(1000).ends()
    assert_fails("AW-041", story, at=last(story))


def test_idle_pods_that_are_reset_without_failure_grace_are_a_violation() -> None:
    story = attempt(begin(Story()), SOON, run=False)
    story.at(301).enters("Resetting", resets=1, Unhealthy="True")
    assert_fails("AW-042", story, at=entered(story, "Resetting"))


def test_a_first_attempt_right_after_the_start_gets_no_failure_grace_from_before_it() -> None:
    annotations = {"warmupGracePeriodDuration": "5s", "failureGracePeriodDuration": "5s"}
    story = Story(annotations=annotations, facts={"slack_us": 2_000_000})
    story.at(2.5).process("started")
    attempt(begin(story, at=2.7), 2.8, run=False)
    story.at(8.2).enters("Resetting", resets=1, Unhealthy="True")
    assert_fails("AW-042", story, at=entered(story, "Resetting"))


def test_pods_whose_start_no_cache_showed_may_be_missed() -> None:
    story = Story(annotations={"failureGracePeriodDuration": "0s"})
    story.at(0).process("started")
    attempt(begin(story), SOON, run=False)
    story.fault("injected", {"stale_reads": {"kind": "Pod"}}, "freeze the Pod cache")
    story.at(2).runs("a-0")
    story.at(301).enters("Resetting", resets=1, Unhealthy="True")
    assert_passes("INV-9", story.ends())


def test_pods_that_were_refused_are_not_pods_that_did_not_come() -> None:
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    story.refused("create", "Job.batch", "a-job", 403)
    story.at(61).enters("Failed", Unhealthy="True")
    assert_unarmed("AW-041", story.at(1000).ends())


@pytest.mark.parametrize("refused", [True, False])
def test_pods_may_be_missed_before_a_component_that_could_not_be_created(refused: bool) -> None:
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    if refused:
        fault = {"api_error": {"verb": "create", "times": 14}}
        story.fault("injected", fault, "refuse the operator's next 14 creates")
    early = story.at(62).shows(Unhealthy="True")
    story.at(92).makes()
    story.spawns("Job/a-job", "late")
    story.at(92.1).enters("Running")
    story.at(300).ends()
    if refused:
        assert verdict_of("AW-031", story).outcome is not Outcome.FAILED
    else:
        assert_fails("AW-031", story, at=early)


def test_failed_pods_are_reset_before_their_grace_is_over_is_a_violation() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    early = story.at(40).enters("Resetting", resets=1, Unhealthy="True")
    for claim in ("AW-004", "AW-040"):
        assert_fails(claim, story, at=early)


def test_failed_pods_that_never_lead_to_a_reset_are_a_violation() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(1000).ends()
    assert_fails("AW-040", story, at=last(story))


def test_deleting_while_others_have_time_to_repair_is_a_violation() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10.1).shows(Unhealthy="True")
    deleted = story.at(30).deletes("Pod/a-0")
    story.at(70.2).enters("Resetting", resets=1)
    assert_fails("AW-004", story, at=deleted)


@pytest.mark.parametrize("comes_back", [True, False])
def test_what_makes_way_for_its_own_creation_is_not_deleted_too_early(comes_back: bool) -> None:
    """Without an answer, and the marks that others have taken, it may be of an earlier attempt."""
    story = begin(Story(pod("a-0"), config_map("a-config")))
    story.at(1).resumes()
    story.makes("a-config")
    deleted = story.at(2).deletes("ConfigMap/a-config", gone=True)
    story.at(2.1).makes("a-config" if comes_back else "a-0")
    if comes_back:
        story.makes("a-0")
    story.enters("Running")
    story.at(302).shows(Unhealthy="True")
    story.at(362.2).enters("Resetting", resets=1)
    if comes_back:
        assert_passes("AW-004", story)
    else:
        assert_fails("AW-004", story, at=deleted)


def test_waiting_although_a_node_was_tagged_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(30.1).shows(Unhealthy="True")
    late = story.at(90.2).enters("Resetting")
    for claim in ("AW-002", "AW-043"):
        assert_fails(claim, story, at=late)


def test_waiting_although_a_job_failed_is_a_violation() -> None:
    story = started(job("a-job"))
    story.at(30).fails_job("a-job")
    story.at(30.1).shows(Unhealthy="True")
    late = story.at(90.2).enters("Resetting", resets=1)
    assert_fails("AW-044", story, at=late)


def test_a_short_failure_grace_cannot_tell_waiting_from_not_waiting() -> None:
    story = started(job("a-job"), annotations={"failureGracePeriodDuration": "500ms"})
    story.at(30).fails_job("a-job")
    story.at(30.2).enters("Resetting", resets=1)
    assert_unarmed("AW-044", story)


def test_a_reset_of_what_was_repaired_in_time_is_a_violation() -> None:
    story = repaired()
    wrong = story.at(90.2).enters("Resetting", resets=1)
    assert_fails("AW-046", story, at=wrong)


def test_staying_unhealthy_after_a_repair_is_a_violation() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(30).becomes(name, "Failed")
    story.at(30.1).shows(Unhealthy="True")
    story.at(35).vanishes(f"Pod/{name}")
    story.spawns("Job/a-job", "a-job-again")
    story.at(36).runs("a-job-again")
    story.at(200).ends()
    assert_fails("AW-046", story, at=last(story))


def test_a_repair_just_before_the_grace_is_over_decides_nothing() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(30).becomes(name, "Failed")
    story.at(30.1).shows(Unhealthy="True")
    story.at(89.5).vanishes(f"Pod/{name}")
    story.spawns("Job/a-job", "a-job-again")
    story.runs("a-job-again")
    story.at(90.1).enters("Resetting", resets=1)
    assert_unarmed("AW-046", story)


def test_a_job_that_still_lacks_a_replacement_may_show_its_failed_pod() -> None:
    work = job("a-job", pods=2)
    story = started({**work, "spec": {**work["spec"], "completions": 3}})
    ended, failed = (key.removeprefix("Pod/") for key in story.stored if key.startswith("Pod/"))
    story.at(30).becomes(ended, "Succeeded")
    story.becomes(failed, "Failed")
    story.at(30.1).shows(Unhealthy="True")
    story.at(31).spawns("Job/a-job", "third")
    story.at(32).runs("third")
    story.at(40).spawns("Job/a-job", "replacement")
    story.at(40.5).runs("replacement")
    story.at(40.9).shows(Unhealthy="False")
    assert_passes("AW-046", story.at(60).ends())


def test_a_job_that_is_at_full_work_again_shows_its_failed_pod_no_more() -> None:
    work = job("a-job", pods=2)
    story = started({**work, "spec": {**work["spec"], "completions": 3}})
    ended, failed = (key.removeprefix("Pod/") for key in story.stored if key.startswith("Pod/"))
    story.at(30).becomes(ended, "Succeeded")
    story.becomes(failed, "Failed")
    story.at(30.1).shows(Unhealthy="True")
    story.at(31).spawns("Job/a-job", "third")
    story.spawns("Job/a-job", "replacement")
    story.at(32).runs("third", "replacement")
    assert_fails("AW-046", story.at(60).ends(), at=last(story))
