"""Claims about Autopilot and about what is filled in at submission, each contradicted once."""

from __future__ import annotations

import msgspec
import pytest

from conformance.verdict import Outcome
from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    entered,
    last,
    verdict_of,
)
from tests.claims.stories import SOON, attempt, begin, gpu_pod, migrated, retried, started, tagged
from tests.claims.story import Story, avoids, pod
from vocabulary.history import Capabilities

FOO = {
    "autopilot": {
        "resourceTaints": {
            "example.com/foo": [
                {"key": "example.com/health", "value": "BAD", "effect": "NoExecute"}
            ]
        }
    }
}


def foo_pod(affinity: bool = True) -> dict[str, object]:
    template = pod("a-0")
    container = {"name": "main", "resources": {"requests": {"example.com/foo": 1}}}
    spec: dict[str, object] = {"containers": [container]}
    if affinity:
        spec["affinity"] = avoids("BAD", key="example.com/health")
    return {**template, "spec": spec}


def test_a_pod_on_a_node_that_was_tagged_before_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0", **{"autopilot.ibm.com/gpuhealth": "ERR"})
    story.node("n1")
    begin(story)
    story.at(SOON).resumes()
    story.makes()
    wrong = story.at(1).binds("a-0", "n0")
    assert_fails("AW-001", story, at=wrong)


def test_a_pod_on_the_other_node_is_right() -> None:
    story = Story(gpu_pod())
    story.node("n0", **{"autopilot.ibm.com/gpuhealth": "ERR"})
    story.node("n1")
    begin(story)
    story.at(SOON).resumes()
    story.makes()
    story.at(1).binds("a-0", "n1")
    assert_passes("AW-001", story)


def test_a_tag_that_comes_after_the_pod_was_created_is_nobodys_fault() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    begin(story)
    story.at(SOON).resumes()
    story.makes()
    story.tags("ERR")
    story.binds("a-0", "n0")
    assert_unarmed("AW-001", story)


def test_without_tagged_nodes_no_claim_about_avoiding_them_is_armed() -> None:
    for claim in ("AW-001", "AW-002", "AW-033", "AW-043", "AW-090", "AW-091", "AW-092", "AW-093"):
        assert_unarmed(claim, retried())


def test_a_workload_that_stays_on_an_evicted_node_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(200).ends()
    for claim in ("AW-002", "AW-033", "AW-043"):
        assert_fails(claim, story, at=last(story))


def test_a_migration_that_comes_back_to_the_node_is_a_violation() -> None:
    story = migrated(to="n0")
    assert_fails("AW-001", story, at=entered_bound(story))
    assert_fails("AW-093", story, at=entered_bound(story))
    verdict = assert_fails("AW-002", story, at=last(story))
    assert any(violation.at == entered_bound(story) for violation in verdict.violations)


def test_a_pod_without_the_stanza_is_a_violation() -> None:
    story = started(pod("a-0", gpus=1))
    made = story.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-086", "AW-087", "AW-089"):
        assert_fails(claim, story, at=made)


def test_a_stanza_with_other_values_is_a_violation() -> None:
    story = started(gpu_pod(values=("EVICT",)))
    made = story.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-086", "AW-089"):
        verdict = assert_fails(claim, story, at=made)
        assert "NotIn ['EVICT'], expected ['ERR', 'EVICT']" in verdict.because
    assert_passes("AW-087", story)


def test_a_stanza_that_a_users_term_does_not_have_is_a_violation() -> None:
    affinity = avoids("ERR", "EVICT")
    required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"].append({"matchExpressions": [{"key": "zone"}]})
    story = started(pod("a-0", gpus=1, affinity=affinity))
    made = story.history.appwrappers[0].pods[0].created.n
    for claim in ("AW-087", "AW-089"):
        assert_fails(claim, story, at=made)


@pytest.mark.parametrize("gpus", [0, "0"])
def test_a_stanza_on_a_pod_that_requests_none_is_a_violation(gpus: int | str) -> None:
    story = begin(Story(pod("a-0", gpus=gpus)))
    story.at(SOON).resumes()
    wrong = story.makes(spec__affinity=avoids("ERR", "EVICT"))
    assert_fails("AW-088", story, at=wrong)


