"""Events by their other API: `events.k8s.io/v1` shows those of `v1` under other names.

A request is rewritten to one for `v1`, and the response back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import msgspec

from clusters.simulated.asked_for import asked_for
from clusters.simulated.builtin.conforming import misfit
from clusters.simulated.builtin.events import validate_changed, validate_new
from clusters.simulated.field_errors import invalid
from clusters.simulated.request_checks import unreadable
from clusters.simulated.serve.requests import Call, decode
from clusters.simulated.strategy import Strategy
from vocabulary import requests as rq
from vocabulary.kinds import EVENT, Kind
from vocabulary.objects import Object, meta

GROUP: Final = "events.k8s.io"
VERSION: Final = "v1"
_KIND: Final = Kind(GROUP, VERSION, EVENT.kind, EVENT.plural)
_PREFIX: Final = f"/apis/{GROUP}/{VERSION}/"
_STORED: Final[Mapping[str, str]] = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""The names of `v1` by those of `events.k8s.io/v1`; all other fields have the same."""
_SHOWN: Final = {stored: shown for shown, stored in _STORED.items()}

Back: TypeAlias = Callable[[Any], Any]
"""Turns what the API of `v1` responds into what was asked for."""


def as_core(call: Call) -> tuple[Call, Back]:
    """The same request of `v1`, and how to turn the response back; any other request as it is."""
    if not call.path.startswith(_PREFIX):
        return call, lambda body: body
    query = dict(call.query)
    if "fieldSelector" in query:
        query["fieldSelector"] = _selector(query["fieldSelector"])
    body = call.body
    if body:
        decoded = decode(call)
        if isinstance(decoded, dict):
            body = msgspec.json.encode(_stored(decoded))
    path = "/api/v1/" + call.path.removeprefix(_PREFIX)
    return replace(call, path=path, query=query, body=body, of_events_group=True), shown


def require_valid(
    request: rq.Create | rq.Update | rq.Patch, strategy: Strategy, old: Object | None
) -> None:
    """Refuse an Event that is valid in `v1` only (422), or in no API (400)."""
    if not isinstance(request, rq.Patch):
        wanted: Object = request.object
    elif old is None:
        return
    else:
        wanted = asked_for(request, old, strategy)
    because = misfit(_renamed(wanted), _KIND, old)
    if because:
        raise unreadable(shown(wanted), VERSION, _KIND.kind, _KIND, because, request)
    named = _in_namespace(wanted, request.namespace)
    if isinstance(request, rq.Create) or old is None:
        errors = validate_new(named)
    else:
        errors = validate_changed(named, old)
    if errors:
        raise invalid("Event", request.name, errors)


def _in_namespace(event: Object, namespace: str) -> Object:
    return {**event, "metadata": {"namespace": namespace, **meta(event)}}


def _selector(text: str) -> str:
    terms = []
    for term in text.split(","):
        field, dot, rest = term.partition(".")
        name, operator, value = field.partition("=")
        terms.append(_STORED.get(name, name) + operator + value + dot + rest)
    return ",".join(terms)


def _stored(body: dict[str, Any]) -> dict[str, Any]:
    if body.get("kind") == "DeleteOptions":
        return body
    found = {_STORED.get(name, name): value for name, value in body.items()}
    return {**found, "apiVersion": "v1"} if "apiVersion" in found else found


def shown(body: Any) -> Any:
    """A response of `v1` in the names of `events.k8s.io/v1`; what is no event as it is."""
    if not isinstance(body, dict):
        return body
    api_version = f"{GROUP}/{VERSION}"
    if body.get("kind") == "EventList":
        items = [_renamed(item) for item in body["items"]]
        return {**body, "apiVersion": api_version, "items": items}
    if body.get("kind") == "Event":
        return {**_renamed(body), "apiVersion": api_version}
    return body  # a Status, a table


def _renamed(event: Mapping[str, Any]) -> dict[str, Any]:
    return {_SHOWN.get(name, name): value for name, value in event.items()}
