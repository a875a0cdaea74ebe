"""A connection that outlasts an API server which is away for a while.

An operator under test must cope with such a server by itself; that is what is tested. Assay's
own requests are the ground on which it is tested, so they are made again until they get
through. A request whose answer was lost may have been carried out: what it then is refused
for when it is made again, is what it asked for.
"""

from __future__ import annotations

from typing import Any, Final

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from reference_controller.runtime.connection import Connection
from vocabulary.errors import ApiError
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create, Delete, Get, ObjectList, Request

PATIENCE_SECONDS: Final = 60.0
"""How long a server may be away: it takes a few seconds to start, many on a busy machine."""


class RetryingConnection:
    """A connection that retries requests without a response. Safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self._connection.server

    def handle(self, request: Request) -> Object | ObjectList:
        """Send one request; raises ApiError if it is refused, or if no answer comes for long."""
        for attempt in _attempts():
            with attempt:
                is_first = attempt.retry_state.attempt_number == 1
                try:
                    return self._connection.handle(request)
                except ApiError as error:
                    if is_first or not _is_what_was_asked_for(request, error):
                        raise
                    return self._standing(request)
        raise AssertionError("the last attempt returns or raises")

    def get(self, path: str) -> Any:
        """The decoded JSON at a path that is no object's, for example `/apis/batch/v1`."""
        for attempt in _attempts():
            with attempt:
                return self._connection.get(path)
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Drop idle connections."""
        self._connection.close()

    def _standing(self, request: Request) -> Object | ObjectList:
        if isinstance(request, Create):
            name = name_of(request.object)
            return self._connection.handle(Get(request.kind, request.namespace, name, live=True))
        return {}


def is_away(error: BaseException) -> bool:
    """True if there was no server to respond, or none that could reach the store."""
    if not isinstance(error, ApiError):
        return False
    return error.code in (0, 429, 503, 504) or (error.code == 500 and "etcd" in error.message)


def _is_what_was_asked_for(request: Request, error: ApiError) -> bool:
    if isinstance(request, Create):
        return error.is_already_exists and not request.subresource
    return isinstance(request, Delete) and error.is_not_found


def _attempts() -> Retrying:
    return Retrying(
        retry=retry_if_exception(is_away),
        wait=wait_exponential(0.1, max=2),
        stop=stop_after_delay(PATIENCE_SECONDS),
        reraise=True,
    )
