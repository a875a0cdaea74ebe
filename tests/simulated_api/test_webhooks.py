"""Admission webhooks of several versions, and webhooks that do not answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fixtures.simulated.access.reviews import SUBJECT_ACCESS_REVIEW
from fixtures.simulated.access.rules import Rules
from fixtures.simulated.access.users import AUTHENTICATED, MASTERS, User
from fixtures.simulated.admission_webhooks import AdmissionWebhooks
from tests.simulated_api.cluster import Cluster
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete

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


def _register(cluster: Cluster, answer: Any, **fields: Any) -> list[Object]:
    """A validating webhook for version v1; the requests that it reviews."""
    reviews: list[Object] = []

    def exchange(webhook: Object, review: bytes) -> bytes:
        reviews.append(json.loads(review)["request"])
        if isinstance(answer, Exception):
            raise answer
        return json.dumps({"response": answer}).encode()

    rule = {
        "operations": ["*"],
        "apiGroups": [NEW.group],
        "apiVersions": ["v1"],
        "resources": ["things"],
    }
    webhook = {"name": "w.assay.dev", "rules": [rule], **fields}
    registered = {"kind": "ValidatingWebhookConfiguration", "webhooks": [webhook]}
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
