"""Requests as HTTP and answers from HTTP, without a server."""

from __future__ import annotations

import json

import pytest

from reference_controller.runtime.http_request import HttpRequest, decode, encode
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, NODE, POD
from vocabulary.requests import (
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    ObjectList,
    Patch,
    Request,
    Update,
)

OBJECT = {"metadata": {"namespace": "ns", "name": "a"}}


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        (Get(POD, "ns", "a"), "GET /api/v1/namespaces/ns/pods/a"),
        (Get(NODE, "", "n"), "GET /api/v1/nodes/n"),
        (List(JOB), "GET /apis/batch/v1/jobs"),
        (
            List(POD, "ns", "a=b,c", "spec.nodeName=n", limit=5, resource_version="0"),
            "GET /api/v1/namespaces/ns/pods?labelSelector=a%3Db%2Cc"
            "&fieldSelector=spec.nodeName%3Dn&limit=5&resourceVersion=0",
        ),
        (Create(JOB, OBJECT, "ns", "a"), "POST /apis/batch/v1/namespaces/ns/jobs"),
        (
            Create(POD, OBJECT, "ns", "a", subresource="eviction"),
            "POST /api/v1/namespaces/ns/pods/a/eviction",
        ),
        (
            Create(JOB, OBJECT, "ns", "a", dry_run=True, field_manager="m"),
            "POST /apis/batch/v1/namespaces/ns/jobs?dryRun=All&fieldManager=m",
        ),
        (
            Create(JOB, OBJECT, "ns", "a", strict=True),
            "POST /apis/batch/v1/namespaces/ns/jobs?fieldValidation=Strict",
        ),
        (
            Update(POD, OBJECT, subresource="status"),
            "PUT /api/v1/namespaces/ns/pods/a/status",
        ),
        (
            Patch(POD, "ns", "a", {}, "apply", field_manager="m", force=True),
            "PATCH /api/v1/namespaces/ns/pods/a?fieldManager=m&force=true",
        ),
        (Delete(POD, "ns", "a"), "DELETE /api/v1/namespaces/ns/pods/a"),
        (
            DeleteCollection(POD, "ns", "a=b"),
            "DELETE /api/v1/namespaces/ns/pods?labelSelector=a%3Db",
        ),
    ],
)
def test_each_request_has_the_method_and_path_of_the_api(request_: Request, line: str) -> None:
    encoded = encode(request_)
    assert f"{encoded.method} {encoded.target}" == line


@pytest.mark.parametrize(
    ("patch_type", "content_type"),
    [
        ("json", "application/json-patch+json"),
        ("merge", "application/merge-patch+json"),
        ("strategic", "application/strategic-merge-patch+json"),
        ("apply", "application/apply-patch+yaml"),
    ],
)
def test_a_patch_names_its_own_type(patch_type: str, content_type: str) -> None:
    request = Patch(POD, "ns", "a", {"x": 1}, patch_type)  # type: ignore[arg-type]
    assert encode(request).content_type == content_type
    assert encode(request).body == b'{"x":1}'


def test_delete_options_carry_what_was_given_and_nothing_else() -> None:
    def options(request: Request) -> dict[str, object]:
        body: dict[str, object] = json.loads(encode(request).body)
        del body["apiVersion"], body["kind"]
        return body

    assert options(Delete(POD, "ns", "a")) == {}
    assert options(Delete(POD, "ns", "a", 0, "Foreground", "u", "9", dry_run=True)) == {
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": "u", "resourceVersion": "9"},
        "dryRun": ["All"],
    }
    assert options(DeleteCollection(POD, grace_period_seconds=0)) == {"gracePeriodSeconds": 0}


def test_a_list_gets_the_kind_of_its_items_put_back() -> None:
    body = json.dumps(
        {"metadata": {"resourceVersion": "7", "continue": "c"}, "items": [OBJECT]}
    ).encode()
    answer = decode(List(JOB), 200, body)
    typed = {"apiVersion": "batch/v1", "kind": "Job", **OBJECT}
    assert answer == ObjectList((typed,), "7", "c")


def test_a_refusal_becomes_an_error_with_the_servers_own_words() -> None:
    status = {"reason": "Conflict", "message": "changed", "code": 409, "details": {"name": "a"}}
    with pytest.raises(ApiError, match="changed") as caught:
        decode(Get(POD, "ns", "a"), 409, json.dumps(status).encode())
    assert caught.value.is_conflict
    assert caught.value.details == {"name": "a"}


@pytest.mark.parametrize("body", [b"", b"<html>bad gateway</html>", b"[]"])
def test_a_refusal_that_is_no_status_still_is_an_error(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        decode(Get(POD, "ns", "a"), 502, body)
    assert caught.value.is_retriable


def test_a_success_that_is_no_json_counts_as_no_answer() -> None:
    with pytest.raises(ApiError) as caught:
        decode(Get(POD, "ns", "a"), 200, b"<html>login</html>")
    assert caught.value.code == 0


def test_a_request_without_a_body_sends_none() -> None:
    assert encode(Get(POD, "ns", "a")) == HttpRequest("GET", "/api/v1/namespaces/ns/pods/a")
