"""Look up an object of a cluster by name; it may be absent."""

from __future__ import annotations

from typing import Final, Protocol

from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Get, ObjectList, Request

WEBHOOK_FAILED: Final = "failed calling webhook"
"""How an API server says that it refused a write because it could not ask about it."""


class Asked(Protocol):
    """A client of the API server; it raises ApiError for what is refused."""

    def handle(self, request: Request) -> Object | ObjectList: ...


def stored(connection: Asked, kind: Kind, namespace: str, name: str) -> Object | None:
    """The object as it is stored now; None if there is none. Raises ApiError."""
    try:
        found = connection.handle(Get(kind, namespace, name, live=True))
    except ApiError as error:
        if error.is_not_found:
            return None
        raise
    assert not isinstance(found, ObjectList)
    return found
