"""Reduce a recorded run to the view of a client that only watched, with interruptions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from vocabulary.history import Capabilities, Entry, Event, Header, Write

Recording: TypeAlias = tuple[Header, Sequence[Entry]]
GAPS = 3
"""How often the watches of one kind are cut in a run, at the most."""


def watched(recording: Recording, *, complete: bool) -> Recording:
    """Every version, and nothing of the requests that made them; `complete` if that is known."""
    header, entries = recording
    return _header(header, complete=complete), _numbered(_seen(entries))


def thinned(recording: Recording, share: float, rng: Random) -> Recording:
    """About that share of the versions lost, deletions seen; as a rare poll would have it."""
    header, entries = recording
    kept = [
        entry
        for entry in _seen(entries)
        if not isinstance(entry, Write) or entry.event == "DELETED" or rng.random() >= share
    ]
    return _header(header), _numbered(kept)


def interrupted(recording: Recording, rng: Random) -> Recording:
    """The watches of each kind cut now and then, and what was missed listed afterwards.

    Of each object the list shows the last version only; that one was deleted meanwhile shows
    in its absence, so its deletion seems to come with the list.
    """
    header, entries = recording
    seen = _seen(entries)
    kinds = sorted({entry.kind for entry in seen if isinstance(entry, Write)})
    for kind in kinds:
        for _ in range(rng.randrange(GAPS + 1)):
            begin, end = sorted((rng.randrange(len(seen)), rng.randrange(len(seen))))
            seen = _without(kind, seen, begin, end)
    return _header(header), _numbered(seen)


def from_the_middle(recording: Recording, rng: Random) -> Recording:
    """Begun while all was going on: what was there is listed, as of the time that this is done."""
    header, entries = recording
    first = rng.randrange(1, len(entries))
    standing: dict[str, Write] = {}
    for entry in _seen(entries[:first]):
        if isinstance(entry, Write) and entry.event == "DELETED":
            standing.pop(entry.uid, None)
        elif isinstance(entry, Write):
            standing[entry.uid] = entry
    listed = sorted(standing.values(), key=lambda write: write.n)
    began_us = entries[first].t
    return _header(header), _numbered(
        [*(replace(write, t=began_us) for write in listed), *_seen(entries[first:])]
    )


def _header(header: Header, *, complete: bool = False) -> Header:
    capabilities = Capabilities(
        writers=False, options=False, exact_times=False, versions=True if complete else UNSET
    )
    return replace(header, capabilities=capabilities)


def _seen(entries: Sequence[Entry]) -> list[Entry]:
    """The watch events of each entry; none for a request without effect."""
    return [
        replace(entry, actor="", verb="", subresource="", options={}, code=200, submitted=None)
        if isinstance(entry, Write)
        else entry
        for entry in entries
        if not isinstance(entry, Write) or (entry.event and entry.object is not None)
    ]


def _without(kind: str, entries: list[Entry], begin: int, end: int) -> list[Entry]:
    """The entries, a gap in the watch of one kind between two of them."""
    missed = [
        entry for entry in entries[begin:end] if isinstance(entry, Write) and entry.kind == kind
    ]
    last = {write.uid: write for write in missed}
    listed = {write.n for write in last.values() if write.event != "DELETED"}
    unknown = {write.uid for write in missed if write.event == "ADDED"}
    gone = [
        replace(write, t=entries[end].t)
        for write in last.values()
        if write.event == "DELETED" and write.uid not in unknown
    ]
    lost = {write.n for write in missed} - listed
    kept = [entry for entry in entries[begin:end] if entry.n not in lost]
    return [*entries[:begin], *kept, *gone, *entries[end:]]


def _numbered(entries: Sequence[Entry]) -> list[Entry]:
    """Positions anew, and each object's first version as its creation."""
    known: set[str] = set()
    numbered: list[Entry] = []
    for entry in entries:
        changes: dict[str, object] = {"n": len(numbered)}
        if isinstance(entry, Write):
            if entry.event == "DELETED" and entry.uid not in known:
                continue
            event: Event = "MODIFIED" if entry.uid in known else "ADDED"
            changes["event"] = "DELETED" if entry.event == "DELETED" else event
            known.add(entry.uid)
        numbered.append(replace(entry, **changes))
    return numbered
