"""Claims about completion, what PodsReady says of the pods, and what protects what is deployed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.claims.judging import assert_fails, assert_passes, assert_unarmed, last
from tests.claims.stories import GRACE, SOON, attempt, begin, cleared, failed, started, succeeded
from tests.claims.story import FINALIZER, Story
from tests.claims.templates import config_map, job, pod, stateful_set
from vocabulary.clock import SIMULATION_EPOCH_US, seconds, to_rfc3339
from vocabulary.objects import with_path


def completes(story: Story, name: str = "a-job") -> int:
    """The Job controller says that a Job is complete."""
    conditions = [{"type": "Complete", "status": "True"}]
    obj = with_path(story.stored[f"Job/{name}"], "status.conditions", conditions)
    return story.changes(obj, by="job-controller", subresource="status")


def retrying_job() -> Story:
    """A Job whose first pod failed, and whose second one then succeeded."""
    story = started(job("a-job"))
    first = next(key for key in story.stored if key.startswith("Pod/")).partition("/")[2]
    story.at(30).becomes(first, "Failed")
    story.spawns("Job/a-job", "a-job-again")
    story.at(31).runs("a-job-again")
    story.at(50).becomes("a-job-again", "Succeeded")
    completes(story)
    return story


def test_a_job_that_completed_after_its_own_retry_has_to_succeed() -> None:
    story = retrying_job()
    story.at(50.2).enters("Succeeded", QuotaReserved="False")
    assert_passes("AW-096", story)
    story = retrying_job().at(100).ends()
    assert_fails("AW-096", story, at=last(story))


def test_a_pod_that_succeeded_and_is_not_said_to_have_is_a_violation() -> None:
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.at(200).ends()
    verdict = assert_fails("AW-096", story, at=last(story))
    assert "Succeeded after the workload completed" in verdict.because


def test_a_workload_with_a_pod_that_runs_on_has_not_completed() -> None:
    story = started(pod("a-0"), pod("a-1"))
    story.at(100).becomes("a-0", "Succeeded")
    assert_unarmed("AW-096", story.at(200).ends())


def test_a_workload_that_is_suspended_right_after_it_completed_is_excused() -> None:
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.suspends()
    story.at(100.2).enters("Suspending")
    assert_unarmed("AW-096", story.at(200).ends())


def test_a_workload_that_lost_a_component_after_its_pods_ended_may_fail() -> None:
    story = started(pod("a-0"), config_map("a-config"))
    story.at(100).becomes("a-0", "Succeeded")
    story.deletes("ConfigMap/a-config", by="user", gone=True)
    story.at(100.2).enters("Failed", Unhealthy="True")
    assert_unarmed("AW-096", story.at(200).ends())


def test_success_before_the_pods_of_a_job_exist_is_a_violation() -> None:
    story = begin(Story(job("a-job", pods=2)))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    wrong = story.at(1).enters("Succeeded", QuotaReserved="False")
    verdict = assert_fails("AW-096", story, at=wrong)
    assert "after 0 of 2 expected pods of job/a-job had succeeded" in verdict.because


def test_success_of_a_job_that_says_so_needs_no_pods_that_are_left() -> None:
    story = started(job("a-job"))
    name = next(key for key in story.stored if key.startswith("Pod/")).partition("/")[2]
    story.at(10).becomes(name, "Succeeded")
    completes(story)
    story.deletes(f"Pod/{name}", by="user", gone=True)
    story.at(10.2).enters("Succeeded", QuotaReserved="False")
    assert_passes("AW-096", story)


def of_a_set(restarts: str) -> Story:
    """A StatefulSet whose only pod runs."""
    story = started(stateful_set("a-set", restartPolicy=restarts))
    story.spawns("StatefulSet/a-set", "a-set-0", by="statefulset-controller")
    story.runs("a-set-0")
    return story


def exits_well(story: Story, name: str, ended_at: float) -> None:
    """The kubelet reports, now, that a pod's container exited with 0 at that time."""
    ended = to_rfc3339(SIMULATION_EPOCH_US + seconds(ended_at))
    state = {"terminated": {"exitCode": 0, "finishedAt": ended}}
    status = {"phase": "Succeeded", "containerStatuses": [{"name": "main", "state": state}]}
    obj = {**story.stored[f"Pod/{name}"], "status": status}
    story.changes(obj, by="kubelet/n0", subresource="status")