def test_an_affinity_that_the_user_wrote_himself_is_not_injected() -> None:
    story = started(pod("a-0", affinity=avoids("ERR", "EVICT")))
    assert_unarmed("AW-088", story)


def test_without_injection_no_claim_about_it_is_armed() -> None:
    story = started(gpu_pod(), parameters={"autopilot": {"injectAntiAffinities": False}})
    for claim in ("AW-001", "AW-086", "AW-087", "AW-088", "AW-089"):
        assert_unarmed(claim, story)


def test_a_reset_for_a_tag_that_only_keeps_new_pods_off_is_a_violation() -> None:
    story = tagged("ERR")
    story.entries.pop()
    wrong = story.enters("Resetting", Unhealthy="True")
    assert_fails("AW-090", story, at=wrong)


def test_a_reset_of_pods_that_do_not_use_what_is_tagged_is_a_violation() -> None:
    story = tagged("EVICT", pod("a-0"))
    story.entries.pop()
    story.at(91).mark("step")
    assert_passes("AW-091", story)
    wrong = story.enters("Resetting", Unhealthy="True")
    assert_fails("AW-091", story, at=wrong)


def test_a_reset_for_a_pod_that_does_not_run_yet_is_a_violation() -> None:
    story = tagged("EVICT", run=False)
    story.entries.pop()
    story.at(91).mark("step")
    assert_passes("AW-092", story)
    wrong = story.enters("Resetting", Unhealthy="True")
    assert_fails("AW-092", story, at=wrong)


def test_a_second_reset_for_the_same_tag_is_a_violation() -> None:
    story = migrated(to="n0")
    story.entries.pop()
    wrong = story.enters("Resetting")
    verdict = assert_fails("AW-093", story, at=entered_bound(story))
    assert any(violation.at == wrong for violation in verdict.violations)


def entered_bound(story: Story) -> int:
    """Where the pod of the second attempt was put on the tagged node."""
    pod_track = story.history.appwrappers[0].pods[-1]
    return next(
        version.n
        for version in pod_track.versions
        if (version.object or {})["spec"].get("nodeName")
    )


def test_a_configured_resource_that_is_ignored_is_a_violation() -> None:
    story = started(foo_pod(affinity=False), parameters=FOO)
    made = story.history.appwrappers[0].pods[0].created.n
    assert_fails("AW-085", story, at=made)


def test_a_configured_resource_that_is_monitored_is_right() -> None:
    story = started(foo_pod(), parameters=FOO)
    assert_passes("AW-085", story)
    assert_unarmed("AW-086", story)
    assert_unarmed("AW-085", started(gpu_pod()))


def test_an_appwrapper_that_does_not_name_its_user_is_a_violation() -> None:
    story = Story()
    wrong = story.submitted(**{"workload.codeflare.dev/userid": ""})
    assert_fails("MLB-020", story, at=wrong)


def test_a_forged_user_is_a_violation_where_the_users_are_known() -> None:
    story = Story(facts={"users": {"user": {"username": "kube:admin", "uid": "u1"}}})
    wrong = story.submitted()
    verdict = assert_fails("MLB-020", story, at=wrong)
    assert "expected kube_admin" in verdict.because
    right = Story(facts={"users": {"user": {"username": "user", "uid": "u1"}}})
    right.submitted()
    assert_passes("MLB-020", right)


def test_a_user_without_an_id_is_labelled_with_none_and_may_not_make_one_up() -> None:
    """As those whom a client certificate names."""
    users = {"users": {"user": {"username": "user", "uid": ""}}}
    story = Story(facts=users)
    story.submitted(**{"workload.codeflare.dev/userid": ""})
    assert_passes("MLB-020", story)
    forged = Story(facts=users)
    wrong = forged.submitted(asked={"workload.codeflare.dev/userid": "u1"})
    assert_fails("MLB-020", forged, at=wrong)


