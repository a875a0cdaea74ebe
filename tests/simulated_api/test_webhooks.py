"""Admission webhooks of several versions, and webhooks that do not answer."""

from __future__ import annotations

import base64
import json
from itertools import count
from typing import Any

import pytest

from clusters.simulated.access.reviews import SUBJECT_ACCESS_REVIEW
from clusters.simulated.access.rules import Rules
from clusters.simulated.access.users import AUTHENTICATED, MASTERS, User
from clusters.simulated.admission_webhooks import AdmissionWebhooks
from tests.simulated_api.cluster import Cluster
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, DeleteCollection, Patch, Update, Write

OLD = Kind("tests.assay.dev", "v1beta1", "Thing", "things")
NEW = Kind("tests.assay.dev", "v1", "Thing", "things")
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.tests.assay.dev"},
    "spec": {
        "group": "tests.assay.dev",
        "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
            for name in ("v1beta1", "v1")
        ],
    },
}


@pytest.fixture
def versions() -> Cluster:
    cluster = Cluster()
    name = "things.tests.assay.dev"
    cluster.api.handle(Create(CUSTOM_RESOURCE_DEFINITION, DEFINITION, "", name), "harness")
    return cluster


def _response(request: Object, answer: Any) -> bytes:
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**review, "response": {"uid": request["uid"], **answer}}).encode()


def _register(cluster: Cluster, answer: Any, **fields: Any) -> list[Object]:
    """A validating webhook for version v1; the requests that it reviews."""
    reviews: list[Object] = []

    def exchange(webhook: Object, review: bytes) -> bytes:
        reviews.append(json.loads(review)["request"])
        if isinstance(answer, Exception):
            raise answer
        return _response(reviews[-1], answer)

    rule = {
        "operations": ["*"],
        "apiGroups": [NEW.group],
        "apiVersions": ["v1"],
        "resources": ["things"],
    }
    webhook = {"name": "w.assay.dev", "rules": [rule], **fields}
    registered = {
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "w"},
        "webhooks": [webhook],
    }
    webhooks = AdmissionWebhooks(cluster.api, [registered], exchange)
    cluster.api.admission.validating.append(webhooks.validate)
    return reviews


def _thing(kind: Kind) -> Object:
    return {"apiVersion": kind.api_version, "kind": "Thing", "metadata": {"name": "a"}}


def test_a_request_in_another_version_is_reviewed_in_that_of_the_rule(versions: Cluster) -> None:
    reviews = _register(versions, {"allowed": True})
    versions.api.handle(Create(OLD, _thing(OLD), "default", "a"), "user")
    (review,) = reviews
    assert review["kind"]["version"] == "v1"
    assert review["requestKind"]["version"] == "v1beta1"
    assert review["object"]["apiVersion"] == NEW.api_version


def test_the_old_and_the_new_object_are_sent_in_one_order(versions: Cluster) -> None:
    """Webhooks compare bytes: AppWrapper v1.2.0 so denied that Kueue v0.19.2 resumes one."""
    metadata = {"name": "a", "namespace": "default"}
    first = {**_thing(NEW), "metadata": {**metadata, "annotations": {"b": "1", "a": "1"}}}
    stored = versions.api.handle(Create(NEW, first, "default", "a"), "user")
    reviews = _register(versions, {"allowed": True})
    later = {**stored["metadata"], "annotations": {"a": "1", "b": "1", "c": "1"}}
    versions.api.handle(Update(NEW, {**stored, "metadata": later}), "user")
    (review,) = reviews
    orders = [list(review[each]["metadata"]["annotations"]) for each in ("oldObject", "object")]
    assert orders == [["a", "b"], ["a", "b", "c"]]


def test_a_request_in_another_version_than_the_exact_one_is_not_reviewed(
    versions: Cluster,
) -> None:
    reviews = _register(versions, {"allowed": False}, matchPolicy="Exact")
    versions.api.handle(Create(OLD, _thing(OLD), "default", "a"), "user")
    assert reviews == []
    with pytest.raises(ApiError, match="denied the request without explanation"):
        versions.api.handle(Delete(NEW, "default", "a"), "user")


@pytest.mark.parametrize(("policy", "is_kept"), [("Fail", True), ("Ignore", False)])
def test_a_deletion_is_refused_where_nobody_answers_unless_that_is_ignored(
    versions: Cluster, policy: str, is_kept: bool
) -> None:
    versions.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    _register(versions, ConnectionRefusedError("connection refused"), failurePolicy=policy)
    if is_kept:
        with pytest.raises(ApiError, match=r'failed calling webhook "w\.assay\.dev"'):
            versions.api.handle(Delete(NEW, "default", "a"), "user")
    else:
        versions.api.handle(Delete(NEW, "default", "a"), "user")
    assert (versions.get(NEW, "a") is not None) is is_kept


