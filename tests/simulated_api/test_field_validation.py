"""`fieldValidation`: warnings of unknown and duplicate fields, and refusals, as the history has
them."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from clusters.simulated.access.users import AUTHENTICATED, User
from clusters.simulated.serve.response_headers import warnings
from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import (
    WIDGET,
    Cluster,
    config_map,
    widget,
    widget_definition,
)
from tests.simulated_api.served import TOKEN, ask
from vocabulary.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION

MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


def write(
    served: ServedCluster, method: str, path: str, body: Any, token: str = TOKEN
) -> tuple[int, list[str]]:
    """The code and the warnings of a write; bytes are sent as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(served.url.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        answer.read()
        told = answer.headers.get_all("Warning") or []
        return answer.status, [text.encode("latin-1").decode() for text in told]
    finally:
        connection.close()


@pytest.mark.parametrize("validation", ["Ignore", "Warn", "Strict"])
@pytest.mark.parametrize(
    ("patch_type", "patch", "code"),
    [
        ("json-patch", [{"op": "test", "path": "/data/key", "value": "another"}], 422),
        ("strategic-merge-patch", {"$patch": "x"}, 500),
        ("merge-patch", [1], 400),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_and_recorded(
    cluster: Cluster,
    served: ServedCluster,
    validation: str,
    patch_type: str,
    patch: Any,
    code: int,
) -> None:
    cluster.create(config_map("c"), CONFIG_MAP)
    before = len(cluster.recorder.entries)
    path = f"{MAPS}/c?fieldValidation={validation}"
    answered, _ = ask(served, path, "PATCH", patch, content_type=f"application/{patch_type}+json")
    assert answered == code
    (entry,) = cluster.recorder.entries[before:]
    assert (entry.verb, entry.code) == ("patch", code)  # type: ignore[union-attr]


def test_what_strict_validation_refuses_is_recorded(
    cluster: Cluster, served: ServedCluster
) -> None:
    body = {**config_map("c"), "unknown": 1}
    assert write(served, "POST", f"{MAPS}?fieldValidation=Strict", body) == (400, [])
    (entry,) = cluster.recorder.entries
    assert (entry.verb, entry.code) == ("create", 400)  # type: ignore[union-attr]


def test_an_event_that_its_other_api_refuses_is_recorded(
    cluster: Cluster, served: ServedCluster
) -> None:
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}}
    assert write(served, "POST", EVENTS, event)[0] == 422
    (entry,) = cluster.recorder.entries
    assert (entry.verb, entry.code) == ("create", 422)  # type: ignore[union-attr]


def test_duplicates_are_named_once(served: ServedCluster) -> None:
    body = json.dumps(config_map("c")).encode()[:-1] + b', "data": {}, "data": {}}'
    assert write(served, "POST", MAPS, body) == (201, ['299 - "duplicate field \\"data\\""'])


def test_a_client_that_may_not_write_is_not_warned(cluster: Cluster) -> None:
    cluster.api.access.register_users({"operator": User("operator", (AUTHENTICATED,))})
    with serve(cluster, token=TOKEN, actors={"op": "operator"}, tls=False) as served:
        body = {**config_map("c"), "unknown": 1}
        assert write(served, "POST", MAPS, body, token="op") == (403, [])
        assert write(served, "POST", MAPS, body) == (201, ['299 - "unknown field \\"unknown\\""'])


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_nor_of_a_deprecated_version(cluster: Cluster, method: str) -> None:
    definition = widget_definition()
    (version,) = definition["spec"]["versions"]
    deprecated = {**version, "deprecated": True}
    cluster.create(
        {**definition, "spec": {**definition["spec"], "versions": [deprecated]}},
        CUSTOM_RESOURCE_DEFINITION,
    )
    cluster.api.access.register_users({"operator": User("operator", (AUTHENTICATED,))})
    path = f"/apis/{WIDGET.api_version}/namespaces/default/widgets"
    with serve(cluster, token=TOKEN, actors={"op": "operator"}, tls=False) as served:
        assert write(served, method, path, widget(), token="op") == (403, [])
        code, told = write(served, method, path, widget())
        assert code in (200, 201)
        assert told == ['299 - "test.assay.dev/v1 Widget is deprecated"']


def test_warnings_are_in_utf_8(served: ServedCluster) -> None:
    body = {**config_map("c"), "名": 1}
    assert write(served, "POST", MAPS, body) == (201, ['299 - "unknown field \\"名\\""'])


def test_a_name_with_a_line_break_is_not_warned_of(served: ServedCluster) -> None:
    body = {**config_map("c"), "x\r\nSet-Cookie: y": 1, "z": 1}
    assert write(served, "POST", MAPS, body) == (201, ['299 - "unknown field \\"z\\""'])


def test_many_warnings_are_cut_off() -> None:
    texts = [f'unknown field "u{number}"' for number in range(3000)]
    told = warnings(texts)
    assert told == [warnings([text])[0] for text in texts[: len(told)]]
    assert 4096 <= sum(map(len, texts[: len(told)])) < 4096 + 256


def test_long_warnings_are_truncated_once_they_are_too_long_together() -> None:
    texts = [f"{number}{'x' * 2000}" for number in range(3)]
    assert warnings(texts[:2]) == [f'299 - "{text}"' for text in texts[:2]]
    assert warnings(texts) == [f'299 - "{text[:256]}"' for text in texts]


def test_equal_warnings_are_sent_once() -> None:
    assert warnings(["a", "b", "a", ""]) == ['299 - "a"', '299 - "b"']
