"""Hundreds of hostile requests: each is answered, none by a bug or for too long."""

from __future__ import annotations

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from fixtures.simulated.serve.server import ServedCluster
from tests.simulated_api.cluster import Cluster, config_map, job
from tests.simulated_api.hostile import Hostile
from tests.simulated_api.served import TOKEN, ask
from vocabulary.kinds import CONFIG_MAP, JOB

MINIMUM = 300
PARALLEL = 32


def _answer(port: int, request: bytes) -> bytes:
    """All that a server answers, to a client that sends no more."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        answer = b""
        # A server need not read what it refuses.
        with suppress(ConnectionError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while data := connection.recv(65536):
                answer += data
        return answer


def test_every_hostile_request_is_answered_and_none_by_a_bug(
    cluster: Cluster, served: ServedCluster, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    cluster.create(job(), JOB)
    requests = list(Hostile(TOKEN).requests())
    assert len(requests) >= MINIMUM
    with ThreadPoolExecutor(PARALLEL) as pool:
        answers = list(pool.map(lambda one: _answer(served.port, one[1]), requests))
    unanswered = [
        f"{name}: {answer[:200]!r}"
        for (name, _), answer in zip(requests, answers, strict=True)
        if not re.match(rb"HTTP/1\.[01] \d{3} ", answer) or b"Internal error" in answer
    ]
    assert not unanswered, "\n".join(unanswered)
    assert "Traceback" not in capfd.readouterr().err
    assert ask(served, "/api/v1/namespaces")[0] == 200


PATCHED = "/api/v1/namespaces/default/configmaps/c"


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        (
            [{"op": "test", "path": "/data/key", "value": "x"}] * 10_001,
            413,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001",
        ),
        (
            [
                {"op": "add", "path": "/x", "value": ["y" * 1000]},
                *[{"op": "copy", "from": "/x", "path": "/x/-"}] * 30,
            ],
            422,
            "the server rejected our request due to an error in our request",
        ),
        (
            [1],
            400,
            "error decoding patch: json: cannot unmarshal number into Go value of type "
            "handlers.jsonPatchOp",
        ),
    ],
    ids=["many operations", "doubling copies", "a number"],
)
def test_json_patches_are_bounded_as_by_a_real_server(
    cluster: Cluster, served: ServedCluster, patch: list[object], code: int, message: str
) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    sort = "application/json-patch+json"
    answered, status = ask(served, PATCHED, "PATCH", patch, content_type=sort)
    assert (answered, status["message"]) == (code, message)


def test_a_policy_that_is_none_deletes_nothing(cluster: Cluster, served: ServedCluster) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    code, status = ask(served, f"{PATCHED}?propagationPolicy=foreground", "DELETE")
    assert (code, status["message"]) == (
        422,
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: '
        '"foreground": supported values: "Foreground", "Background", "Orphan", "nil"',
    )
    assert ask(served, PATCHED)[0] == 200