@pytest.mark.parametrize(
    ("restarts", "deleted", "ended_at"), [("Always", 30.2, 30.5), ("Never", 30.2, 32)]
)
def test_success_by_a_pod_that_its_deletion_ended_is_a_violation(
    restarts: str, deleted: float, ended_at: float
) -> None:
    story = of_a_set(restarts)
    story.at(deleted).deletes("Pod/a-set-0", by="user")
    exits_well(story.at(ended_at), "a-set-0", ended_at)
    wrong = story.at(ended_at + SOON).enters("Succeeded", QuotaReserved="False")
    verdict = assert_fails("AW-096", story, at=wrong)
    assert "after 0 of 1 expected pods of statefulset/a-set had succeeded" in verdict.because
    assert "not counting 1 whose deletion ended them" in verdict.because


@pytest.mark.parametrize(
    ("deleted", "ended_at", "reported"),
    [(40, 30, 30.1), (30.2, 30.1, 30.3), (31.5, 30.1, 32)],
    ids=["recorded-before", "in-the-same-second", "reported-late"],
)
def test_success_by_a_pod_that_had_ended_before_its_deletion_is_right(
    deleted: float, ended_at: float, reported: float
) -> None:
    story = of_a_set("Never")
    for at in sorted((deleted, reported)):
        if at == deleted:
            story.at(at).deletes("Pod/a-set-0", by="user", held_by=["example.com/hold"])
        else:
            exits_well(story.at(at), "a-set-0", ended_at)
    story.at(50).enters("Succeeded", QuotaReserved="False")
    assert_passes("AW-096", story)


def test_a_deleted_pod_that_is_a_component_is_replaced_by_nothing() -> None:
    story = started()
    story.at(30).deletes("Pod/a-0", by="user")
    exits_well(story.at(32), "a-0", 32)
    story.at(32 + SOON).enters("Succeeded", QuotaReserved="False")
    assert_passes("AW-096", story)


def of_a_job_that_counts_a_deleted_pod(story: Story, counts_as: str) -> Story:
    """A Job whose only pod exits with 0 after its deletion began, and counts as the Job says."""
    name = next(key for key in story.stored if key.startswith("Pod/")).partition("/")[2]
    story.at(30).deletes(f"Pod/{name}", by="user")
    uid = story.stored[f"Pod/{name}"]["metadata"]["uid"]
    uncounted = {"uncountedTerminatedPods": {counts_as: [uid]}}
    counted = {**story.stored["Job/a-job"], "status": uncounted}
    story.at(31).changes(counted, by="job-controller", subresource="status")
    exits_well(story.at(32), name, 32)
    return story


def test_a_job_says_which_of_its_deleted_pods_have_completed() -> None:
    story = of_a_job_that_counts_a_deleted_pod(started(job("a-job")), "failed")
    wrong = story.at(32 + SOON).enters("Succeeded", QuotaReserved="False")
    assert_fails("AW-096", story, at=wrong)
    story = of_a_job_that_counts_a_deleted_pod(started(job("a-job")), "succeeded")
    story.at(32 + SOON).enters("Succeeded", QuotaReserved="False")
    assert_passes("AW-096", story)


def test_a_complete_job_need_not_be_followed_before_its_pods_have_completed() -> None:
    story = of_a_job_that_counts_a_deleted_pod(started(job("a-job")), "failed")
    completes(story)
    assert_unarmed("AW-096", story.at(100).ends())
    story = of_a_job_that_counts_a_deleted_pod(started(job("a-job")), "succeeded")
    completes(story)
    story.at(100).ends()
    assert_fails("AW-096", story, at=last(story))


def test_a_pod_that_lost_its_label_is_not_seen_to_complete() -> None:
    story = started()
    story.at(10).becomes("a-0", "Succeeded")
    story.changes(with_path(story.stored["Pod/a-0"], "metadata.labels", {}), by="user")
    assert_unarmed("AW-096", story.at(30).ends())


def test_pods_ready_before_the_pods_run_is_a_violation() -> None:
    story = attempt(begin(Story()), SOON, run=False)
    wrong = story.at(5).shows(PodsReady="True")
    verdict = assert_fails("AW-101", story, at=wrong)
    assert "while 0 of 1 expected pods ran" in verdict.because


def test_pods_ready_may_stay_while_a_failed_pod_has_its_grace_period() -> None:
    story = started()
    story.at(30).becomes("a-0", "Failed")
    story.at(30 + SOON).shows(Unhealthy="True", PodsReady="True")
    story.at(50)
    assert_passes("AW-101", story)