def test_a_refused_object_costs_no_uid(versions: Cluster) -> None:
    """Those after it have the uids that they would have had without it."""
    _register(versions, {"allowed": False})
    other = Cluster()
    for cluster in (versions, other):
        name = "things.tests.assay.dev"
        if cluster is other:
            cluster.api.handle(Create(CUSTOM_RESOURCE_DEFINITION, DEFINITION, "", name), "harness")
        else:
            with pytest.raises(ApiError):
                cluster.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}}
    kind = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
    uids = {
        cluster.api.handle(Create(kind, body, "", "later"), "user")["metadata"]["uid"]
        for cluster in (versions, other)
    }
    assert len(uids) == 1


@pytest.mark.parametrize("actor", ["user", "operator", "federated-user"])
def test_a_review_names_the_user_whose_rights_the_server_checks(
    versions: Cluster, actor: str
) -> None:
    """A SubjectAccessReview for that user has the answer that the actor's own request has."""
    access = versions.api.access
    access.register_users(
        {
            "operator": User("operator", (AUTHENTICATED,)),
            "federated-user": User("jane", (MASTERS, AUTHENTICATED), "id-of-jane"),
        }
    )
    rule = {"apiGroups": [NEW.group], "resources": ["things"], "verbs": ["create"]}
    access.rbac.grant("operator", Rules([rule]))
    reviews = _register(versions, {"allowed": True})
    versions.api.handle(Create(NEW, _thing(NEW), "default", "a"), actor)
    told = reviews[0]["userInfo"]
    for verb in ("create", "delete"):
        attributes = {"namespace": "default", "group": NEW.group, "resource": "things"}
        spec = {
            "user": told["username"],
            "groups": told["groups"],
            "resourceAttributes": {**attributes, "verb": verb, "name": "a"},
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        answer = versions.api.handle(Create(SUBJECT_ACCESS_REVIEW, body), "harness")
        allowed = True
        if verb == "delete":
            try:
                versions.api.handle(Delete(NEW, "default", "a"), actor)
            except ApiError:
                allowed = False
        assert answer["status"]["allowed"] is allowed


def _mutating(name: str, *webhooks: Object) -> Object:
    rule = {
        "operations": ["*"],
        "apiGroups": [NEW.group],
        "apiVersions": ["v1"],
        "resources": ["things"],
    }
    return {
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{"rules": [rule], **webhook} for webhook in webhooks],
    }


