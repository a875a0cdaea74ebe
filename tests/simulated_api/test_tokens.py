"""The validity of service accounts' tokens."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.access.tokens import UnknownTokenError
from tests.simulated_api.cluster import NAMESPACE, Cluster
from vocabulary.clock import SECOND
from vocabulary.kinds import NODE, POD, SECRET, SERVICE_ACCOUNT
from vocabulary.requests import Create, Delete, Patch

HOLD = ["tests.assay.dev/hold"]


def _create(cluster: Cluster, kind: Any, name: str, **fields: Any) -> None:
    metadata = {"name": name, **fields.pop("metadata", {})}
    body = {"apiVersion": "v1", "kind": kind.kind, "metadata": metadata, **fields}
    cluster.api.handle(Create(kind, body, NAMESPACE if kind.namespaced else ""), "user")


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster()
    _create(cluster, SERVICE_ACCOUNT, "worker", metadata={"finalizers": HOLD})
    _create(cluster, NODE, "n", metadata={"finalizers": HOLD})
    _create(cluster, SECRET, "s", metadata={"finalizers": HOLD})
    containers = [{"name": "c", "image": "i"}]
    spec = {"containers": containers, "serviceAccountName": "worker", "nodeName": "n"}
    _create(cluster, POD, "p", spec=spec, metadata={"finalizers": HOLD})
    return cluster


def _token(cluster: Cluster, kind: str = "", name: str = "") -> str:
    spec: dict[str, Any] = {"expirationSeconds": 600}
    if kind:
        spec["boundObjectRef"] = {"apiVersion": "v1", "kind": kind, "name": name}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    asked = Create(SERVICE_ACCOUNT, body, NAMESPACE, "worker", "token")
    return str(cluster.api.handle(asked, "user")["status"]["token"])


def _is_valid(cluster: Cluster, token: str) -> bool:
    try:
        cluster.api.tokens.recognize(token)
    except UnknownTokenError:
        return False
    return True


def test_a_token_is_valid_for_a_minute_after_its_expiry(cluster: Cluster) -> None:
    token = _token(cluster)
    cluster.loop.run_for(660 * SECOND)
    assert _is_valid(cluster, token)
    cluster.loop.run_for(1)
    assert not _is_valid(cluster, token)


@pytest.mark.parametrize("kind", [SERVICE_ACCOUNT, POD, SECRET, NODE])
def test_a_token_ends_a_minute_after_the_deletion_of_its_object_began(
    cluster: Cluster, kind: Any
) -> None:
    names = {"ServiceAccount": "worker", "Pod": "p", "Secret": "s", "Node": "n"}
    bound = "" if kind == SERVICE_ACCOUNT else kind.kind
    token = _token(cluster, bound, names[kind.kind])
    namespace = NAMESPACE if kind.namespaced else ""
    how: dict[str, Any] = {"grace_period_seconds": 0} if kind == POD else {}
    cluster.user(Delete(kind, namespace, names[kind.kind], **how))
    cluster.loop.run_for(60 * SECOND)
    assert _is_valid(cluster, token)
    cluster.loop.run_for(2 * SECOND)
    assert not _is_valid(cluster, token)


def test_a_pod_bound_token_outlives_the_node(cluster: Cluster) -> None:
    to_pod, to_node = _token(cluster, "Pod", "p"), _token(cluster, "Node", "n")
    body = {"metadata": {"finalizers": None}}
    cluster.user(Patch(NODE, "", "n", body))
    cluster.user(Delete(NODE, "", "n"))
    assert cluster.get(NODE, "n") is None
    extra = cluster.api.tokens.recognize(to_pod).user.extra
    assert extra["authentication.kubernetes.io/node-name"] == ["n"]
    assert not _is_valid(cluster, to_node)
