"""A served cluster and clients that mean it ill: the others are answered all the same."""

from __future__ import annotations

import copy
import socket
from collections.abc import Callable
from typing import Any

import pytest

from fixtures.simulated.serve import handler
from fixtures.simulated.serve.server import ServedCluster
from tests.simulated_api.cluster import WIDGET_SCHEMA
from tests.simulated_api.served import TOKEN, ask

PATH = "/api/v1/namespaces/default/configmaps"
AUTHORIZED = f"Authorization: Bearer {TOKEN}\r\n"
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


def test_a_body_of_unknown_length_is_refused(served: ServedCluster) -> None:
    answer = exchange(served, post("Transfer-Encoding: chunked"))
    assert answer.startswith(b"HTTP/1.1 411 ")


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET /api", b"GET /api HTTP/1.1\r\nHost: x\r\n", post("Content-Length: 10", body=b"x")],
    ids=["nothing", "half a line", "half of the headers", "half a body"],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(
    served: ServedCluster, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "REQUEST_SECONDS", 0.2)
    assert not exchange(served, begun).startswith(b"HTTP/1.1 2")


def test_connections_beyond_the_limit_are_closed_and_places_are_given_back(
    served: ServedCluster,
) -> None:
    open_ones = [
        socket.create_connection(("127.0.0.1", served.port), timeout=60)
        for _ in range(handler.MAX_CONNECTIONS)
    ]
    assert exchange(served, b"GET /readyz HTTP/1.1\r\n\r\n") == b""
    for each in open_ones:
        each.close()
    answers: Callable[[], bytes] = lambda: exchange(  # noqa: E731
        served, b"GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n"
    )
    assert next(filter(None, (_or_nothing(answers) for _ in range(1000)))).endswith(b"ok")


def _or_nothing(answers: Callable[[], bytes]) -> bytes:
    try:
        return answers()
    except ConnectionError:
        return b""


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
