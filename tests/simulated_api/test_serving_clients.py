"""The served cluster's responses to clients that read strictly, ask for little or send much."""

from __future__ import annotations

import json
import socket
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kubernetes import client, config

from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.serve.requests import MAX_BODY_BYTES
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import Cluster, config_map
from tests.simulated_api.served import TOKEN, ask
from vocabulary.kinds import CONFIG_MAP

MAPS = "/api/v1/namespaces/default/configmaps"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def test_the_official_client_reads_the_nodes(tmp_path: Path) -> None:
    """It is typed: a node whose `nodeInfo` lacks a field is an error to it."""
    path = tmp_path / "kubeconfig"
    with serve(SimulatedCluster(0, nodes=2), token=TOKEN) as running:
        running.write_kubeconfig(path)
        configuration = client.Configuration()
        config.load_kube_config(str(path), client_configuration=configuration)
        with client.ApiClient(configuration) as connected:
            nodes = client.CoreV1Api(connected).list_node().to_dict()["items"]
    assert [node["metadata"]["name"] for node in nodes] == ["n0", "n1"]
    assert nodes[0]["status"]["node_info"]["boot_id"] == ""


@pytest.mark.parametrize("tls", [False, True])
def test_a_body_that_is_too_large_is_refused_even_after_it_was_sent(
    cluster: Cluster, tls: bool
) -> None:
    body = json.dumps({**config_map("a"), "data": {"k": "v" * MAX_BODY_BYTES}}).encode()
    with serve(cluster, token=TOKEN, tls=tls) as running:
        status = _post(running, body)
    assert status["code"] == 413
    assert status["reason"] == "RequestEntityTooLarge"
    assert status["message"] == "Request entity too large: limit is 3145728"


def _post(running: ServedCluster, body: bytes) -> Any:
    """Send all of the body before looking for an answer, as simple clients do."""
    address = urlsplit(running.url)
    assert address.hostname is not None
    with socket.create_connection((address.hostname, address.port or 0), timeout=60) as plain:
        connection = plain
        if address.scheme == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            connection = context.wrap_socket(plain)
        head = (
            f"POST {MAPS} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def test_a_watch_of_metadata_sends_nothing_else(cluster: Cluster, served: ServedCluster) -> None:
    cluster.create(config_map("a"), CONFIG_MAP)
    code, event = ask(served, f"{MAPS}?watch=true&timeoutSeconds=1", accept=METADATA)
    assert code == 200
    assert event["type"] == "ADDED"
    assert event["object"].keys() == {"kind", "apiVersion", "metadata"}
    assert event["object"]["kind"] == "PartialObjectMetadata"


def test_a_watch_in_a_form_that_there_is_not_is_refused(served: ServedCluster) -> None:
    accept = METADATA.replace("PartialObjectMetadata", "Nonsense")
    code, status = ask(served, f"{MAPS}?watch=true&timeoutSeconds=1", accept=accept)
    assert (code, status["reason"]) == (406, "NotAcceptable")


def test_a_port_that_is_taken_is_named(cluster: Cluster, served: ServedCluster) -> None:
    with pytest.raises(OSError, match=rf"127\.0\.0\.1:{served.port}: .* use another port"):
        serve(cluster, served.port, TOKEN, tls=False)


def test_a_revision_from_the_future_cannot_be_read(served: ServedCluster) -> None:
    code, status = ask(served, f"{MAPS}?resourceVersion=99999999")
    assert (code, status["reason"]) == (504, "Timeout")
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
