"""Events for users. Each is named after its contents, so repeating it changes nothing.

The name is a digest of the AppWrapper's uid, the attempt and the reason: a restarted controller,
or a second one, that sends the same Event again gets AlreadyExists. So there is no flood even if
sent Events are forgotten; remembering them saves the request.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from reference_controller.appwrapper.names import APPWRAPPER
from reference_controller.appwrapper.status import attempt_of
from reference_controller.appwrapper.steps import Note
from vocabulary.canonical import digest
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.kinds import EVENT
from vocabulary.objects import Object, meta, name_of, namespace_of, uid_of
from vocabulary.requests import Create

COMPONENT: Final = "appwrappers"
_MESSAGE_MAX: Final = 1024
_PREFIX_MAX: Final = 200


Identity: TypeAlias = tuple[str, int, str, str]
"""The identity of an Event: the AppWrapper's uid, the attempt, reason and message."""


def identity_of(aw: Object, note: Note) -> Identity:
    """Events of one identity have one name."""
    return uid_of(aw), attempt_of(aw), note.reason, note.message.partition(":")[0]


def event_for(aw: Object, note: Note, now_us: Micros) -> Create:
    """The creation of the core/v1 Event that tells of a step."""
    name = f"{name_of(aw)[:_PREFIX_MAX]}.{digest(list(identity_of(aw, note)))[:16]}"
    namespace = namespace_of(aw)
    event: Object = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {
            "apiVersion": APPWRAPPER.api_version,
            "kind": APPWRAPPER.kind,
            "name": name_of(aw),
            "namespace": namespace,
            "uid": uid_of(aw),
            "resourceVersion": str(meta(aw).get("resourceVersion", "")),
        },
        "type": "Warning" if note.is_warning else "Normal",
        "reason": note.reason,
        "message": note.message[:_MESSAGE_MAX],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": to_rfc3339(now_us),
        "lastTimestamp": to_rfc3339(now_us),
        "count": 1,
    }
    return Create(EVENT, event, namespace, name)
