"""Objects in protobuf, as a real API server writes them, are what it writes as JSON.

tests/simulated_api/protobuf_bodies.json was recorded here:

    ASSAY_RECORD=1 pytest tests/control_plane/test_protobuf.py
"""

from __future__ import annotations

import base64
import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from ssl import create_default_context
from typing import Any

import pytest
import yaml

from clusters.control_plane import ControlPlane
from clusters.simulated.serve.protobuf.decoding import decoded

from .namespace import Namespace

pytestmark = pytest.mark.control_plane

MANIFESTS = Path(__file__).with_name("every_field.yaml")
RECORDED = Path(__file__).parents[1] / "simulated_api" / "protobuf_bodies.json"
COLLECTIONS = {
    "Job": "/apis/batch/v1/namespaces/{namespace}/jobs",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "Lease": "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
    "Event": "/apis/events.k8s.io/v1/namespaces/{namespace}/events",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
}
OF_THE_CLUSTER = (
    "/api/v1/namespaces",
    "/api/v1/nodes",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
)


def test_it_decodes_to_what_the_server_writes_as_json(
    plane: ControlPlane, namespace: Namespace
) -> None:
    api = plane.api()
    made = {}
    for document in yaml.safe_load_all(MANIFESTS.read_text()):
        path = COLLECTIONS[document["kind"]].format(namespace=namespace.name)
        api.post(path, document)
        made[document["kind"]] = f"{path}/{document['metadata']['name']}"
    for kind, path in (*made.items(), *_of_the_cluster(plane)):
        body, expected = _both(plane, path)
        assert decoded(body) == expected, (kind, path)
    if "ASSAY_RECORD" in os.environ:
        recorded = {}
        for kind, path in made.items():
            body, expected = _both(plane, path)
            recorded[kind] = {"body": base64.b64encode(body).decode(), "object": expected}
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


def _of_the_cluster(plane: ControlPlane) -> Iterator[tuple[str, str]]:
    for collection in OF_THE_CLUSTER:
        listed = plane.api().get(collection)
        for item in listed["items"]:
            yield listed["kind"], f"{collection}/{item['metadata']['name']}"


def _both(plane: ControlPlane, path: str) -> tuple[bytes, Any]:
    """The object in protobuf, and the same version of it as JSON."""
    while True:
        before = plane.api().get(path)
        body = _get(plane, path, "application/vnd.kubernetes.protobuf")
        after = plane.api().get(path)
        if before == after:  # controllers write on
            return body, before


def _get(plane: ControlPlane, path: str, accept: str) -> bytes:
    kubeconfig = yaml.safe_load(plane.kubeconfig().read_text())
    (cluster,), (user,) = kubeconfig["clusters"], kubeconfig["users"]
    headers = {"Authorization": f"Bearer {user['user']['token']}", "Accept": accept}
    request = urllib.request.Request(cluster["cluster"]["server"] + path, headers=headers)
    context = create_default_context(cafile=cluster["cluster"]["certificate-authority"])
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        found: bytes = answer.read()
    return found
