"""Claims about what is filled in at submission: users, queues, schedulers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.suites.appwrapper.api import APPWRAPPER
from tests.claims.judging import (
    assert_fails,
    assert_passes,
    assert_unarmed,
    verdict_of,
)
from tests.claims.stories import SOON, begin, started
from tests.claims.story import Story
from tests.claims.templates import avoids, pod
from vocabulary.history import Capabilities


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
    """Users authenticated by client certificates."""
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


JANE = {"username": "jane@example.org", "uid": "idp:4711"}


WINDOWS_USER = "CORP\\jane"


def refused(
    message: str,
    *,
    verb: str = "create",
    actor: str = "federated-user",
    labels: Mapping[str, str] | None = None,
) -> Story:
    """A request of one of three known users that was answered with 422 and that message.

    `labels` are those that the user asked for.
    """
    users = {
        "user": {"username": "user", "uid": "u1"},
        "federated-user": JANE,
        "windows-user": {"username": WINDOWS_USER, "uid": "S-1"},
    }
    story = Story(facts={"users": users})
    story.refused(
        verb,
        str(APPWRAPPER),
        "a",
        422,
        actor,
        reason="Invalid",
        message=message,
        submitted={"metadata": {"name": "a", "labels": dict(labels or {})}},
    )
    return story


def invalid_label(value: str) -> str:
    """The API server's message."""
    return (
        f'AppWrapper.workload.codeflare.dev "a" is invalid: metadata.labels: Invalid value: '
        f'"{value}": a valid label must be an empty string or consist of alphanumeric characters'
    )


def test_a_label_that_keeps_the_separator_at_its_end_keeps_its_user_out() -> None:
    verdict = assert_fails("MLB-020", refused(invalid_label("idp_4711_")), at=0)
    assert "as 'idp_4711_'" in verdict.because


def test_a_user_whose_name_and_id_no_label_can_hold_is_labelled_with_what_it_can() -> None:
    story = Story(facts={"users": {"user": JANE}})
    story.submitted(
        **{
            "workload.codeflare.dev/user": "jane_example.org",
            "workload.codeflare.dev/userid": "idp_4711",
        }
    )
    assert_passes("MLB-020", story)


@pytest.mark.parametrize("field", JANE)
def test_a_user_who_cannot_submit_since_the_label_would_not_hold_him_is_a_violation(
    field: str,
) -> None:
    verdict = assert_fails("MLB-020", refused(invalid_label(JANE[field])), at=0)
    assert f"was to hold his {field} '{JANE[field]}'" in verdict.because


def test_a_name_that_the_refusal_quotes_with_escapes_is_recognized() -> None:
    message = invalid_label("CORP\\\\jane")
    assert_fails("MLB-020", refused(message, actor="windows-user"), at=0)


@pytest.mark.parametrize(
    "harmless",
    [
        refused(invalid_label("one of his own!")),
        refused('AppWrapper "a" is invalid: spec.components: Required value'),
        refused(invalid_label(JANE["uid"]), verb="update"),
        refused(invalid_label(JANE["uid"]), actor="user"),
        refused(invalid_label(JANE["username"]), labels={"owner": JANE["username"]}),
    ],
    ids=["another value", "another field", "no submission", "another user", "a label of his own"],
)
def test_a_refusal_for_another_reason_says_nothing(harmless: Story) -> None:
    assert_unarmed("MLB-020", harmless)


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


ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a-account"}}


def test_a_listed_kind_that_its_rights_do_not_cover_is_a_violation() -> None:
    story = begin(Story(ACCOUNT))
    story.at(SOON).resumes()
    message = (
        'serviceaccounts "a-account" is forbidden: User "system:serviceaccount:a:b" cannot create '
        'resource "serviceaccounts" in API group "" in the namespace "default"'
    )
    wrong = story.refused(
        "create", "ServiceAccount", "a-account", 403, reason="Forbidden", message=message
    )
    assert_fails("MLB-073", story, at=wrong)


def test_a_refusal_for_another_reason_says_nothing_about_its_rights() -> None:
    story = begin(Story(ACCOUNT))
    story.at(SOON).resumes()
    story.refused("create", "ServiceAccount", "a-account", 403, reason="Forbidden")
    assert_unarmed("MLB-073", story)


def test_a_listed_kind_for_which_rights_were_granted_is_a_violation() -> None:
    granted = {"profile_sha256": "0", "granted": ["serviceaccounts"]}
    story = begin(Story(ACCOUNT, facts=granted))
    story.at(SOON).resumes()
    assert_fails("MLB-073", story, at=story.makes())


def test_what_was_granted_is_not_known_of_older_histories_of_profiles() -> None:
    story = begin(Story(ACCOUNT, facts={"profile_sha256": "0"}))
    story.at(SOON).resumes()
    story.makes()
    assert verdict_of("MLB-073", story).outcome is Outcome.INCONCLUSIVE


def test_a_listed_kind_that_is_left_out_is_a_violation() -> None:
    story = begin(Story(pod("a-0"), ACCOUNT))
    story.at(SOON).resumes()
    story.makes("a-0")
    assert_fails("MLB-073", story, at=story.at(1).enters("Running"))
