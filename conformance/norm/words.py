"""How an explanation names moments, spans of time and objects: always the same way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from functools import lru_cache

from conformance.history.tracks import Moment, Track
from vocabulary.clock import Micros, format_seconds
from vocabulary.history import Write


def when(moment: Moment) -> str:
    """`t=12.001s rv117`; without the resourceVersion where the entry has none."""
    text = f"t={span(moment.t)}"
    write = moment if isinstance(moment, Write) else getattr(moment, "write", None)
    version = write.rv if isinstance(write, Write) else 0
    return f"{text} rv{version}" if version else text


@lru_cache(maxsize=4096)
def span(span_us: Micros) -> str:
    """`90s`, `0.25s`."""
    return format_seconds(span_us)


def listed(things: Iterable[object]) -> str:
    """`a, b and c`."""
    words = [str(thing) for thing in things]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def state_of(track: Track, n: int) -> str:
    """`pod/a-0 (Running)`, `job/train (terminating)`: an object as it is stored after n."""
    obj = track.at(n)
    notes: list[str] = []
    if track.kind == "Pod":
        notes.append(str((obj.get("status") or {}).get("phase", "Pending")))
    if "deletionTimestamp" in (obj.get("metadata") or {}):
        notes.append("terminating")
    return f"{track} ({', '.join(notes)})" if notes else str(track)


def states_of(tracks: Sequence[Track], n: int, limit: int = 4) -> str:
    """Several of them in one phrase; the rest is counted."""
    shown: list[str] = [state_of(track, n) for track in tracks[:limit]]
    if len(tracks) > limit:
        shown.append(f"{len(tracks) - limit} more")
    return listed(shown)


def were(things: Sized) -> str:
    """`was` of one, `were` of several."""
    return "was" if len(things) == 1 else "were"
