"""Permissions that requests have used, from an audit log: to compare with those granted.

An audit log has the verb and the resource of each request as the authorizer saw them. Unused read
permissions can be determined only if the log's policy records reads.
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
