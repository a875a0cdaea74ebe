"""AdmissionReview v1: what an API server posts to a webhook, and what it wants to hear.

Pure: a controller gives one function, `admit`, which returns the object to store or raises
an ApiError. The same function hangs directly in the simulated API server.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import msgspec

from reference_controller.runtime import json_patch
from vocabulary.errors import ApiError
from vocabulary.objects import Object

Operation: TypeAlias = Literal["CREATE", "UPDATE"]


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who makes the request, as authenticated by the API server."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the authenticator knows besides, for authorizers to decide by."""


Admit: TypeAlias = Callable[[Operation, Object, Object | None, UserInfo], Object]
"""(operation, new object, old object or None, user) → the object to store."""


class ReviewError(ValueError):
    """A body that is no AdmissionReview v1; the message says what is wrong."""


def review(body: bytes, admit: Admit, *, may_change: bool) -> bytes:
    """The answer to one AdmissionReview; with `may_change`, changes are sent as a JSON patch.

    Operations other than CREATE and UPDATE are allowed as they are. Raises ReviewError.
    """
    try:
        document = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReviewError(f"not an AdmissionReview: {error}") from error
    if document.apiVersion != "admission.k8s.io/v1":
        raise ReviewError(
            f"AdmissionReview of version {document.apiVersion!r}; "
            "set admissionReviewVersions: [v1] in the webhook configuration"
        )
    return msgspec.json.encode(
        {
            "apiVersion": document.apiVersion,
            "kind": "AdmissionReview",
            "response": {"uid": document.request.uid, **_verdict(document, admit, may_change)},
        }
    )


def _verdict(document: _Review, admit: Admit, may_change: bool) -> dict[str, Any]:
    request = document.request
    if request.operation not in ("CREATE", "UPDATE") or request.object is None:
        return {"allowed": True}
    given = request.userInfo
    user = UserInfo(
        given.username,
        given.uid,
        tuple(given.groups or ()),
        {key: tuple(values or ()) for key, values in (given.extra or {}).items()},
    )
    operation: Operation = "CREATE" if request.operation == "CREATE" else "UPDATE"
    try:
        admitted = admit(operation, request.object, request.oldObject, user)
    except ApiError as error:
        return {"allowed": False, "status": error.to_status()}
    patch = json_patch.diff(request.object, admitted) if may_change else []
    if not patch:
        return {"allowed": True}
    encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str] | None] | None = None


class _Request(msgspec.Struct):
    uid: str
    operation: str
    object: dict[str, Any] | None = None
    oldObject: dict[str, Any] | None = None  # noqa: N815 - the API's name
    userInfo: _User = msgspec.field(default_factory=_User)  # noqa: N815 - the API's name


class _Review(msgspec.Struct):
    apiVersion: str  # noqa: N815 - the API's name
    request: _Request


_decoder: Final = msgspec.json.Decoder(_Review)
"""Made at import: msgspec learns a type at its first use, and two threads at once crash it."""
