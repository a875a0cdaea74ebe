"""Reviews and tokens of a served cluster, by the official client."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.served import TOKEN, ask
from vocabulary.clock import HOUR

RULE = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}


@pytest.fixture
def running() -> Iterator[ServedCluster]:
    with serve(SimulatedCluster(0, nodes=0), token=TOKEN, clock="advanced", tls=False) as served:
        yield served


@pytest.fixture
def connected(running: ServedCluster, tmp_path: Path) -> Iterator[client.ApiClient]:
    """The client of an administrator."""
    path = tmp_path / "kubeconfig"
    running.write_kubeconfig(path)
    configuration = client.Configuration()
    config.load_kube_config(str(path), client_configuration=configuration)
    with client.ApiClient(configuration) as one:
        yield one


def _token(connected: client.ApiClient, **spec: Any) -> str:
    core = client.CoreV1Api(connected)
    account = client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="worker"))
    core.create_namespaced_service_account("default", account)
    asked = client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(audiences=spec.pop("audiences", []), **spec)
    )
    answer = core.create_namespaced_service_account_token("worker", "default", asked)
    return str(answer.status.token)


def _bind(connected: client.ApiClient) -> None:
    api = client.RbacAuthorizationV1Api(connected)
    metadata = client.V1ObjectMeta(name="reader")
    api.create_cluster_role(client.V1ClusterRole(metadata=metadata, rules=[RULE]))
    subject = client.RbacV1Subject(kind="ServiceAccount", name="worker", namespace="default")
    reference = client.V1RoleRef(
        api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="reader"
    )
    api.create_namespaced_role_binding(
        "default",
        client.V1RoleBinding(metadata=metadata, role_ref=reference, subjects=[subject]),
    )


def test_a_service_account_acts_within_its_rights(
    running: ServedCluster, connected: client.ApiClient
) -> None:
    token = _token(connected)
    maps = "/api/v1/namespaces/default/configmaps"
    assert ask(running, maps, token=token)[0] == 403
    _bind(connected)
    assert ask(running, maps, token=token)[0] == 200
    elsewhere = "/api/v1/namespaces/kube-system/configmaps?watch=true&timeoutSeconds=1"
    assert ask(running, elsewhere, token=token)[0] == 403
    assert ask(running, "/api/v1/namespaces/kube-system/configmaps", token=token)[0] == 403
    code, status = ask(running, f"{maps}/a", "DELETE", token=token)
    assert code == 403
    assert 'User "system:serviceaccount:default:worker" cannot delete' in status["message"]


def test_a_token_review_tells_whose_a_token_is(connected: client.ApiClient) -> None:
    token = _token(connected)
    api = client.AuthenticationV1Api(connected)

    def review(text: str) -> Any:
        body = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=text))
        return api.create_token_review(body).status

    status = review(token)
    assert status.authenticated
    assert status.user.username == "system:serviceaccount:default:worker"
    assert "system:serviceaccounts:default" in status.user.groups
    assert review(f"{token[:-4]}AAAA").error == "invalid bearer token"


def test_reviews_follow_the_stored_roles(connected: client.ApiClient) -> None:
    api = client.AuthorizationV1Api(connected)
    _bind(connected)

    def allowed(verb: str, namespace: str) -> bool:
        attributes = client.V1ResourceAttributes(
            verb=verb, resource="configmaps", namespace=namespace
        )
        spec = client.V1SubjectAccessReviewSpec(
            user="system:serviceaccount:default:worker", resource_attributes=attributes
        )
        body = client.V1SubjectAccessReview(spec=spec)
        return bool(api.create_subject_access_review(body).status.allowed)

    assert allowed("get", "default")
    assert not allowed("delete", "default")
    assert not allowed("get", "kube-system")


def test_a_token_expires(running: ServedCluster, connected: client.ApiClient) -> None:
    token = _token(connected, expiration_seconds=600)
    reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    code, answer = ask(running, reviews, "POST", body, token=token)
    assert code == 201
    name = answer["status"]["userInfo"]["username"]
    assert name == "system:serviceaccount:default:worker"
    running.clock.advance(HOUR)
    assert ask(running, reviews, "POST", body, token=token)[0] == 401


def test_the_seed_does_not_tell_the_key(running: ServedCluster) -> None:
    """A token that another cluster of the same seed has issued is unknown."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker"}}
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    tokens = []
    with serve(SimulatedCluster(0, nodes=0), token=TOKEN, clock="advanced", tls=False) as other:
        for served in (running, other):
            ask(served, accounts, "POST", account)
            body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
            _, answer = ask(served, f"{accounts}/worker/token", "POST", body)
            tokens.append(answer["status"]["token"])
    assert ask(running, "/api/v1/pods", token=tokens[0])[0] == 403
    assert ask(running, "/api/v1/pods", token=tokens[1])[0] == 401


def test_reviews_leave_nothing_behind(running: ServedCluster) -> None:
    entries, revision = len(running.api.recorder.entries), running.api.store.revision
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": "secret"},
    }
    assert ask(running, "/apis/authentication.k8s.io/v1/tokenreviews", "POST", body)[0] == 201
    assert (len(running.api.recorder.entries), running.api.store.revision) == (entries, revision)


def test_two_tokens_of_one_account_do_not_mix(
    running: ServedCluster, connected: client.ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second client is authenticated and answered while the first one's body is on its way."""
    first = _token(connected)
    account = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    tokens = "/api/v1/namespaces/default/serviceaccounts/worker/token"
    second = ask(running, tokens, "POST", account)[1]["status"]["token"]
    reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

    authenticated = threading.Event()
    authenticate = running.authenticate

    def noted(authorization: str) -> Any:
        try:
            return authenticate(authorization)
        finally:
            authenticated.set()

    monkeypatch.setattr(running, "authenticate", noted)
    slow = http.client.HTTPConnection("127.0.0.1", running.port, timeout=30)
    sent = json.dumps(body).encode()
    slow.putrequest("POST", reviews)
    slow.putheader("Authorization", f"Bearer {first}")
    slow.putheader("Content-Type", "application/json")
    slow.putheader("Content-Length", str(len(sent)))
    slow.endheaders()
    assert authenticated.wait(30)
    _, of_second = ask(running, reviews, "POST", body, token=second)
    slow.send(sent)
    of_first = json.loads(slow.getresponse().read())
    slow.close()

    def credential(review: Any) -> Any:
        return review["status"]["userInfo"]["extra"]["authentication.kubernetes.io/credential-id"]

    assert credential(of_first) == [f"JTI={_claims(first)['jti']}"]
    assert credential(of_second) == [f"JTI={_claims(second)['jti']}"]


def _claims(token: str) -> Any:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
