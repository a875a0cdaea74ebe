"""The life of each object in a history: its snapshots in order, and whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vocabulary.clock import Micros
from vocabulary.history import Entry, Write
from vocabulary.kinds import APPWRAPPER, NODE, POD
from vocabulary.objects import Object, controller_of, labels_of

APPWRAPPER_LABEL: Final = "workload.codeflare.dev/appwrapper"
_BACKGROUND_KINDS: Final = frozenset(("Event", "Lease", "ControllerRevision", "Namespace"))
"""Kinds that would fill the picture and explain nothing."""


class Snapshot(NamedTuple):
    """An object from one entry on; None when it was gone."""

    n: int
    t: Micros
    object: Object | None


@dataclass(slots=True)
class Track:
    """One object (one uid) from its first snapshot to its last."""

    kind: str
    namespace: str
    name: str
    uid: str
    snapshots: list[Snapshot] = field(default_factory=list)
    touches: list[Write] = field(default_factory=list)
    """Every request about it, those without effect included."""

    @property
    def first(self) -> Object:
        """The first snapshot that has an object."""
        return next((s.object for s in self.snapshots if s.object is not None), {})

    @property
    def label(self) -> str:
        return f"{self.kind.partition('.')[0].lower()}/{self.name}"

    @property
    def is_pod(self) -> bool:
        return self.kind == str(POD)

    @property
    def is_node(self) -> bool:
        return self.kind == str(NODE)

    @property
    def is_subject(self) -> bool:
        """True if it is a custom resource that other objects may belong to."""
        return self.kind == str(APPWRAPPER)

    def belongs_to(self, subject: Track) -> bool:
        """True if it is the subject's component (by its owner) or pod (by its label)."""
        if self.namespace != subject.namespace or self is subject:
            return False
        if self.is_pod and labels_of(self.first).get(APPWRAPPER_LABEL) == subject.name:
            return True
        owner = controller_of(self.first)
        return owner is not None and owner.get("uid") == subject.uid


def tracks_of(entries: Sequence[Entry]) -> list[Track]:
    """The objects of a history in order of their first appearance."""
    tracks: list[Track] = []
    current: dict[tuple[str, str, str], Track] = {}
    for entry in entries:
        if not isinstance(entry, Write) or entry.kind in _BACKGROUND_KINDS or not entry.name:
            continue
        kind = entry.kind.partition(".")[0]
        if kind in _BACKGROUND_KINDS:
            continue
        key = (entry.kind, entry.namespace, entry.name)
        track = current.get(key)
        if entry.event and (track is None or (entry.uid and track.uid != entry.uid)):
            track = Track(entry.kind, entry.namespace, entry.name, entry.uid)
            tracks.append(track)
            current[key] = track
        if track is None:
            continue
        track.touches.append(entry)
        if entry.event:
            stored = None if entry.event == "DELETED" else entry.object
            track.snapshots.append(Snapshot(entry.n, entry.t, stored))
    return tracks