def test_pods_ready_after_the_clean_up_is_a_violation() -> None:
    story = succeeded()
    assert_passes("AW-101", story)
    story = started()
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100 + SOON).enters("Succeeded", QuotaReserved="False")
    cleared(story, 200, takes=0)
    story.shows(ResourcesDeployed="False", PodsReady="True")
    story.at(300)
    assert_fails("AW-101", story, at=story.mark("end"))


def test_pods_ready_is_taken_back_with_the_failure() -> None:
    assert_passes("AW-101", failed(started(annotations={"retryLimit": "0"}), 10).at(900).ends())


def test_pods_that_users_labelled_leave_pods_ready_undecided() -> None:
    story = Story()
    stranger = {**pod("stranger"), "metadata": {"name": "stranger", "labels": story_label()}}
    attempt(begin(story), SOON, run=False)
    story.creates(stranger, by="user")
    story.at(5).shows(PodsReady="True")
    assert_unarmed("AW-101", story.at(10).ends())


def story_label() -> dict[str, str]:
    return {"workload.codeflare.dev/appwrapper": "a"}


def strips(story: Story, by: str = "user") -> int:
    """Another actor removes every finalizer from the AppWrapper."""
    obj = with_path(story.stored["AppWrapper/a"], "metadata.finalizers", [])
    return story.changes(obj, by=by)


def test_a_finalizer_that_is_put_back_is_as_it_should_be() -> None:
    story = started()
    story.at(20)
    strips(story)
    story.at(20.2).finalizer()
    assert FINALIZER in story.stored["AppWrapper/a"]["metadata"]["finalizers"]
    assert_passes("AW-097", story.at(60).ends())


def test_a_finalizer_that_stays_away_is_a_violation() -> None:
    story = started()
    story.at(20)
    strips(story)
    story.at(60).ends()
    assert_fails("AW-097", story, at=last(story))


def test_a_finalizer_need_not_come_back_to_what_is_being_deleted() -> None:
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user")
    strips(story)
    assert_unarmed("AW-097", story.at(60).ends())


NODE_AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
OWN = [
    {"matchExpressions": [{"key": "pool", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]},
]
INJECTED = {"key": "health", "operator": "NotIn", "values": ["ERR"]}


def affine_pod() -> dict[str, Any]:
    template = with_path(pod("a-0"), NODE_AFFINITY, {"nodeSelectorTerms": OWN})
    return {**template, "spec": {**template["spec"], "tolerations": [{"key": "dedicated"}]}}


def created_as(change: Mapping[str, Any]) -> tuple[Story, int]:
    """A story in which a pod with two alternatives is created with its spec changed so."""
    story = begin(Story(affine_pod()))
    story.at(SOON).resumes()
    return story, story.makes(**change)


def test_what_is_injected_into_every_alternative_and_before_it_keeps_them() -> None:
    terms = [{"matchExpressions": [INJECTED, *term["matchExpressions"]]} for term in OWN]
    added = [{"key": "injected"}, {"key": "dedicated"}]
    change = {NODE_AFFINITY.replace(".", "__"): {"nodeSelectorTerms": terms}}
    story, _ = created_as({**change, "spec__tolerations": added})
    assert_passes("AW-100", story)


@pytest.mark.parametrize(
    "terms",
    [
        [{"matchExpressions": [INJECTED]}],
        [{"matchExpressions": [*OWN[0]["matchExpressions"], *OWN[1]["matchExpressions"]]}],
        [*OWN, {"matchExpressions": [INJECTED]}],
        [OWN[0], {"matchExpressions": [INJECTED]}],
    ],
    ids=["replaced", "joined", "loosened", "one-lost"],
)
def test_alternatives_that_are_not_the_users_any_more_are_a_violation(terms: Any) -> None:
    story, wrong = created_as({NODE_AFFINITY.replace(".", "__"): {"nodeSelectorTerms": terms}})
    assert_fails("AW-100", story, at=wrong)


def test_a_toleration_that_got_lost_is_a_violation() -> None:
    story, wrong = created_as({"spec__tolerations": [{"key": "injected"}]})
    verdict = assert_fails("AW-100", story, at=wrong)
    assert "spec.tolerations lacks" in verdict.because


def test_entries_that_fit_several_are_given_to_those_that_fit_no_other() -> None:
    wide, narrow = {"key": "pool"}, {"key": "pool", "effect": "NoSchedule"}
    template = pod("a-0", tolerations=[wide, narrow])
    story = begin(Story(template))
    story.at(SOON).resumes()
    story.makes(spec__tolerations=[narrow, {**wide, "tolerationSeconds": 3}])
    assert_passes("AW-100", story)


def test_a_reset_that_was_undone_leaves_resources_that_were_created() -> None:
    """Running is entered anew without a second creation: what exists was created all the same."""
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10 + SOON).shows(Unhealthy="True")
    story.at(10 + GRACE + SOON).enters("Resetting", resets=1)
    story.at(10 + GRACE + 2 * SOON).enters("Running")
    assert_passes("MLB-048", story)
    assert_unarmed("MLB-023", story)