def test_a_missing_id_shows_nothing_where_whoever_submitted_may_have_none() -> None:
    users = {"users": {"admin": {"username": "admin", "uid": ""}}}
    story = Story(facts=users)
    story.submitted(**{"workload.codeflare.dev/userid": ""})
    verdict = verdict_of("MLB-020", story)
    assert verdict.outcome is not Outcome.FAILED
    assert "1 undecided" in verdict.because


def test_a_user_who_changes_afterwards_is_a_violation() -> None:
    story = started()
    obj = story.stored["AppWrapper/a"]
    labels = {**obj["metadata"]["labels"], "workload.codeflare.dev/user": "other"}
    wrong = story.at(20).changes(
        {**obj, "metadata": {**obj["metadata"], "labels": labels}}, by="user"
    )
    assert_fails("MLB-020", story, at=wrong)


def test_without_webhooks_no_claim_about_submission_is_armed() -> None:
    parameters = {"webhooksEnabled": False, "defaultQueueName": "default-queue"}
    for claim in ("MLB-020", "MLB-021"):
        assert_unarmed(claim, started(parameters=parameters))


def test_an_appwrapper_without_a_queue_is_a_violation_where_there_is_a_default() -> None:
    story = Story(parameters={"defaultQueueName": "default-queue"})
    wrong = story.submitted()
    assert_fails("MLB-021", story, at=wrong)


def test_a_user_label_that_is_no_more_than_what_was_submitted_says_nothing() -> None:
    label = "workload.codeflare.dev/user"
    story = Story()
    story.submitted(asked={label: "mallory"}, **{label: "mallory"})
    verdict = verdict_of("MLB-020", story)
    assert verdict.armed == 1, "only the other of the two labels was surely filled in"
    assert "1 undecided" in verdict.because


QUEUE = "kueue.x-k8s.io/queue-name"


def queued(asked: str, stored: str, capabilities: Capabilities | None = None) -> Story:
    """An AppWrapper whose queue was asked for and stored as said; empty: without one."""
    story = Story(parameters={"defaultQueueName": "default-queue"}, capabilities=capabilities)
    story.submitted(asked={QUEUE: asked} if asked else {}, **({QUEUE: stored} if stored else {}))
    return story


def test_an_appwrapper_keeps_its_own_queue_and_gets_the_default_one_if_it_has_none() -> None:
    assert_passes("MLB-021", queued(asked="mine", stored="mine"))
    assert_passes("MLB-021", queued(asked="", stored="default-queue"))
    assert_unarmed("MLB-021", started())


def test_a_default_queue_that_replaces_the_users_own_is_a_violation() -> None:
    verdict = assert_fails("MLB-021", queued(asked="mine", stored="default-queue"), at=0)
    assert "submitted with 'mine'" in verdict.because


def test_a_queue_that_nobody_asked_for_is_a_violation() -> None:
    assert_fails("MLB-021", queued(asked="", stored="other"), at=0)


@pytest.mark.parametrize("stored", ["", "mine", "default-queue"])
def test_whose_queue_it_is_cannot_be_told_where_only_versions_were_watched(stored: str) -> None:
    watched = Capabilities(writers=False, options=False, exact_times=False)
    assert_unarmed("MLB-021", queued(asked="mine", stored=stored, capabilities=watched))


def test_a_queue_is_not_judged_where_the_request_was_not_recorded() -> None:
    story = queued(asked="", stored="default-queue")
    story.entries[0] = msgspec.structs.replace(story.entries[0], submitted=None)
    verdict = assert_unarmed("MLB-021", story)
    assert "does not hold appwrapper/a as it was submitted" in verdict.because


def test_the_scheduler_that_counts_as_a_users_own_is_the_one_that_was_submitted() -> None:
    asked = Story(pod("a-0", schedulerName="mine"))
    asked.submitted()
    story = Story(pod("a-0", schedulerName="gang"), parameters={"schedulerName": "gang"})
    stored = {**asked.stored["AppWrapper/a"], "spec": story.spec}
    story.creates(stored, by="user", submitted=asked.stored["AppWrapper/a"])
    story.at(SOON).resumes()
    wrong = story.makes()
    assert_fails("MLB-022", story, at=wrong)


