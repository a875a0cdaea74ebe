"""Reject histories that no cluster can have had.

The rules are those that every real history keeps:

- Times and versions are within the range of an API server's, and times never run backwards.
- The resourceVersion of a kind never runs backwards. Versions of different kinds are not compared:
  Kubernetes does not define their order, and an API server may keep some kinds in another etcd.
  An audit log has no version for a deletion, so only the versions of one object are compared.
- A request has one of the API's writing verbs, and a rejected one changes nothing.
- Metadata, conditions and timestamps have the types that the API server enforces.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from vocabulary.history import Write

MAX_US: Final = 1 << 56
"""A bound on times, in microseconds: more than two thousand years, so that a sum is a date, too."""
MAX_VERSION: Final = (1 << 63) - 1
MAX_CODE: Final = 599
VERBS: Final = frozenset({"", "create", "update", "patch", "delete", "deletecollection"})
"""Those of requests that write; empty for a write that was seen through a watch only."""

Time: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_US)]
"""A point in time, in microseconds, that can be written as a date."""
Version: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_VERSION)]
"""A resourceVersion, or a seed."""
Code: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_CODE)]
"""An HTTP status code; 0: none came."""


class _Owner(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[_Owner] | None = None


class _Condition(msgspec.Struct, rename="camel"):
    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Stored(msgspec.Struct):
    metadata: _Metadata | msgspec.UnsetType = msgspec.UNSET
    spec: dict[str, Any] | None = None
    status: _Status | None = None


class _Submitted(msgspec.Struct):
    """An object before admission, of which the API server has decoded the metadata."""

    metadata: _Metadata | msgspec.UnsetType = msgspec.UNSET


class Course:
    """The course of one history: what came before decides what can come next."""

    __slots__ = ("_is_log", "_t", "_versions")

    def __init__(self, *, is_log: bool) -> None:
        """`is_log`: the history was made of an audit log."""
        self._is_log = is_log
        self._t = 0
        self._versions: dict[str, int] = {}

    def require_time(self, t: int) -> None:
        """Raise ValueError if an entry's time is before that of the previous entry."""
        if t < self._t:
            raise ValueError(f"t is {t}, and {self._t} in the line before: time runs backwards")
        self._t = t

    def require_write(self, write: Write) -> None:
        """Raise ValueError if no API server can have served this request next."""
        if write.verb not in VERBS:
            known = ", ".join(sorted(VERBS - {""}))
            raise ValueError(f"verb is {write.verb!r}, which writes nothing; verbs are {known}")
        if write.event and write.code >= 400:
            raise ValueError(
                f"code is {write.code}, and event {write.event}: a rejected request stores nothing"
            )
        if write.rv:
            whose = write.uid if self._is_log else write.kind
            before = self._versions.get(whose, 0)
            if write.rv < before:
                raise ValueError(
                    f"rv is {write.rv}, and {before} in an earlier line of {whose}: "
                    "resourceVersions run backwards"
                )
            self._versions[whose] = write.rv
        if write.object is not None:
            _require("object", write.object, _Stored)
        if write.submitted is not None and write.code < 400:
            _require("submitted", write.submitted, _Submitted)


def _require(field: str, value: Any, type_: type[msgspec.Struct]) -> None:
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise ValueError(f"{field}: {error}") from error
