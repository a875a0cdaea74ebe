"""One kind's LIST and WATCH, against an API server that comes and goes.

The list is taken once. From then on events keep the cache up to date, and a watch that ends
goes on where it stopped. Only when the server no longer has that revision (410 Gone), or
says something that makes no sense, the list is taken anew: the cache then works out what
was missed.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any, Final

from tenacity import RetryCallState, Retrying, retry_if_exception_type, sleep_using_event
from tenacity.stop import stop_when_event_set
from tenacity.wait import wait_random_exponential

from reference_controller.runtime.connection import Connection, WatchStream
from reference_controller.runtime.logs import LOG, fields
from vocabulary.errors import ApiError, no_answer
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path
from vocabulary.requests import List, ObjectList

PAGE_SIZE: Final = 500
WATCH_SECONDS: Final = (240, 480)
"""After how long a watch is ended by the server: between these two, so that watches of many
operators do not end all at once."""
PAUSE_SECONDS: Final = 0.1
"""Between two watches: a proxy that ends every watch at once must not make us spin."""
MAX_BACKOFF_SECONDS: Final = 5.0
NOT_SERVED_SECONDS: Final = 2.0
"""How often a kind that is not served is asked for: its CRD may be installed at any time."""

Replace = Callable[[Kind, tuple[Object, ...], str], None]
Deliver = Callable[[Kind, Any, Object], None]


class Informer:
    """Feeds one kind to `replace` and `deliver` until `stop`; run it in a thread of its own."""

    def __init__(
        self,
        connection: Connection,
        kind: Kind,
        namespace: str,
        replace: Replace,
        deliver: Deliver,
        served: Callable[[Kind], Kind] = lambda kind: kind,
    ) -> None:
        """`served` gives the kind the plural and scope that the server knows; it may raise
        ApiError. `replace` and `deliver` are called with the kind as it was given."""
        self._connection = connection
        self._kind = kind
        self._served_as = served
        self._resource = kind
        self._within = namespace
        self._replace = replace
        self._deliver = deliver
        self._revision = ""
        self._has_listed = False
        self._is_served = True
        self._stream: WatchStream | None = None
        self._stopping = threading.Event()

    def run(self) -> None:
        """List, watch, and begin again after whatever goes wrong; returns after `stop`."""
        while not self._stopping.is_set():
            retrying = Retrying(
                retry=retry_if_exception_type(ApiError),
                wait=wait_random_exponential(multiplier=0.1, max=MAX_BACKOFF_SECONDS),
                stop=stop_when_event_set(self._stopping),
                sleep=sleep_using_event(self._stopping),
                before_sleep=self._log_failure,
                retry_error_callback=_give_up,
            )
            retrying(self._list_or_watch)

    def stop(self) -> None:
        """End `run` soon, also while it waits for events."""
        self._stopping.set()
        stream = self._stream
        if stream is not None:
            stream.close()

    @property
    def is_watching(self) -> bool:
        """True if a watch is open, or there is none to open since the kind is not served."""
        return self._stream is not None or not self._is_served

    @property
    def _namespace(self) -> str:
        return self._within if self._resource.namespaced else ""

    def _list_or_watch(self) -> None:
        """One list, or one watch until it ends in good order; raises ApiError otherwise."""
        if not self._revision:
            try:
                self._list()
            except ApiError as error:
                if not error.is_not_found:
                    raise
                self._has_no_resource()
            return
        seconds = random.randint(*WATCH_SECONDS)
        try:
            stream = self._connection.open_watch(
                self._resource, self._namespace, self._revision, seconds
            )
            self._stream = stream
            if self._stopping.is_set():
                stream.close()
            for event, obj in stream:
                self._take(event, obj)
        except ApiError as error:
            if error.code == 410 or not error.is_retriable:
                LOG.info("listing anew", extra=fields(kind=self._kind, reason=error.message))
                self._revision = ""
            if error.code != 410:
                raise
        finally:
            self._stream = None
        self._stopping.wait(PAUSE_SECONDS)

    def _list(self) -> None:
        items: list[Object] = []
        self._resource = self._served_as(self._kind)
        # As client-go does: at first whatever the API server has at hand will do, since events
        # bring it up to date; but after a revision that was too old, only the present will.
        revision = "" if self._has_listed else "0"
        request = List(
            self._resource, self._namespace, limit=PAGE_SIZE, live=True, resource_version=revision
        )
        while True:
            page = self._connection.handle(request)
            assert isinstance(page, ObjectList)
            items += page.items
            if not page.continue_:
                break
            request = List(
                self._resource,
                self._namespace,
                limit=PAGE_SIZE,
                live=True,
                continue_=page.continue_,
            )
        self._replace(self._kind, tuple(items), page.resource_version)
        self._revision = page.resource_version
        self._has_listed = self._is_served = True

    def _has_no_resource(self) -> None:
        """The kind is not served (any more): then there are no objects of it either."""
        if self._is_served:
            LOG.warning(
                "not served; taken as empty until it is. Is its CustomResourceDefinition "
                "installed?",
                extra=fields(kind=self._kind),
            )
            self._replace(self._kind, (), "")
            self._is_served = False
        self._stopping.wait(NOT_SERVED_SECONDS)

    def _take(self, event: str, obj: dict[str, Any]) -> None:
        if event == "ERROR":
            raise ApiError(
                obj.get("code", 0), str(obj.get("reason", "")), str(obj.get("message", ""))
            )
        if event in ("ADDED", "MODIFIED", "DELETED"):
            self._deliver(self._kind, event, obj)
        elif event != "BOOKMARK":
            raise no_answer(f"unknown watch event type {event!r}")
        self._revision = str(get_path(obj, "metadata.resourceVersion"))

    def _log_failure(self, state: RetryCallState) -> None:
        attempt = state.attempt_number
        if attempt & (attempt - 1):
            return  # powers of two only: an outage of minutes need not fill the log
        error = state.outcome.exception() if state.outcome is not None else None
        LOG.warning(
            "cannot list or watch; trying again",
            extra=fields(kind=self._kind, attempt=attempt, error=error),
        )


def _give_up(state: RetryCallState) -> None:
    """Stopping: the last failure does not matter any more."""