def _calls(cluster: Cluster, *configurations: Object, changing: str = "") -> list[str]:
    """The names of the webhooks in the order of their calls; the one named changes the object."""
    calls: list[str] = []

    def exchange(webhook: Object, review: bytes) -> bytes:
        calls.append(webhook["name"])
        patch = [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        changes = (
            {"patchType": "JSONPatch", "patch": encoded} if webhook["name"] == changing else {}
        )
        return _response(json.loads(review)["request"], {"allowed": True, **changes})

    webhooks = AdmissionWebhooks(cluster.api, configurations, exchange)
    cluster.api.admission.mutating.append(webhooks.mutate)
    cluster.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    return calls


def test_webhooks_are_called_in_the_order_of_their_configurations_names(
    versions: Cluster,
) -> None:
    later = _mutating("b", {"name": "b1"}, {"name": "b0"})
    assert _calls(versions, later, _mutating("a", {"name": "z"})) == ["z", "b1", "b0"]


@pytest.mark.parametrize(
    ("changing", "calls"),
    [
        ("", ["w0", "w1", "w2", "w3"]),
        ("w0", ["w0", "w1", "w2", "w3"]),
        ("w2", ["w0", "w1", "w2", "w3", "w1"]),
        ("w1", ["w0", "w1", "w2", "w3"]),
    ],
)
def test_webhooks_are_called_again_if_needed_after_a_later_change(
    versions: Cluster, changing: str, calls: list[str]
) -> None:
    """Only those that ask for it, and not the one that made the change."""
    again = {"reinvocationPolicy": "IfNeeded"}
    registered = _mutating(
        "a", {"name": "w0"}, {"name": "w1", **again}, {"name": "w2"}, {"name": "w3", **again}
    )
    assert _calls(versions, registered, changing=changing) == calls


@pytest.mark.parametrize(
    ("effects", "policy", "code"),
    [
        ("None", "Fail", 0),
        ("NoneOnDryRun", "Fail", 0),
        ("Some", "Ignore", 400),
        (None, "Fail", 500),
    ],
)
def test_a_dry_run_calls_no_webhook_with_side_effects(
    versions: Cluster, effects: str | None, policy: str, code: int
) -> None:
    fields = {} if effects is None else {"sideEffects": effects}
    reviews = _register(versions, {"allowed": True}, failurePolicy=policy, **fields)
    asked = Create(NEW, _thing(NEW), "default", "a", dry_run=True)
    if code:
        with pytest.raises(ApiError) as refused:
            versions.api.handle(asked, "user")
        assert refused.value.code == code
    else:
        versions.api.handle(asked, "user")
    assert len(reviews) == (0 if code else 1)


def _write_while_called(cluster: Cluster, write: Write) -> list[Object]:
    """A validating webhook whose program writes once, while it is called; what it reviews."""
    reviews: list[Object] = []

    def exchange(_webhook: Object, review: bytes) -> bytes:
        reviews.append(json.loads(review)["request"])
        if len(reviews) == 1:
            cluster.api.handle(write, "operator")
        return _response(reviews[-1], {"allowed": True})

    rule = {
        "operations": ["UPDATE", "DELETE"],
        "apiGroups": [NEW.group],
        "apiVersions": ["v1"],
        "resources": ["things"],
    }
    registered = {
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "w"},
        "webhooks": [{"name": "w.assay.dev", "rules": [rule]}],
    }
    webhooks = AdmissionWebhooks(cluster.api, [registered], exchange)

    def validate(request: Any, actor: str, new: Any, old: Any) -> None:
        if actor != "operator":
            webhooks.validate(request, actor, new, old)

    cluster.api.admission.validating.append(validate)
    return reviews


def _labelled(value: str) -> Patch:
    return Patch(NEW, "default", "a", {"metadata": {"labels": {value: value}}})


def test_a_patch_keeps_what_was_written_while_a_webhook_reviewed_it(versions: Cluster) -> None:
    """It is applied to the object as it is by then, and reviewed again."""
    versions.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    reviews = _write_while_called(versions, _labelled("operators"))
    versions.api.handle(_labelled("users"), "user")
    found = versions.get(NEW, "a")
    assert found is not None
    assert found["metadata"]["labels"] == {"operators": "operators", "users": "users"}
    assert [(review["oldObject"]["metadata"].get("labels")) for review in reviews] == [
        None,
        {"operators": "operators"},
    ]


def test_an_update_of_what_was_written_while_a_webhook_reviewed_it_is_a_conflict(
    versions: Cluster,
) -> None:
    created = versions.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    _write_while_called(versions, _labelled("operators"))
    with pytest.raises(ApiError) as refused:
        versions.api.handle(Update(NEW, {**created, "data": {"a": "b"}}), "user")
    assert refused.value.code == 409


@pytest.mark.parametrize(
    "deletion", [Delete(NEW, "default", "a"), DeleteCollection(NEW, "default")]
)
def test_a_deletion_keeps_a_finalizer_that_was_added_while_a_webhook_reviewed_it(
    versions: Cluster, deletion: Write
) -> None:
    versions.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    holds = Patch(NEW, "default", "a", {"metadata": {"finalizers": ["tests.assay.dev/hold"]}})
    _write_while_called(versions, holds)
    versions.api.handle(deletion, "user")
    found = versions.get(NEW, "a")
    assert found is not None
    assert "deletionTimestamp" in found["metadata"]


@pytest.mark.parametrize(
    "request_",
    [
        _labelled("users"),
        Delete(NEW, "default", "a"),
        DeleteCollection(NEW, "default"),
    ],
)
def test_a_write_that_is_reviewed_in_vain_again_and_again_ends(
    versions: Cluster, request_: Write
) -> None:
    versions.api.handle(Create(NEW, _thing(NEW), "default", "a"), "user")
    numbers = count()
    is_writing = False

    def write_again(*_: object) -> None:
        nonlocal is_writing
        if not is_writing:
            is_writing = True
            versions.api.handle(_labelled(f"v{next(numbers)}"), "user")
            is_writing = False

    versions.api.admission.validating.append(write_again)
    with pytest.raises(ApiError) as refused:
        versions.api.handle(request_, "user", 2 * SECOND)
    assert (refused.value.code, refused.value.reason) == (504, "Timeout")
    assert next(numbers) == 20
