"""Events for users. Each is named after its contents, so repeating it changes nothing.

The name is a digest of the Event's identity: a restarted controller, or a second one, that sends
the same Event again gets AlreadyExists. So there is no flood even if sent Events are forgotten;
remembering them saves the request.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, TypeAlias

import msgspec

from vocabulary.canonical import digest
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import EVENT, Kind
from vocabulary.objects import Object, meta, name_of, namespace_of, uid_of
from vocabulary.requests import Create, Request

_MESSAGE_MAX: Final = 1024
_PREFIX_MAX: Final = 200
_MAX_TOLD: Final = 10_000

Identity: TypeAlias = tuple[str | int, ...]
"""Events of one identity have one name."""


class Note(msgspec.Struct, frozen=True):
    """A message for users: becomes a core/v1 Event."""

    reason: str
    message: str
    is_warning: bool = False


class Told:
    """The Events that this process has sent; it may forget them."""

    def __init__(self) -> None:
        self._identities: set[Identity] = set()

    def __contains__(self, identity: Identity) -> bool:
        return identity in self._identities

    def add(self, identity: Identity) -> None:
        if len(self._identities) >= _MAX_TOLD:
            self._identities.clear()
        self._identities.add(identity)


def send(
    event: Create, identity: Identity, told: Told, dropped: Callable[[ApiError], None]
) -> Generator[Request, Any, None]:
    """Send an Event; `dropped` hears of one that the API server did not take."""
    try:
        yield event
    except ApiError as error:
        if not error.is_already_exists:
            dropped(error)
            return
    told.add(identity)


def event_about(
    about: Object, kind: Kind, component: str, identity: Identity, note: Note, now_us: Micros
) -> Create:
    """The creation of the core/v1 Event by which a component tells of a step of an object."""
    name = f"{name_of(about)[:_PREFIX_MAX]}.{digest(list(identity))[:16]}"
    namespace = namespace_of(about)
    event: Object = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "name": name_of(about),
            "namespace": namespace,
            "uid": uid_of(about),
            "resourceVersion": str(meta(about).get("resourceVersion", "")),
        },
        "type": "Warning" if note.is_warning else "Normal",
        "reason": note.reason,
        "message": note.message[:_MESSAGE_MAX],
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": to_rfc3339(now_us),
        "lastTimestamp": to_rfc3339(now_us),
        "count": 1,
    }
    return Create(EVENT, event, namespace, name)
