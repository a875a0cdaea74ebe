"""API errors: `metav1.Status` as an exception.

Reconcilers get it thrown into their generator, so a failed list can never be mistaken for
an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from vocabulary.kinds import Kind

_LACKS_RIGHTS: Final = re.compile(r'User "[^"]*" cannot \w+ resource "')


class ApiError(Exception):
    """A failed request: HTTP code, machine-readable reason, message, details.

    `code` 0 means that no response arrived (connection refused, response lost, timeout):
    the write may or may not have happened.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        continue_: str = "",
    ) -> None:
        """`continue_` is a token for the rest of a list of which the state is forgotten."""
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.continue_ = continue_

    def __reduce__(self) -> tuple[type[ApiError], tuple[Any, ...]]:
        """Support pickling: exceptions are copied by their arguments."""
        return type(self), (
            self.code,
            self.reason,
            self.message,
            self.details,
            self.continue_,
        )

    def to_status(self) -> dict[str, Any]:
        """Return the `metav1.Status` body that a real API server would send."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {"continue": self.continue_} if self.continue_ else {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = dict(self.details)
        status["code"] = self.code
        return status

    @property
    def is_not_found(self) -> bool:
        return self.code == 404

    @property
    def is_already_exists(self) -> bool:
        return self.code == 409 and self.reason == "AlreadyExists"

    @property
    def is_conflict(self) -> bool:
        return self.code == 409 and self.reason == "Conflict"

    @property
    def is_invalid(self) -> bool:
        return self.code == 422

    @property
    def is_retriable(self) -> bool:
        """True if the same request may succeed later: no response, throttled, or a 5xx."""
        return self.code in (0, 408, 429) or self.code >= 500


def _details(kind: Kind, name: str) -> dict[str, Any]:
    # Real servers put the plural under `kind`.
    details: dict[str, Any] = {"name": name}
    if kind.group:
        details["group"] = kind.group
    details["kind"] = kind.plural
    return details


def _resource(kind: Kind) -> str:
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural


def not_found(kind: Kind, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{_resource(kind)} "{name}" not found', _details(kind, name))


def already_exists(kind: Kind, name: str, *, being_deleted: bool = False) -> ApiError:
    prefix = "object is being deleted: " if being_deleted else ""
    return ApiError(
        409,
        "AlreadyExists",
        f'{prefix}{_resource(kind)} "{name}" already exists',
        _details(kind, name),
    )


def conflict(kind: Kind, name: str, because: str) -> ApiError:
    return ApiError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {_resource(kind)} "{name}": {because}',
        _details(kind, name),
    )


def forbidden(kind: Kind, name: str, because: str) -> ApiError:
    return ApiError(
        403,
        "Forbidden",
        f'{_resource(kind)} "{name}" is forbidden: {because}',
        _details(kind, name),
    )


def no_answer(because: str) -> ApiError:
    """An error without a response: the request may or may not have been executed."""
    return ApiError(0, "NoAnswer", because)


def lacks_rights(message: str) -> bool:
    """True if RBAC denied the request, by its message; those of quotas and webhooks differ."""
    return _LACKS_RIGHTS.search(message) is not None


def kept_message(reason: str, message: str) -> str:
    """The part of an error's message that histories keep: why an object is invalid, or the
    missing permission."""
    return message if reason == "Invalid" or lacks_rights(message) else ""
