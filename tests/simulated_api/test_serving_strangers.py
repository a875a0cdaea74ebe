"""A served cluster and clients that mean it ill: the others are answered all the same."""

from __future__ import annotations

import copy
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from clusters.simulated.serve import connections
from clusters.simulated.serve.handler import HttpHandler
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import WIDGET_SCHEMA, Cluster
from tests.simulated_api.served import TOKEN, ask

PATH = "/api/v1/namespaces/default/configmaps"
AUTHORIZED = f"Authorization: Bearer {TOKEN}\r\n"
MAP = b'{"metadata":{"name":"chunked"}}'
BOMB = b"a: &a [x,x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n"


def exchange(served: ServedCluster, request: bytes) -> bytes:
    """The server's responses until it closes the connection."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def post(*headers: str, authorized: bool = True, body: bytes = b"") -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    token = AUTHORIZED if authorized else ""
    return f"POST {PATH} HTTP/1.1\r\nHost: x\r\n{token}{lines}\r\n".encode() + body


@pytest.mark.parametrize("length", ["-1", "1e9", "+1", "0x10", "١", "9" * 30])
@pytest.mark.parametrize("authorized", [False, True])
def test_a_length_that_is_none_is_refused_before_anything_is_read(
    served: ServedCluster, length: str, authorized: bool
) -> None:
    answer = exchange(served, post(f"Content-Length: {length}", authorized=authorized))
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_a_strangers_body_is_not_waited_for(served: ServedCluster) -> None:
    answer = exchange(served, post("Content-Length: 70000", authorized=False, body=b"x" * 70000))
    assert answer.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    ("chunks", "code"),
    [
        (b"%x\r\n%s\r\n0\r\n\r\n" % (len(MAP), MAP), 201),
        (b"5\r\n%s\r\n%x;x=y\r\n%s\r\n0\r\nX: y\r\n\r\n" % (MAP[:5], len(MAP) - 5, MAP[5:]), 201),
        (b"zz\r\n", 500),
        (b"400000\r\n%s" % (b"x" * 0x400000), 413),
    ],
    ids=["one chunk", "two chunks", "no chunk", "too large"],
)
def test_bodies_in_chunks_are_read(served: ServedCluster, chunks: bytes, code: int) -> None:
    request = post("Transfer-Encoding: chunked", "Connection: close", body=chunks)
    assert exchange(served, request).startswith(f"HTTP/1.1 {code} ".encode())


def test_other_transfer_encodings_are_not_implemented(served: ServedCluster) -> None:
    answer = exchange(served, post("Transfer-Encoding: gzip"))
    assert answer.startswith(b"HTTP/1.1 501 ")


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET /api", b"GET /api HTTP/1.1\r\nHost: x\r\n", post("Content-Length: 10", body=b"x")],
    ids=["nothing", "half a line", "half of the headers", "half a body"],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(
    served: ServedCluster, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(HttpHandler, "idle_seconds", 0.2)
    assert not exchange(served, begun).startswith(b"HTTP/1.1 2")


@pytest.fixture
def crowded(cluster: Cluster) -> Iterator[ServedCluster]:
    """A server with few places."""
    with serve(cluster, token=TOKEN, clock="advanced", tls=False, connections=PLACES) as running:
        yield running


PLACES = 4
READ = f"GET {PATH} HTTP/1.1\r\nHost: x\r\n{AUTHORIZED}Connection: close\r\n\r\n".encode()
WATCH = f"GET {PATH}?watch=1 HTTP/1.1\r\nHost: x\r\n{AUTHORIZED}\r\n".encode()


@pytest.mark.parametrize(
    "begun", [b"", READ[:20], WATCH], ids=["nothing", "half a request", "a watch"]
)
def test_requests_beyond_the_limit_are_told_to_come_back_and_places_are_given_back_at_once(
    crowded: ServedCluster, begun: bytes
) -> None:
    open_ones = [
        socket.create_connection(("127.0.0.1", crowded.port), timeout=60) for _ in range(PLACES)
    ]
    for each in open_ones:
        each.sendall(begun)
        if begun == WATCH:
            assert each.recv(12) == b"HTTP/1.1 200"
    refusal = exchange(crowded, READ)
    assert refusal.startswith(b"HTTP/1.1 429 ")
    assert b"\r\nRetry-After: 1\r\n" in refusal
    assert refusal.endswith(b"Too many requests, please try again later.\n")
    for each in open_ones:
        each.close()
    answers = (exchange(crowded, READ) for _ in range(100) if not time.sleep(0.05))
    assert any(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "FOO"])
def test_other_methods_are_not_allowed(served: ServedCluster, method: str) -> None:
    answer = exchange(served, READ.replace(b"GET", method.encode()))
    assert answer.startswith(b"HTTP/1.1 405 ")
    assert (b"MethodNotAllowed" in answer) == (method != "HEAD")


def test_names_of_headers_are_read_in_any_case(served: ServedCluster) -> None:
    body = b'{"data":{"a":"b"}}'
    ask(served, PATH, "POST", {"metadata": {"name": "a"}})
    request = post(
        "content-type: application/merge-patch+json",
        f"content-length: {len(body)}",
        "connection: close",
        body=body,
    ).replace(f"POST {PATH}".encode(), f"PATCH {PATH}/a".encode())
    assert exchange(served, request).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("kind", ["application/yaml", "application/apply-patch+yaml"])
def test_aliases_of_yaml_are_refused(served: ServedCluster, kind: str) -> None:
    headers = (f"Content-Type: {kind}", f"Content-Length: {len(BOMB)}", "Connection: close")
    answer = exchange(served, post(*headers, body=BOMB))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"anchor &a is not allowed" in answer


def test_json_that_is_nested_without_end_is_bad_input(served: ServedCluster) -> None:
    body = b'{"a":' * 100_000
    answer = exchange(served, post(f"Content-Length: {len(body)}", "Connection: close", body=body))
    assert answer.startswith(b"HTTP/1.1 400 ")


def _gadgets(pattern: str) -> dict[str, Any]:
    schema = copy.deepcopy(WIDGET_SCHEMA)
    schema["properties"]["spec"] = {
        "type": "object",
        "properties": {"text": {"type": "string", "pattern": pattern}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.evil.dev"},
        "spec": {
            "group": "evil.dev",
            "scope": "Namespaced",
            "names": {"kind": "Gadget", "plural": "gadgets"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_a_pattern_that_backtracks_without_end_elsewhere_is_matched_in_linear_time(
    served: ServedCluster,
) -> None:
    assert ask(served, DEFINITIONS, "POST", _gadgets("^(([a-z])+.)+[A-Z]([a-z])+$"))[0] == 201
    gadget = {
        "apiVersion": "evil.dev/v1",
        "kind": "Gadget",
        "metadata": {"name": "g"},
        "spec": {"text": "a" * 5000},
    }
    code, status = ask(served, "/apis/evil.dev/v1/namespaces/default/gadgets", "POST", gadget)
    assert (code, status["reason"]) == (422, "Invalid")


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "(", "a{1,100000}", "x" * 10_001])
def test_a_pattern_that_kubernetes_would_not_take_is_refused(
    served: ServedCluster, pattern: str
) -> None:
    code, status = ask(served, DEFINITIONS, "POST", _gadgets(pattern))
    assert (code, status["reason"]) == (422, "Invalid")
    assert "must be a valid regular expression, but isn't: " in status["message"]
    assert ask(served, "/api/v1/namespaces")[0] == 200