def test_an_affinity_that_only_the_stored_template_has_is_not_the_users_own() -> None:
    asked = Story(pod("a-0"))
    asked.submitted()
    story = Story(pod("a-0", affinity=avoids("ERR", "EVICT")))
    stored = {**asked.stored["AppWrapper/a"], "spec": story.spec}
    story.creates(stored, by="user", submitted=asked.stored["AppWrapper/a"])
    story.at(SOON).resumes()
    wrong = story.makes()
    assert_fails("AW-088", story, at=wrong)


def test_a_pod_without_the_configured_scheduler_is_a_violation() -> None:
    story = started(parameters={"schedulerName": "gang"})
    made = story.history.appwrappers[0].pods[0].created.n
    assert_fails("MLB-022", story, at=made)
    assert_unarmed("MLB-022", started())


def test_a_scheduler_that_replaces_the_users_own_is_a_violation() -> None:
    story = begin(Story(pod("a-0", schedulerName="mine"), parameters={"schedulerName": "gang"}))
    story.at(SOON).resumes()
    wrong = story.makes(spec__schedulerName="gang")
    assert_fails("MLB-022", story, at=wrong)


def test_a_pod_with_the_configured_or_its_own_scheduler_is_right() -> None:
    story = begin(Story(parameters={"schedulerName": "gang"}))
    story.at(SOON).resumes()
    story.makes(spec__schedulerName="gang")
    assert_passes("MLB-022", story)
    own = started(pod("a-0", schedulerName="mine"), parameters={"schedulerName": "gang"})
    assert_passes("MLB-022", own)


def crd(*columns: str) -> dict[str, object]:
    printed = [{"name": name, "type": "string", "jsonPath": ".status"} for name in columns]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "appwrappers.workload.codeflare.dev"},
        "spec": {"versions": [{"name": "v1beta2", "additionalPrinterColumns": printed}]},
    }


def test_printer_columns_in_order_are_right_and_others_may_follow() -> None:
    story = Story()
    story.creates(
        crd("Status", "Quota Reserved", "Resources Deployed", "Unhealthy", "Age"), by="harness"
    )
    assert_passes("MLB-040", story)


def test_a_missing_printer_column_is_a_violation() -> None:
    story = Story()
    wrong = story.creates(crd("Status", "Quota Reserved", "Unhealthy"), by="harness")
    assert_fails("MLB-040", story, at=wrong)
    assert_unarmed("MLB-040", started())


def test_success_while_a_pod_still_runs_is_a_violation() -> None:
    story = started(pod("a-0"), pod("a-1"))
    story.at(100).becomes("a-0", "Succeeded")
    wrong = story.at(100.1).enters("Succeeded", QuotaReserved="False")
    verdict = assert_fails("MLB-041", story, at=wrong)
    assert "pod/a-1 (Running) has not ended" in verdict.because


def test_success_of_a_job_that_wants_more_completions_is_a_violation() -> None:
    from tests.claims.story import job

    template = job("a-job")
    template["spec"]["completions"] = 3
    story = started(template)
    name = story.history.appwrappers[0].pods[0].name
    story.at(100).becomes(name, "Succeeded")
    wrong = story.at(100.1).enters("Succeeded", QuotaReserved="False")
    assert_fails("MLB-041", story, at=wrong)


def test_success_of_a_workload_that_expects_no_pods_is_a_violation() -> None:
    from tests.claims.story import config_map

    story = started(config_map("a-config"))
    wrong = story.at(1.5).enters("Succeeded", QuotaReserved="False")
    assert_fails("MLB-041", story, at=wrong)
    assert entered(story, "Succeeded") == wrong


def test_failing_a_workload_that_could_be_migrated_is_a_violation() -> None:
    story = Story(gpu_pod())
    story.node("n0")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    wrong = story.at(30.1).enters("Failed", Unhealthy="True")
    assert_fails("AW-002", story, at=wrong)
