"""Request bodies in protobuf: decoded as a real server does, and refused where it refuses."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from clusters.simulated.serve.protobuf.decoding import MAGIC, UndecodableError, decoded
from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.served import TOKEN

RECORDED = json.loads(Path(__file__).with_name("protobuf_bodies.json").read_text())
"""Objects of a real API server by kind: in protobuf, and as JSON."""
PROTOBUF = "application/vnd.kubernetes.protobuf"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def envelope(api_version: str, kind: str, raw: bytes = b"") -> bytes:
    type_meta = field(1, api_version.encode()) + field(2, kind.encode())
    return MAGIC + field(1, type_meta) + field(2, raw)


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 128, "a longer one has another length prefix"
    return bytes([number << 3 | 2, len(value)]) + value


def send(served: ServedCluster, path: str, body: bytes, method: str = "POST") -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": PROTOBUF}
    request = urllib.request.Request(served.url + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


@pytest.mark.parametrize("kind", RECORDED)
def test_a_body_is_what_the_real_server_writes_as_json(kind: str) -> None:
    recorded = RECORDED[kind]
    assert decoded(base64.b64decode(recorded["body"])) == recorded["object"]


def test_an_object_is_created_and_deleted(served: ServedCluster) -> None:
    metadata = field(1, b"web") + field(11, field(1, b"app") + field(2, b"x"))
    code, made = send(served, CONFIG_MAPS, envelope("v1", "ConfigMap", field(1, metadata)))
    assert code == 201, made
    assert made["metadata"]["labels"] == {"app": "x"}
    options = envelope("v1", "DeleteOptions", field(4, b"Background"))
    code, _ = send(served, f"{CONFIG_MAPS}/web", options, "DELETE")
    assert code == 200
    assert send(served, f"{CONFIG_MAPS}/web", options, "DELETE")[0] == 404


@pytest.mark.parametrize(
    ("body", "code", "complaint"),
    [
        (b"{}", 400, "does not begin with the magic"),
        (envelope("v1", "ConfigMap")[:-4], 400, "cut short"),
        (envelope("v1", "ConfigMap", field(1, field(1, b"\xff"))), 400, "can't decode"),
        (envelope("v1", "ConfigMap", bytes([1 << 3, 5])), 400, "is a number"),
        (envelope("example.org/v1", "Thing"), 415, "of built-in kinds"),
    ],
    ids=["json", "cut short", "no text", "a number", "another kind"],
)
def test_what_cannot_be_decoded_is_refused(
    served: ServedCluster, body: bytes, code: int, complaint: str
) -> None:
    answered, status = send(served, CONFIG_MAPS, body)
    assert answered == code
    assert complaint in status["message"]


@pytest.mark.parametrize("length", range(100, 1_500, 97))
def test_a_body_that_is_cut_short_is_refused(length: int) -> None:
    body = base64.b64decode(RECORDED["Job"]["body"])
    with pytest.raises(UndecodableError, match="cut short"):
        decoded(body[:length])
