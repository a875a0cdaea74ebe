"""A request of the vocabulary as HTTP, and an HTTP answer as what the vocabulary expects.

Pure, so it can be checked without a server; `connection` sends what this encodes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from vocabulary.errors import ApiError, no_answer
from vocabulary.kinds import Kind
from vocabulary.objects import Object
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

JSON: Final = "application/json"
PATCH_CONTENT_TYPE: Final = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",  # JSON is YAML
}
_REASON_OF_CODE: Final = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    429: "TooManyRequests",
    504: "Timeout",
}


class HttpRequest(NamedTuple):
    """Method, path with query, body ("" for none) and its content type."""

    method: str
    target: str
    body: bytes = b""
    content_type: str = JSON


def encode(request: Request) -> HttpRequest:
    """The HTTP request that a real API server understands."""
    kind = request.kind
    match request:
        case Get():
            return HttpRequest("GET", kind.path(request.namespace, request.name))
        case List():
            return HttpRequest("GET", kind.path(request.namespace) + _query(_list_query(request)))
        case Create():
            # Only a subresource (eviction, binding) is posted to a named object.
            name = request.name if request.subresource else ""
            path = kind.path(request.namespace, name, request.subresource)
            query = _write_query(request.dry_run, request.field_manager)
            if request.strict:
                query["fieldValidation"] = "Strict"
            return HttpRequest("POST", path + _query(query), _json(request.object))
        case Update():
            path = kind.path(request.namespace, request.name, request.subresource)
            query = _write_query(request.dry_run, request.field_manager)
            return HttpRequest("PUT", path + _query(query), _json(request.object))
        case Patch():
            path = kind.path(request.namespace, request.name, request.subresource)
            query = _write_query(request.dry_run, request.field_manager)
            if request.force:
                query["force"] = "true"
            content_type = PATCH_CONTENT_TYPE[request.patch_type]
            return HttpRequest("PATCH", path + _query(query), _json(request.body), content_type)
        case Delete():
            path = kind.path(request.namespace, request.name)
            return HttpRequest("DELETE", path, _json(_delete_options(request)))
        case DeleteCollection():
            query = {
                "labelSelector": request.label_selector,
                "fieldSelector": request.field_selector,
            }
            path = kind.path(request.namespace) + _query(query)
            return HttpRequest("DELETE", path, _json(_delete_options(request)))


def decode(request: Request, status: int, body: bytes) -> Object | ObjectList:
    """The server's answer; raises ApiError for a refusal or an unreadable answer."""
    if status >= 400:
        raise refusal(status, body)
    try:
        answer: dict[str, Any] = msgspec.json.decode(body, type=dict)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise no_answer(f"HTTP {status} with a body that is no JSON object: {error}") from error
    return object_list(request.kind, answer) if isinstance(request, List) else answer


def object_list(kind: Kind, answer: dict[str, Any]) -> ObjectList:
    """A decoded list. Servers leave kind and apiVersion out of its items; they are put back."""
    typed = {"apiVersion": kind.api_version, "kind": kind.kind}
    metadata = answer.get("metadata") or {}
    return ObjectList(
        tuple({**typed, **item} for item in answer.get("items") or ()),
        str(metadata.get("resourceVersion", "")),
        str(metadata.get("continue", "")),
        metadata.get("remainingItemCount"),
    )


def refusal(status: int, body: bytes) -> ApiError:
    """The ApiError that an HTTP error means; proxies between us and the server send no Status."""
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        answer = None
    if not isinstance(answer, dict):
        answer = {}
    text = body[:500].decode("utf-8", "replace").strip()
    return ApiError(
        status,
        str(answer.get("reason") or _REASON_OF_CODE.get(status, "")),
        str(answer.get("message") or text or f"HTTP {status}"),
        answer.get("details"),
    )


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _query(parameters: dict[str, str]) -> str:
    given = {name: value for name, value in parameters.items() if value}
    return "?" + urlencode(given) if given else ""


def _list_query(request: List) -> dict[str, str]:
    return {
        "labelSelector": request.label_selector,
        "fieldSelector": request.field_selector,
        "limit": str(request.limit or ""),
        "continue": request.continue_,
        "resourceVersion": request.resource_version,
        "resourceVersionMatch": request.resource_version_match,
    }


def _write_query(dry_run: bool, field_manager: str) -> dict[str, str]:
    return {"dryRun": "All" if dry_run else "", "fieldManager": field_manager}


def _delete_options(request: Delete | DeleteCollection) -> dict[str, Any]:
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if request.grace_period_seconds is not None:
        options["gracePeriodSeconds"] = request.grace_period_seconds
    if request.propagation_policy is not None:
        options["propagationPolicy"] = request.propagation_policy
    if isinstance(request, Delete):
        preconditions = {"uid": request.uid, "resourceVersion": request.resource_version}
        given = {name: value for name, value in preconditions.items() if value is not None}
        if given:
            options["preconditions"] = given
        if request.dry_run:
            options["dryRun"] = ["All"]
    return options
