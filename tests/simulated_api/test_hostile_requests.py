"""Hundreds of hostile requests: each is answered, none by a bug or for too long."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from ssl import create_default_context

import pytest
import yaml

from clusters.control_plane import ControlPlane, Settings, users
from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.cluster import Cluster, config_map, job
from tests.simulated_api.hostile import JOBS, MAPS, Hostile
from tests.simulated_api.served import TOKEN, ask
from vocabulary.kinds import CONFIG_MAP, JOB

MINIMUM = 300
PARALLEL = 32


def _answer(port: int, request: bytes) -> bytes:
    """All that a server answers, to a client that sends no more."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        # A server need not read what it refuses, nor wait for more.
        with suppress(OSError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        return _received(connection)


def _received(connection: socket.socket) -> bytes:
    answer = b""
    with suppress(OSError):
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


UNLIKE = {
    "'GET' '/'": "lists the paths of a real server",
    "'POST' '/'": "lists the paths of a real server",
    "'GET' '/api/v1/watch'": "a real server's bug",
    "'GET' '/openapi/v2'": "not served; clients read /openapi/v3",
    "'GET' '/metrics'": "not served: nobody measures a simulation",
    "labelSelector=a%3D%00": "Go reads a selector up to its first NUL",
    "application/yaml b'\\xff\\xfe'": "Go replaces what is not UTF-8, the simulation refuses it",
    "\\\\ud800": "Go replaces half of a surrogate pair, the simulation refuses it",
    "protobuf b'k8s\\x00'": "an empty envelope has no kind",
    '"metadata": {"mana': "managers in an apply patch are refused before their types are seen",
    "application/apply-patch+yaml b'{'": "the body is decoded before the options are looked at",
    "' X: folded'": "Go takes a folded line for a part of the one before, Python for a header",
    "'X: aaaa": "Python's limit for a header is 64 KiB, Go's 1 MiB",
    "'X0: a": "Python's limit is 100 headers",
    "a long line": "Python has a code of its own for long request lines",
    "chunks ": "a real server closes the connection only",
}
"""Requests whose answers differ, by a part of their names, and why that is left."""
REAL_SECONDS = 8


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[ControlPlane]:
    """A control plane with the objects that the requests name."""
    control_plane = ControlPlane(tmp_path, Settings(audit=False))
    control_plane.start([])
    try:
        control_plane.api().post(MAPS, config_map())
        control_plane.api().post(JOBS, job())
        yield control_plane
    finally:
        control_plane.stop()


@pytest.mark.control_plane
def test_a_real_server_answers_hostile_requests_with_the_same_codes(
    cluster: Cluster, served: ServedCluster, plane: ControlPlane
) -> None:
    cluster.create(config_map(), CONFIG_MAP)
    cluster.create(job(), JOB)
    user = yaml.safe_load(plane.kubeconfig(users.SCENARIO_USER).read_text())["users"][0]["user"]
    host, _, port = plane.server.removeprefix("https://").rpartition(":")
    tls = create_default_context(cafile=str(plane.ca))

    def real_answer(request: bytes) -> bytes:
        plain = socket.create_connection((host, int(port)), timeout=REAL_SECONDS)
        with tls.wrap_socket(plain, server_hostname=host) as connection:
            with suppress(OSError):
                connection.sendall(request)
            return _received(connection)

    differing = []
    # One after the other, so that both have the same objects.
    for (name, ours), (_, theirs) in zip(
        Hostile(TOKEN).requests(), Hostile(user["token"]).requests(), strict=True
    ):
        if "/assay/clock" not in name:
            codes = [_code(_answer(served.port, ours)), _code(real_answer(theirs))]
            if codes[0] != codes[1]:
                differing.append(f"{name}: {codes[0]}, of a real server {codes[1]}")
    unexplained = [each for each in differing if not any(part in each for part in UNLIKE)]
    assert not unexplained, "\n".join(unexplained)
    outlived = [part for part in UNLIKE if not any(part in each for each in differing)]
    assert not outlived, f"no longer differ, take them off the list: {outlived}"


def _code(answer: bytes) -> str:
    return answer.partition(b" ")[2][:3].decode(errors="replace")
