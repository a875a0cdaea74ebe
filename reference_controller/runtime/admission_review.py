"""AdmissionReview v1: an API server's request to a webhook, and the answer to it.

Pure: a program gives functions by kind, which return the object to store or raise an ApiError.
The same functions hang directly in the simulated API server.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from reference_controller.runtime import json_patch
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object

Operation: TypeAlias = Literal["CREATE", "UPDATE"]
Phase: TypeAlias = Literal["mutate", "validate"]
"""API servers first ask all mutating webhooks of a kind, then all validating ones."""


@dataclass(frozen=True, slots=True)
class UserInfo:
    """The user that makes the request, as authenticated by the API server."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Attributes from the authenticator, for authorizers to decide by."""


Admit: TypeAlias = Callable[[Operation, Object, Object | None, UserInfo], Object]
"""(operation, new object, old object or None, user) → the object to store."""

MayCreate: TypeAlias = Callable[[UserInfo, Kind, str], bool]
"""(user, kind, namespace) → True if the user may create such an object: a SubjectAccessReview on
a real cluster. The plural of the kind may be a guess."""


class Asking(NamedTuple):
    """The questions of webhooks to their cluster; None where they have none to ask."""

    may_create: MayCreate | None = None
    namespace_labels: Callable[[str], Mapping[str, str]] | None = None
    """The labels of a namespace by its name; raises an ApiError if they are not known."""


class Webhook(NamedTuple):
    """The admission of one kind's objects."""

    mutate: Admit | None = None
    """Its changes are stored, and it may refuse."""
    validate: Admit | None = None
    """It may refuse; its changes are not stored."""


Webhooks: TypeAlias = Mapping[Kind, Webhook]


class ReviewError(ValueError):
    """A body that is no AdmissionReview v1 of a kind served here; the message says why."""


def review(body: bytes, webhooks: Webhooks, phase: Phase) -> bytes:
    """The answer to one AdmissionReview; changes are sent as a JSON patch if it mutates.

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
    request = document.request
    admit = _admit(webhooks, request.kind, phase)
    return msgspec.json.encode(
        {
            "apiVersion": document.apiVersion,
            "kind": "AdmissionReview",
            "response": {"uid": request.uid, **_verdict(request, admit, phase)},
        }
    )


def _admit(webhooks: Webhooks, asked: _Kind, phase: Phase) -> Admit:
    for kind, webhook in webhooks.items():
        if (kind.group, kind.version, kind.kind) == (asked.group, asked.version, asked.kind):
            admit: Admit | None = getattr(webhook, phase)
            if admit is not None:
                return admit
    raise ReviewError(
        f"nothing here is to {phase} a {asked.kind} of {asked.group or 'the core group'} "
        f"{asked.version}; take it out of the webhook configuration's rules"
    )


def _verdict(request: _Request, admit: Admit, phase: Phase) -> dict[str, Any]:
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
        stored = admit(operation, request.object, request.oldObject, user)
    except ApiError as error:
        return {"allowed": False, "status": error.to_status()}
    patch = json_patch.diff(request.object, stored) if phase == "mutate" else []
    if not patch:
        return {"allowed": True}
    encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str] | None] | None = None


class _Kind(msgspec.Struct):
    group: str
    version: str
    kind: str


class _Request(msgspec.Struct):
    uid: str
    operation: str
    kind: _Kind
    object: dict[str, Any] | None = None
    oldObject: dict[str, Any] | None = None  # noqa: N815 - the API's name
    userInfo: _User = msgspec.field(default_factory=_User)  # noqa: N815 - the API's name


class _Review(msgspec.Struct):
    apiVersion: str  # noqa: N815 - the API's name
    request: _Request


_decoder: Final = msgspec.json.Decoder(_Review)
"""Made at import: msgspec learns a type at its first use, and two threads at once crash it."""
