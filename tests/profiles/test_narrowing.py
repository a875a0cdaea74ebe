"""The proxy's changes for an operator that watches the whole cluster, and in protobuf."""

from __future__ import annotations

import pytest

from conformance.worlds.control_plane.http_requests import in_json, narrowed, parse_request
from vocabulary.kinds import POD
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
    assert narrowed(asked, "run-1") == passed_on


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
    assert narrowed(asked, "run-1") == asked


def test_replies_are_asked_for_in_json_alone() -> None:
    assert in_json("application/vnd.kubernetes.protobuf,application/json") == "application/json"
    assert in_json("application/vnd.kubernetes.protobuf") == "application/json"
    partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    assert in_json(f"application/vnd.kubernetes.protobuf;as=Table,{partial}") == partial


def test_a_body_in_protobuf_does_not_hide_what_a_request_is() -> None:
    path = "/api/v1/namespaces/run-1/pods/p"
    assert parse_request("DELETE", path, b"k8s\x00\n\x12") == Delete(POD, "run-1", "p")
