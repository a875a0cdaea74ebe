"""Finding an object that may not be there."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import Get, Request

T = TypeVar("T")
Reading: TypeAlias = Generator[Request, Any, T]
"""Yields reads, is sent their answers, returns what they amount to."""


def read(kind: Kind, namespace: str, name: str, *, live: bool) -> Reading[Object | None]:
    """The object of that name, or None if there is none; other errors go through."""
    try:
        found: Object = yield Get(kind, namespace, name, live=live)
    except ApiError as error:
        if error.is_not_found:
            return None
        raise
    return found
