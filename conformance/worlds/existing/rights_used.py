"""Which rights requests have used, read off an audit log: what was granted can be held against it.

An audit log names the verb and the resource of each request as the authorizer was asked for
them. Only of a log whose policy records reads can one say that a right to read was not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from conformance.worlds.existing.rights import Right

DECISION: Final = "authorization.k8s.io/decision"
"""The annotation by which an audit event says whether the request was allowed."""


def used(events: Iterable[Mapping[str, Any]], username: str) -> Counter[Right]:
    """How often the user made use of each right."""
    return _rights(events, username, "allow")


def refused(events: Iterable[Mapping[str, Any]], username: str) -> Counter[Right]:
    """How often the user was refused for want of each right."""
    return _rights(events, username, "forbid")


def _rights(events: Iterable[Mapping[str, Any]], username: str, decision: str) -> Counter[Right]:
    return Counter(
        _right(event)
        for event in events
        if event["user"]["username"] == username
        and (event.get("annotations") or {}).get(DECISION) == decision
        and (event.get("objectRef") or {}).get("resource")
    )


def _right(event: Mapping[str, Any]) -> Right:
    reference = event["objectRef"]
    resource = "/".join(filter(None, (reference["resource"], reference.get("subresource"))))
    return Right(reference.get("apiGroup", ""), resource, event["verb"])