def refused_creation(limit: int = 3) -> Story:
    """A quota refuses a pod from the beginning, and the workload is tried again."""
    story = begin(Story(annotations={"retryLimit": str(limit)}))
    story.at(SOON).resumes()
    for second in (1, 20, 40, 60):
        story.at(second).refused("create", "Pod", "a-0", 403, reason="Forbidden")
    return story


def test_a_refused_creation_that_is_noticed_and_given_up_in_time_is_as_it_should_be() -> None:
    story = refused_creation()
    story.at(61).shows(Unhealthy="True")
    story.at(121).enters("Resetting", resets=1)
    assert_passes("AW-098", story)


def test_a_refused_creation_that_nobody_notices_is_a_violation() -> None:
    story = refused_creation().at(200).ends()
    assert_fails("AW-098", story, at=last(story))


@pytest.mark.parametrize("is_of_this_attempt", [True, False])
def test_a_refusal_may_find_a_workload_unhealthy_since_an_earlier_creation_got_no_answer(
    is_of_this_attempt: bool,
) -> None:
    """Each creation that fails is missing pods; Unhealthy of the attempt before tells nothing."""
    story = begin(Story(annotations={"admissionGracePeriodDuration": "0s"}))
    if is_of_this_attempt:
        story.at(SOON).resumes()
        story.at(16).shows(Unhealthy="True")
    else:
        story.at(1).shows(Unhealthy="True")
        story.at(SOON + 1).enters("Resuming", QuotaReserved="True", ResourcesDeployed="True")
    refused = story.at(16.1).refused("create", "Pod", "a-0", 403, reason="Forbidden")
    given_up = story.at(76.1).enters("Resetting", resets=1)
    if is_of_this_attempt:
        assert_passes("AW-098", story)
    else:
        assert refused in assert_fails("AW-098", story, at=given_up).violations[0].evidence


def test_a_refused_creation_that_is_never_given_up_is_a_violation() -> None:
    story = refused_creation()
    story.at(61).shows(Unhealthy="True")
    story.at(200).ends()
    verdict = assert_fails("AW-098", story, at=last(story))
    assert "Resetting or Failed" in verdict.because


@pytest.mark.parametrize(("limit", "is_right"), [(0, True), (1, False)])
def test_a_refused_creation_fails_a_workload_when_its_retries_are_used_up(
    limit: int, is_right: bool
) -> None:
    story = refused_creation(limit)
    story.at(61).shows(Unhealthy="True")
    entered = story.at(121).enters("Failed")
    if is_right:
        assert_passes("AW-098", story)
    else:
        assert_fails("AW-098", story, at=entered)


def test_a_creation_that_succeeds_after_a_refusal_is_none_that_was_refused() -> None:
    story = refused_creation()
    story.at(61).makes()
    story.enters("Running")
    assert_unarmed("AW-098", story.at(200).ends())


def test_a_failed_pod_that_outlasts_its_grace_period_has_to_end_the_attempt() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10 + SOON).shows(Unhealthy="True")
    story.at(100).ends()
    verdict = assert_fails("AW-021", story, at=last(story))
    assert "Resetting or Failed for a failed pod" in verdict.because


def test_pods_that_are_gone_for_longer_than_the_grace_period_have_to_end_the_attempt() -> None:
    story = started(job("a-job"))
    name = next(key for key in story.stored if key.startswith("Pod/")).partition("/")[2]
    story.at(100).vanishes(f"Pod/{name}")
    story.at(100 + SOON).shows(Unhealthy="True")
    story.at(200).ends()
    assert_fails("AW-021", story, at=last(story))
