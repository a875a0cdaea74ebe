"""The effect of a request on the store, from its response, as the API server would report it to a
watch.

The rules are those of Kubernetes' generic registry. A deletion that finds finalizers or a grace
period left only marks the object; the update that takes the last finalizer off a marked object
removes it, and its response has the version before; a response that is a bare Status means that
the object is gone. The garbage collector asks for metadata alone, and gets no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.audit_log.events import Event
from conformance.stored_objects.recorded import recorded
from vocabulary.history import Event as Change
from vocabulary.objects import is_terminating, meta, uid_of

_NOT_OF_THE_OBJECT: Final = frozenset({"eviction", "scale", "token"})
"""Subresources whose response is another object than the one that they change."""


PARTIAL: Final = "PartialObjectMetadata"
"""The kind of a response to a client that asked for metadata alone."""


class Effect(NamedTuple):
    """The effect on one object; `rv` is 0 if the response has none."""

    change: Change
    object: dict[str, Any]
    rv: int
    uid: str


def effects_of(event: Event, stored: Mapping[str, dict[str, Any]]) -> Iterator[Effect]:
    """The effects of a request that succeeded; none if nothing of them can be seen.

    `stored` has the last version of each object, by its uid and by its `name_key`.
    """
    subresource = event.reference.subresource
    if event.code >= 400 or subresource in _NOT_OF_THE_OBJECT:
        return
    response = event.response_object or {}
    if subresource == "binding":
        yield from _bound(event, stored)
    elif event.verb == "deletecollection":
        for item in response.get("items") or ():
            yield _deleted(item)
    elif event.verb == "delete":
        yield from _deletion(event, response, stored)
    elif is_partial(response) and removes(event):
        yield Effect("DELETED", recorded(_whole(response, stored) or response), 0, uid_of(response))
    elif version_of(response) and (whole := _whole(response, stored)) is not None:
        yield _effect("ADDED" if event.code == 201 else _updated(event), whole)


def removes(event: Event) -> bool:
    """True if an update took the last finalizer off an object that was marked for deletion."""
    response = event.response_object or {}
    is_update = event.verb in ("update", "patch") and event.code < 400
    return is_update and is_terminating(response) and _nothing_holds(response)


def is_partial(obj: Mapping[str, Any]) -> bool:
    """True if a response has the metadata of an object alone."""
    return obj.get("kind") == PARTIAL


def _whole(response: dict[str, Any], stored: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The object of a response, of partial ones with the rest as it was; None if that is not
    known."""
    if not is_partial(response):
        return response
    last = stored.get(uid_of(response))
    return None if last is None else {**last, "metadata": response["metadata"]}


def is_blind(event: Event) -> bool:
    """True if a request changed an object in a way that its event does not show."""
    if event.code >= 400 or event.reference.subresource == "token":
        return False
    if event.reference.subresource == "binding":
        return event.request_object is None
    if event.reference.subresource in _NOT_OF_THE_OBJECT:
        return True
    response = event.response_object
    if response is None:
        return True
    return event.verb == "deletecollection" and "items" not in response


def name_key(event: Event) -> str:
    """The key by which `stored` finds the object that a request names."""
    found = event.reference
    return f"{event.resource}/{found.namespace}/{found.name}"


def _effect(change: Change, obj: dict[str, Any]) -> Effect:
    return Effect(change, recorded(obj), version_of(obj), uid_of(obj))


def _updated(event: Event) -> Change:
    return "DELETED" if removes(event) else "MODIFIED"


def _deleted(obj: dict[str, Any]) -> Effect:
    return _effect("DELETED" if _nothing_holds(obj) else "MODIFIED", obj)


def _nothing_holds(obj: dict[str, Any]) -> bool:
    found = meta(obj)
    return not found.get("finalizers") and not found.get("deletionGracePeriodSeconds")


def _deletion(
    event: Event, response: dict[str, Any], stored: Mapping[str, dict[str, Any]]
) -> Iterator[Effect]:
    if version_of(response) and uid_of(response):
        yield _deleted(response)
        return
    uid = str((response.get("details") or {}).get("uid", ""))
    last = stored.get(uid) or stored.get(name_key(event))
    if response.get("kind") == "Status" and last is not None:
        yield Effect("DELETED", last, 0, uid_of(last))


def _bound(event: Event, stored: Mapping[str, dict[str, Any]]) -> Iterator[Effect]:
    """A binding does one thing: the pod has a node, and a condition that says so."""
    last = stored.get(name_key(event))
    node = ((event.request_object or {}).get("target") or {}).get("name")
    if last is None or not node:
        return
    status = last.get("status") or {}
    others = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True"}
    bound = {
        **last,
        "spec": {**last.get("spec", {}), "nodeName": node},
        "status": {**status, "conditions": [*others, scheduled]},
    }
    yield Effect("MODIFIED", bound, 0, uid_of(last))


def version_of(obj: Mapping[str, Any]) -> int:
    """The object's resourceVersion; 0 if it has none."""
    text = str(meta(obj).get("resourceVersion", ""))
    return int(text) if text.isdigit() else 0
