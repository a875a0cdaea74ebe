"""Responses of admission webhooks: those that are reviews, and those that are none."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from clusters.simulated.webhook_responses import (
    WebhookCallError,
    patch_operations,
    verified_response,
)

V1 = "admission.k8s.io/v1"
V1BETA1 = "admission.k8s.io/v1beta1"
SOUND = {"apiVersion": V1, "kind": "AdmissionReview", "response": {"uid": "u", "allowed": True}}
PATCH = {"patchType": "JSONPatch", "patch": base64.b64encode(b"[]").decode()}


def review(**fields: Any) -> dict[str, Any]:
    return {**SOUND, **fields}


def response(**fields: Any) -> dict[str, Any]:
    return review(response={"uid": "u", "allowed": True, **fields})


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"{", "failed to call webhook: "),
        ([], "is not an AdmissionReview"),
        ("x", "is not an AdmissionReview"),
        (review(response="x"), "is not an AdmissionReview"),
        (review(response=[]), "is not an AdmissionReview"),
        (review(response=None), "invalid webhook response: "),
        (review(kind="Other"), 'no kind "Other" is registered'),
        (review(apiVersion="v9"), 'for version "v9"'),
        ({"response": SOUND["response"]}, "invalid webhook response: "),
        (review(response={"uid": "other", "allowed": True}), "invalid webhook response: "),
        (response(patchType="", patch=PATCH["patch"]), "invalid webhook response: "),
        (response(patchType="JSONPatch"), "invalid webhook response: "),
        (response(patch=PATCH["patch"]), "invalid webhook response: "),
    ],
)
def test_an_answer_that_is_no_review_is_an_error(body: Any, complaint: str) -> None:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(WebhookCallError) as caught:
        verified_response(sent, "u", V1, mutating=True)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (SOUND, V1),
        (response(**PATCH), V1),
        (review(apiVersion=V1BETA1), V1BETA1),
        ({"response": {"allowed": True}}, V1BETA1),
    ],
)
def test_an_answer_that_is_a_review_is_taken(body: Any, version: str) -> None:
    found = verified_response(json.dumps(body).encode(), "u", version, mutating=True)
    assert found["allowed"] is True


def test_an_answer_without_a_response_is_an_error_in_the_older_version_too() -> None:
    body = json.dumps({"apiVersion": V1BETA1, "kind": "AdmissionReview"}).encode()
    with pytest.raises(WebhookCallError, match="webhook response was absent"):
        verified_response(body, "u", V1BETA1, mutating=False)


@pytest.mark.parametrize(
    ("patch", "complaint"),
    [
        (b"{}", "cannot unmarshal object"),
        (b"1", "cannot unmarshal value"),
        (b"[1]", "cannot unmarshal value"),
        (b"[", "undecodable patch"),
    ],
)
def test_a_patch_has_to_be_a_list_of_operations(patch: bytes, complaint: str) -> None:
    with pytest.raises(WebhookCallError, match=complaint):
        patch_operations({"patch": base64.b64encode(patch).decode()})


def test_a_patch_of_another_type_is_refused_if_it_has_operations() -> None:
    one, none = (base64.b64encode(it).decode() for it in (b'[{"op": "x"}]', b"[]"))
    with pytest.raises(WebhookCallError, match='unsupported patch type "Other"'):
        patch_operations({"patchType": "Other", "patch": one})
    assert patch_operations({"patchType": "Other", "patch": none}) == []


def test_no_patch_has_no_operations() -> None:
    assert patch_operations({}) == []
    assert patch_operations({"patch": ""}) == []
    assert patch_operations({"patch": base64.b64encode(b'[{"op": "x"}]').decode()}) == [{"op": "x"}]
