"""The versions of an AppWrapper, read once: phase, conditions, retry counter, suspend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from conformance.suites.appwrapper.view.profile import Profile, dig
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import Object, meta

SUSPENDED: Final = "Suspended"
RESUMING: Final = "Resuming"
RUNNING: Final = "Running"
RESETTING: Final = "Resetting"
SUSPENDING: Final = "Suspending"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
TERMINATING: Final = "Terminating"

QUOTA_RESERVED: Final = "QuotaReserved"
RESOURCES_DEPLOYED: Final = "ResourcesDeployed"
PODS_READY: Final = "PodsReady"
UNHEALTHY: Final = "Unhealthy"

_NOTHING: Final[Mapping[str, Object]] = {}


class Snapshot:
    """One version of an AppWrapper. `n` and `t` are those of the write that made it."""

    __slots__ = (
        "conditions",
        "deleting",
        "has_finalizer",
        "n",
        "phase",
        "resets",
        "suspended",
        "t",
        "write",
    )

    def __init__(self, write: Write, profile: Profile) -> None:
        obj = write.object or {}
        self.n = write.n
        self.t: Micros = write.t
        self.write = write
        self.phase = str(dig(obj, profile.phase) or "")
        self.resets: Any = dig(obj, profile.resets) or 0
        self.suspended = bool(dig(obj, profile.suspend))
        metadata = meta(obj)
        self.deleting = "deletionTimestamp" in metadata
        self.has_finalizer = profile.finalizer in (metadata.get("finalizers") or ())
        self.conditions = {
            entry["type"]: entry for entry in dig(obj, profile.conditions) or ()
        } or _NOTHING

    @property
    def object(self) -> Object:
        return self.write.object or {}

    def status_of(self, condition: str) -> str:
        """`True`, `False`, `Unknown`; empty where the condition is not shown."""
        entry = self.conditions.get(condition)
        return "" if entry is None else str(entry.get("status", ""))

    def shows(self, condition: str) -> bool:
        """True if the condition is True."""
        entry = self.conditions.get(condition)
        return entry is not None and entry.get("status") == "True"


class Edge:
    """A condition that turned from True to something else, or to True, at `n`, `t`.

    `phase` is the phase shown after it; `removed` marks an AppWrapper that ceased to exist
    while the condition was still True.
    """

    __slots__ = ("condition", "n", "phase", "removed", "status", "t", "write")

    def __init__(self, condition: str, status: str, write: Write, phase: str, removed: bool):
        self.condition = condition
        self.status = status
        self.n = write.n
        self.t = write.t
        self.write = write
        self.phase = phase
        self.removed = removed

    def __str__(self) -> str:
        if self.removed:
            return f"removed while {self.condition} was True"
        before = "False" if self.status == "True" else "True"
        return f"{self.condition} turned {before} → {self.status or 'absent'}"


def edges_of(condition: str, snapshots: Sequence[Snapshot], removed: Write | None) -> list[Edge]:
    """All turns of a condition, in order; `removed` is the removal, if the history shows it."""
    edges: list[Edge] = []
    was_true = False
    for snapshot in snapshots:
        status = snapshot.status_of(condition)
        is_true = status == "True"
        if is_true != was_true:
            edges.append(Edge(condition, status, snapshot.write, snapshot.phase, False))
            was_true = is_true
    if was_true and removed is not None:
        edges.append(Edge(condition, "", removed, snapshots[-1].phase, True))
    return edges


class Change(NamedTuple):
    """A version that shows another phase or other conditions than the one before it."""

    at: Snapshot
    of: frozenset[str]
    """The types of the conditions, and `phase`."""


def changes_of(snapshots: Iterable[Snapshot]) -> list[Change]:
    """All of them, the first version among them."""
    changes: list[Change] = []
    before: dict[str, str] = {}
    for snapshot in snapshots:
        shown = {name: snapshot.status_of(name) for name in snapshot.conditions}
        shown["phase"] = snapshot.phase
        changed = frozenset(name for name, _ in shown.items() ^ before.items())
        if changed:
            changes.append(Change(snapshot, changed))
        before = shown
    return changes


class Span:
    """A phase from the version that first shows it to the one that shows another.

    `end` is that next version, or None where the AppWrapper stayed in the phase until it
    was removed or until the history ends.
    """

    __slots__ = ("begin", "end", "phase", "snapshots")

    def __init__(self, begin: Snapshot) -> None:
        self.phase = begin.phase
        self.begin = begin
        self.end: Snapshot | None = None
        self.snapshots = [begin]

    @property
    def next_phase(self) -> str:
        """The phase that followed; empty where none was seen."""
        return "" if self.end is None else self.end.phase

    @property
    def last(self) -> Snapshot:
        """The last version within the span."""
        return self.snapshots[-1]


def spans_of(snapshots: Iterable[Snapshot]) -> list[Span]:
    """The phases that an AppWrapper went through, in order."""
    spans: list[Span] = []
    for snapshot in snapshots:
        if spans and spans[-1].phase == snapshot.phase:
            spans[-1].snapshots.append(snapshot)
        else:
            if spans:
                spans[-1].end = snapshot
            spans.append(Span(snapshot))
    return spans
