"""The common protocol of both sides: HTTP requests of the Kubernetes API, and responses.

The same bytes go to a real API server and into the simulated one. So what is compared is what
a client sees: status codes, `Status` bodies, objects, lists, tables, watch events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from vocabulary.kinds import Kind

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@dataclass(frozen=True)
class Call:
    """One request: method, path with query, body, and who sends it."""

    method: str
    target: str
    body: bytes = b""
    content_type: str = "application/json"
    accept: str = "application/json"
    user: str = "user"
    token: str = ""
    """Authenticates instead of the user's own."""
    headers: tuple[tuple[str, str], ...] = ()
    """Sent as well; several may have the same name."""


@dataclass(frozen=True)
class Answer:
    """Status code and decoded body of what came back."""

    code: int
    body: dict[str, Any]
    warnings: tuple[str, ...] = ()
    """The values of its `Warning` headers."""
    retry_after: str = ""
    flow: tuple[str, str] = ("", "")
    """The uids of its FlowSchema and its PriorityLevelConfiguration."""

    @property
    def revision(self) -> str:
        """The resourceVersion of the object or list."""
        return str(self.body["metadata"]["resourceVersion"])

    @property
    def uid(self) -> str:
        return str(self.body["metadata"]["uid"])

    @property
    def items(self) -> list[dict[str, Any]]:
        return list(self.body["items"])


Reviewer: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""The request of an AdmissionReview → its response, without the uid."""
Event: TypeAlias = dict[str, Any]
"""A watch event as it is sent: `type` and `object`."""


@dataclass(frozen=True)
class WatchCall:
    """A watch: what, since when (a resourceVersion, "" for what there is), chosen how."""

    kind: Kind
    namespace: str
    since: str = ""
    label_selector: str = ""
    field_selector: str = ""
    initial_events: bool | None = None
    """Ask for a bookmark where what there was ends, or for nothing of what there was."""
    accept: str = "application/json"
    bookmarks: bool = True

    def query(self, within_seconds: float) -> dict[str, str]:
        """The parameters of the request."""
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true" if self.bookmarks else "",
            "timeoutSeconds": str(max(1, round(within_seconds))),
            "resourceVersion": self.since,
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
        }
        if self.initial_events is not None:
            initial = "true" if self.initial_events else "false"
            query |= {"sendInitialEvents": initial, "resourceVersionMatch": "NotOlderThan"}
        return {key: value for key, value in query.items() if value}


@dataclass(frozen=True)
class NodeWish:
    """A node that a script brings; its kubelet starts with it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()
    separate: bool = False
    """Its kubelet can be lost alone."""


class Target(Protocol):
    """One side of the comparison: a cluster that can be asked, waited for and shaken."""

    def exchange(self, call: Call) -> Answer:
        """Send a request; refusals are answers too."""
        ...

    def watch(
        self, watch: WatchCall, enough: Callable[[Sequence[Event]], bool], within_seconds: float
    ) -> list[Event]:
        """The events of a watch, until there are enough of them or the time is over."""
        ...

    def until(self, happened: Callable[[], bool], within_seconds: float) -> bool:
        """Let time pass until `happened()`; whether it did within the limit."""
        ...

    def add_node(self, wish: NodeWish) -> None:
        """Let a node join; returns when it is ready for pods."""
        ...

    def remove_node(self, name: str) -> None:
        """Take back a node; one that is gone already is no error."""
        ...

    def register_webhooks(self, configuration: dict[str, Any], answer: Reviewer) -> None:
        """Register admission webhooks, all of them answered by one function. Their
        `clientConfig` is filled in."""
        ...

    def withdraw_webhooks(self, configuration: dict[str, Any]) -> None:
        """Register them no longer."""
        ...

    def serve_conversions(self, answer: Reviewer) -> dict[str, Any]:
        """Answer ConversionReviews by a function; returns the `clientConfig` to call it by."""
        ...

    def lose_kubelet(self, name: str) -> None:
        """The kubelet of a separate node falls silent."""
        ...

    def compact(self) -> None:
        """Forget all but the present state."""
        ...

    def regain_kubelet(self, name: str) -> None:
        """It is back."""
        ...
