"""The proxy's changes for an operator that watches the whole cluster, and in protobuf."""

from __future__ import annotations

import json

import pytest

from conformance.worlds.control_plane.http_requests import in_json, known_kind, parse_request
from conformance.worlds.control_plane.shown import Shown
from vocabulary.kinds import POD, Kind
from vocabulary.requests import Delete

GROUP = "/apis/workload.codeflare.dev/v1beta2"


@pytest.mark.parametrize(
    ("asked", "passed_on"),
    [
        ("/api/v1/pods", "/api/v1/namespaces/run-1/pods"),
        ("/api/v1/pods?watch=true&a=b", "/api/v1/namespaces/run-1/pods?watch=true&a=b"),
        (f"{GROUP}/appwrappers?limit=5", f"{GROUP}/namespaces/run-1/appwrappers?limit=5"),
    ],
)
def test_a_list_or_watch_of_all_namespaces_becomes_one_of_the_runs(
    asked: str, passed_on: str
) -> None:
    assert Shown(("run-1",)).narrowed(asked, known_kind) == passed_on


@pytest.mark.parametrize(
    "asked",
    [
        "/api/v1/nodes?watch=true",
        "/api/v1/namespaces/other/pods",
        "/api/v1/namespaces/other/pods/p",
        "/apis/batch/v1",
        "/apis/example.org/v1/unknowns",
        "/version",
    ],
)
def test_every_other_request_stays_as_it_is(asked: str) -> None:
    assert Shown(("run-1",)).narrowed(asked, known_kind) == asked


def test_of_several_namespaces_answers_are_picked_over() -> None:
    shown = Shown(("run-1", "run-1-b"))
    assert shown.narrowed("/api/v1/pods", known_kind) == "/api/v1/pods"
    assert shown.picks("/api/v1/pods?watch=true", known_kind)
    assert not shown.picks("/api/v1/nodes", known_kind)
    assert not shown.picks("/api/v1/namespaces/run-1/pods", known_kind)
    pods = [{"metadata": {"name": "p", "namespace": at}} for at in ("run-1", "run-2", "run-1-b")]
    left = json.loads(shown.listed(json.dumps({"items": pods, "metadata": {}}).encode()))
    assert [item["metadata"]["namespace"] for item in left["items"]] == ["run-1", "run-1-b"]
    assert [shown.watched(json.dumps({"object": pod}).encode()) for pod in pods] == [
        True,
        False,
        True,
    ]
    assert shown.watched(b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}')


def test_cluster_scoped_objects_of_a_suite_are_those_with_the_label_of_the_run() -> None:
    queue = Kind("example.org", "v1", "Queue", "queues", namespaced=False)

    def narrowed(target: str) -> str:
        return Shown((), "run-1").narrowed(target, lambda *_: queue)

    assert narrowed("/apis/example.org/v1/queues") == (
        "/apis/example.org/v1/queues?labelSelector=assay.dev%2Frun%3Drun-1"
    )
    assert "labelSelector=a%3Db%2Cassay.dev%2Frun%3Drun-1" in narrowed(
        "/apis/example.org/v1/queues?watch=true&labelSelector=a%3Db"
    )
    nodes = "/api/v1/nodes?watch=true"
    assert Shown((), "run-1").narrowed(nodes, known_kind) == nodes


def test_replies_are_asked_for_in_json_alone() -> None:
    assert in_json("application/vnd.kubernetes.protobuf,application/json") == "application/json"
    assert in_json("application/vnd.kubernetes.protobuf") == "application/json"
    partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    assert in_json(f"application/vnd.kubernetes.protobuf;as=Table,{partial}") == partial


def test_a_body_in_protobuf_does_not_hide_what_a_request_is() -> None:
    path = "/api/v1/namespaces/run-1/pods/p"
    assert parse_request("DELETE", path, b"k8s\x00\n\x12") == Delete(POD, "run-1", "p")
