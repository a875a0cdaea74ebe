"""The history view: objects, components, health and ends of attempts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from conformance.norm.templates import first_difference
from conformance.suites.appwrapper.view.attempt_ends import Why, attempt_ends
from conformance.suites.appwrapper.view.deletions import Cause
from conformance.suites.appwrapper.view.pod_sets import components_of
from tests.claims.stories import (
    SOON,
    attempt,
    begin,
    cleared,
    deleted,
    first_pod,
    migrated,
    reset,
    retried,
    started,
    suspended,
)
from tests.claims.story import Story
from tests.claims.templates import job, pod
from vocabulary.history import Write


def template(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}


POD_TEMPLATE = {"spec": {"containers": []}}


@pytest.mark.parametrize(
    ("wrapped", "pods"),
    [
        (template("v1", "Pod"), 1),
        (template("v1", "ConfigMap"), 0),
        (template("batch/v1", "Job"), 1),
        (template("batch/v1", "Job", parallelism=3), 3),
        (template("batch/v1", "Job", parallelism=3, completions=2), 2),
        (template("batch/v1", "Job", parallelism=0), 0),
        (template("apps/v1", "Deployment"), 1),
        (template("apps/v1", "StatefulSet", replicas=4), 4),
        (template("apps/v1", "DaemonSet"), 0),
        (
            template(
                "kubeflow.org/v1",
                "PyTorchJob",
                pytorchReplicaSpecs={"Master": {}, "Worker": {"replicas": 3}},
            ),
            4,
        ),
        (
            template(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                replicatedJobs=[{"replicas": 2, "template": {"spec": {"parallelism": 3}}}],
            ),
            6,
        ),
        (
            template(
                "ray.io/v1",
                "RayCluster",
                headGroupSpec={"replicas": 5},
                workerGroupSpecs=[{"replicas": 2}, {}],
            ),
            4,
        ),
        (
            template("ray.io/v1", "RayJob", rayClusterSpec={"workerGroupSpecs": [{}]}),
            2,
        ),
    ],
)
def test_the_expected_number_of_pods_follows_the_wrapped_kind(
    wrapped: dict[str, Any], pods: int
) -> None:
    assert components_of([{"template": wrapped}])[0].expected_pods == pods


def test_declared_pod_sets_decide_the_expected_number_of_pods() -> None:
    declared = {"template": template("v1", "ConfigMap"), "podSets": [{"replicas": 2}, {}]}
    assert components_of([declared])[0].expected_pods == 3


def test_a_component_with_a_generated_name_is_known_by_its_prefix() -> None:
    wrapped = {**template("v1", "Pod"), "metadata": {"generateName": "a-"}}
    component = components_of([{"template": wrapped}])[0]
    assert component.makes("Pod", "a-x7k2p")
    assert not component.makes("Pod", "b-x7k2p")
    assert not component.makes("Job.batch", "a-x7k2p")


def test_a_generated_name_is_as_long_as_the_api_server_makes_it() -> None:
    wrapped = {**template("v1", "Pod"), "metadata": {"generateName": "a" * 100}}
    component = components_of([{"template": wrapped}])[0]
    assert component.makes("Pod", "a" * 58 + "x7k2p")
    assert not component.makes("Pod", "a" * 57 + "x7k2pq")


@pytest.mark.parametrize(
    ("wrapped", "instance", "difference"),
    [
        ({"spec": {"a": 1}}, {"spec": {"a": 1, "added": 2}}, ""),
        ({"spec": {"a": None, "b": {}, "c": []}}, {"spec": {}}, ""),
        ({"spec": {"cpu": "0.5"}}, {"spec": {"cpu": "500m"}}, ""),
        ({"spec": {"cpu": "1u"}}, {"spec": {"cpu": "1m"}}, ""),
        ({"spec": {"cpu": "1m"}}, {"spec": {"cpu": "2m"}}, "spec.cpu is '2m' where"),
        ({"spec": {"list": [{"a": 1}]}}, {"spec": {"list": [{"a": 1, "b": 2}, {"c": 3}]}}, ""),
        ({"stringData": {"a": "b"}}, {"data": {"a": "Yg=="}}, ""),
        ({"metadata": {"labels": {"a": "b"}}}, {"metadata": {}}, "metadata.labels is None"),
        ({"spec": {"a": True}}, {"spec": {"a": 1.5}}, "spec.a is 1.5 where"),
        ({"spec": {"list": [1, 2]}}, {"spec": {"list": [1]}}, "spec.list is [1]"),
        ({"spec": {"a": "x"}}, {"spec": {"a": "y"}}, "spec.a is 'y' where the template says 'x'"),
    ],
)
def test_an_instance_may_hold_more_than_its_template_and_nothing_else(
    wrapped: dict[str, Any], instance: dict[str, Any], difference: str
) -> None:
    found = first_difference(wrapped, instance)
    assert found.startswith(difference) and bool(found) == bool(difference)


def test_a_name_that_is_used_again_is_another_object() -> None:
    aw = retried().history.appwrappers[0]
    first, second = aw.component_tracks
    assert first.name == second.name
    assert first.uid != second.uid
    assert first.removed is not None and not first.exists_at(second.created.n)


def test_an_appwrapper_that_is_created_again_has_its_own_pods() -> None:
    story = deleted()
    begin(story, 100)
    attempt(story, 101)
    old, new = story.history.appwrappers
    assert [pod.created.t for pod in old.pods] != [pod.created.t for pod in new.pods]
    assert len(old.pods) == len(new.pods) == 1


def test_a_suspension_during_a_reset_goes_on_with_its_deletion() -> None:
    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(70.1).enters("Resetting", resets=1)
    story.at(70.2).deletes("Pod/a-0")
    story.at(80).suspends()
    story.at(80.1).enters("Suspending")
    reset_, suspension = story.history.appwrappers[0].deletions
    assert (reset_.cause, suspension.cause) == (Cause.RESET, Cause.SUSPENSION)
    assert suspension.chain == [reset_, suspension]


def test_a_deletion_that_was_complete_is_not_continued() -> None:
    story = suspended("Resetting")
    reset_, suspension = story.history.appwrappers[0].deletions
    assert reset_.gone is None
    assert suspension.previous is reset_
    story = started()
    gone = reset(story, 10)
    story.at(gone + 1).enters("Suspending")
    assert story.history.appwrappers[0].deletions[1].previous is None


def test_a_replaced_pod_of_a_job_is_failed_at_the_most_by_no_reading() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(10).becomes(name, "Failed")
    health = story.history.appwrappers[0].health[-1]
    assert (health.failed_all, health.failed_least, health.failed_most) == (1, 1, 1)
    story.at(11).spawns("Job/a-job", "a-job-again")
    health = story.history.appwrappers[0].health[-1]
    assert (health.failed_all, health.failed_least, health.failed_most) == (1, 0, 0)


def test_a_terminating_pod_runs_by_one_reading_only() -> None:
    story = started()
    story.at(10).deletes("Pod/a-0", by="user")
    health = story.history.appwrappers[0].health[-1]
    assert (health.running_least, health.running_most) == (0, 1)
    assert (health.present_least, health.present_most) == (0, 1)


def test_what_the_controller_deletes_itself_is_not_missing() -> None:
    story = started()
    cleared(story, 20)
    assert story.history.appwrappers[0].health[-1].missing == 0
    story = started()
    story.at(20).deletes("Pod/a-0", by="user", gone=True)
    assert story.history.appwrappers[0].health[-1].missing == 1


def test_a_tag_concerns_running_pods_that_use_the_resource() -> None:
    aw = migrated().history.appwrappers[0]
    assert max(point.evicted_least for point in aw.health) == 1
    assert attempt_ends(aw)[0].ripe == {Why.NODE_TAGGED}
    assert attempt_ends(aw)[0].increments == (0, 0)


def test_a_departure_for_failed_pods_is_ripe_when_their_grace_is_over() -> None:
    attempt_end = attempt_ends(retried().history.appwrappers[0])[0]
    assert attempt_end.ripe == {Why.FAILED_PODS}
    assert attempt_end.increments == (1, 1)
    early = attempt_ends(retried(grace=30).history.appwrappers[0])[0]
    assert early.ripe == frozenset()
    assert Why.FAILED_PODS in early.present


def test_a_failed_pod_that_was_gone_may_be_meant_but_is_not_for_certain() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(10).becomes(name, "Failed")
    story.at(10.2).vanishes(f"Pod/{name}")
    story.at(10.4).enters("Resetting", resets=1, Unhealthy="True")
    attempt_end = attempt_ends(story.history.appwrappers[0])[0]
    assert Why.FAILED_PODS in attempt_end.present
    assert attempt_end.certain == {Why.FEW_PODS}
    assert not attempt_end.is_too_early_for(Why.FAILED_PODS)


def test_pods_that_have_gone_are_a_cause_at_any_time() -> None:
    story = started(job("a-job"))
    story.at(10).vanishes(f"Pod/{first_pod(story)}")
    story.at(10.4).enters("Resetting", resets=1)
    assert attempt_ends(story.history.appwrappers[0])[0].certain == {Why.FEW_PODS}


def test_pods_that_do_not_run_yet_are_no_cause_while_nobody_calls_them_unhealthy() -> None:
    story = attempt(begin(Story()), SOON, run=False)
    story.at(2).enters("Resetting", resets=1)
    assert attempt_ends(story.history.appwrappers[0])[0].certain == frozenset()


def test_failures_with_a_gap_that_nobody_could_see_are_one() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(10).becomes(name, "Failed")
    story.at(40).vanishes(f"Pod/{name}")
    story.spawns("Job/a-job", "a-job-again")
    story.runs("a-job-again")
    story.at(40.5).becomes("a-job-again", "Failed")
    story.at(70.5).enters("Resetting", resets=1)
    assert Why.FAILED_PODS in attempt_ends(story.history.appwrappers[0])[0].ripe


def test_failures_with_a_gap_that_could_be_seen_are_two() -> None:
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(10).becomes(name, "Failed")
    story.at(40).vanishes(f"Pod/{name}")
    story.spawns("Job/a-job", "a-job-again")
    story.runs("a-job-again")
    story.at(45).becomes("a-job-again", "Failed")
    story.at(70.5).enters("Resetting", resets=1)
    assert attempt_ends(story.history.appwrappers[0])[0].ripe == frozenset()


def test_a_creation_without_an_answer_may_be_why_an_attempt_was_given_up() -> None:
    story = begin(Story())
    story.at(SOON).resumes()
    story.at(1).fault("injected", {"time_out": {"verb": ["create"]}}, "time out")
    story.at(61).enters("Resetting", resets=1)
    assert Why.CREATION_FAILED in attempt_ends(story.history.appwrappers[0])[0].ripe


def test_a_pod_that_lost_its_label_is_out_of_the_controllers_sight() -> None:
    story = started()
    obj = story.stored["Pod/a-0"]
    labels: dict[str, str] = {}
    story.at(20).changes({**obj, "metadata": {**obj["metadata"], "labels": labels}}, by="user")
    aw = story.history.appwrappers[0]
    assert aw.health[-1].running_least == 0
    assert aw.health[-1].running_most == 1


def test_a_components_own_pod_and_its_label_make_one_belonging() -> None:
    aw = started(pod("a-0")).history.appwrappers[0]
    assert [str(track) for track in aw.belongings] == ["pod/a-0"]


def refused_creation(code: int, at: float, outcome: str = "Failed") -> Story:
    story = begin(Story())
    story.at(SOON).resumes()
    story.refused("create", "Pod", "a-0", code)
    story.at(at).enters(outcome, Unhealthy="True")
    return story


def test_a_creation_that_was_refused_for_good_may_fail_at_once() -> None:
    attempt_end = attempt_ends(refused_creation(422, 0.2).history.appwrappers[0])[0]
    assert Why.CREATION_FAILED in attempt_end.ripe


def test_a_creation_that_was_refused_once_must_be_tried_again() -> None:
    early = attempt_ends(refused_creation(500, 1).history.appwrappers[0])[0]
    assert Why.CREATION_FAILED in early.present
    assert Why.CREATION_FAILED not in early.ripe
    late = attempt_ends(refused_creation(500, 61).history.appwrappers[0])[0]
    assert Why.CREATION_FAILED in late.ripe


def test_a_component_that_is_there_was_not_refused() -> None:
    """A controller that looked at an older copy asks for it again. The answer is 409, or 403 where
    the first one uses up a quota."""
    story = started()
    for code in (409, 403):
        story.refused("create", "Pod", "a-0", code)
    story.at(90).enters("Failed")
    aw = story.history.appwrappers[0]
    assert aw.attempts[0].failed_creates == []
    assert attempt_ends(aw)[0].present == {}


@pytest.mark.parametrize("code", [0, 400, 422, 500, 503, 504])
def test_an_answer_that_does_not_tell_of_the_component_is_a_refusal(code: int) -> None:
    story = started()
    refused = story.refused("create", "Pod", "a-0", code)
    (found,) = story.history.appwrappers[0].attempts[0].failed_creates
    assert found.n == refused


def test_a_creation_without_a_name_is_of_a_component_of_its_kind() -> None:
    """An audit log has no name in a request that was not authorized."""
    story = started()
    refused = story.refused("create", "Pod", "", 403)
    story.refused("create", "Secret", "", 403)
    found = [each.n for each in story.history.appwrappers[0].attempts[0].failed_creates]
    assert found == [refused]


@pytest.mark.parametrize(("code", "is_refused"), [(409, False), (403, True)])
def test_a_quota_does_not_tell_of_a_component_whose_creation_was_not_answered(
    code: int, is_refused: bool
) -> None:
    story = started()
    created = next(
        e for e in story.entries if isinstance(e, Write) and e.event == "ADDED" and e.name == "a-0"
    )
    story.entries[created.n] = msgspec.structs.replace(created, code=504)
    refused = story.refused("create", "Pod", "a-0", code)
    found = [each.n for each in story.history.appwrappers[0].attempts[0].failed_creates]
    assert (refused in found) == is_refused


@pytest.mark.parametrize("gone", [False, True])
def test_a_component_that_goes_or_is_gone_was_refused(gone: bool) -> None:
    story = started()
    story.at(10).deletes("Pod/a-0", by="user", gone=gone)
    refused = story.refused("create", "Pod", "a-0", 409)
    (found,) = story.history.appwrappers[0].attempts[0].failed_creates
    assert found.n == refused
