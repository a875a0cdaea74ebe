"""Watches: changes since a revision, followed by future changes.

In the simulation, controllers are notified by the store's own watchers, through caches that lag.
This is the API's watch, for clients of the served cluster and for tests of the events that such
clients receive: replay, bookmarks, selectors, 410.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clusters.simulated.reading import Reader, in_version
from clusters.simulated.revisions import parse_revision, too_large
from clusters.simulated.selection import Selects, selection
from clusters.simulated.store import Change, Store
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, name_of, namespace_of

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
Deliver: TypeAlias = Callable[[EventType, Object], None]


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """A client's watch request: objects and starting revision.

    `resource_version` "" or "0" begins with the existing objects, as ADDED; any other begins after
    that revision. With `initial_events` the existing objects come first in any case, and a bookmark
    marks their end; False leaves them out in any case.
    """

    kind: Kind
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    initial_events: bool | None = None


class Watch:
    """One client's watch. Events go to `deliver`, from within the change that causes them."""

    def __init__(
        self, store: Store, reader: Reader, request: WatchRequest, deliver: Deliver
    ) -> None:
        self._store = store
        self._request = request
        self._deliver = deliver
        self._strategy: Strategy = reader.strategy(request.kind)
        self._selects: Selects | None = selection(
            request.label_selector, request.field_selector, self._strategy
        )
        self._stop: Callable[[], None] | None = None

    def start(self) -> None:
        """Deliver what is past at once, then what comes; an ERROR if the past is forgotten."""
        asked = parse_revision(self._request.resource_version)
        if self._request.initial_events and asked > self._store.revision:
            self._deliver("ERROR", too_large(asked, self._store.revision).to_status())
            return
        since = self._since(asked)
        if since is None:
            for obj in self._present():
                self._deliver("ADDED", self._shown(obj))
            if self._request.initial_events:
                self._bookmark({"k8s.io/initial-events-end": "true"})
        elif since < self._store.compacted:
            self._deliver("ERROR", _expired(since, self._store.compacted).to_status())
            return
        else:
            for change in self._store.changes[since:]:
                if change.key.kind == str(self._request.kind):
                    self._tell(change)
        self._stop = self._store.watch(self._tell, frozenset({str(self._request.kind)}))

    def stop(self) -> None:
        """No more events."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def bookmark(self) -> None:
        """Tell the client up to where it has seen everything."""
        self._bookmark(None)

    def _since(self, asked: int) -> int | None:
        """Changes after this revision are reported; None if the existing objects come first. They
        are never older than the revision of the request."""
        if self._request.initial_events:
            return None
        if not asked and self._request.initial_events is False:
            return self._store.revision
        return min(asked, self._store.revision) if asked else None

    def _present(self) -> list[Object]:
        items = [
            obj
            for obj in self._store.of_kind(str(self._request.kind), self._request.namespace)
            if self._selects is None or self._selects(obj)
        ]
        return sorted(items, key=lambda obj: (namespace_of(obj), name_of(obj)))

    def _tell(self, change: Change) -> None:
        if self._request.namespace and change.key.namespace != self._request.namespace:
            return
        event: EventType = change.event
        told = change.object
        if self._selects is not None:
            is_chosen = change.event != "DELETED" and self._selects(change.object)
            was_chosen = change.old is not None and self._selects(change.old)
            if not is_chosen and not was_chosen:
                return
            # For a client that selects, an object comes when it begins to match, and goes
            # when it ceases to.
            event = "MODIFIED" if is_chosen and was_chosen else "ADDED"
            if not is_chosen:
                event = "DELETED"
                if change.event == "MODIFIED" and change.old is not None:
                    # What such a client last saw, at the revision that took it away.
                    metadata = {**change.old["metadata"], "resourceVersion": str(change.rv)}
                    told = {**change.old, "metadata": metadata}
        try:
            shown = self._shown(told)
        except ApiError as error:  # of its conversion
            self._deliver("ERROR", error.to_status())
            self.stop()
            return
        self._deliver(event, shown)

    def _shown(self, obj: Object) -> Object:
        return in_version(obj, self._request.kind, self._strategy)

    def _bookmark(self, annotations: dict[str, str] | None) -> None:
        metadata: dict[str, object] = {"resourceVersion": str(self._store.revision)}
        if annotations:
            metadata["annotations"] = annotations
        self._deliver(
            "BOOKMARK",
            {
                "kind": self._request.kind.kind,
                "apiVersion": self._request.kind.api_version,
                "metadata": metadata,
            },
        )


def _expired(since: int, compacted: int) -> ApiError:
    return ApiError(410, "Expired", f"too old resource version: {since} ({compacted})")
