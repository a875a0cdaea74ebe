"""Lanes: what an object was like over time, as failure pages draw it.

A suite yields lanes for an object of its kinds (`Suite.lanes`). Tones name a meaning, never a
colour: the page gives each a colour and a texture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from conformance.history.tracks import Track
from vocabulary.clock import Micros
from vocabulary.objects import Object

Tone: TypeAlias = Literal["idle", "pending", "good", "done", "warn", "bad", "ending", "off"]


_LOWEST_BAR: Final = 0.4


class State(NamedTuple):
    """From this time on, this state; tone None: nothing is drawn."""

    at_us: Micros
    tone: Tone | None
    text: str
    height: float = 1.0
    """Share of the lane's height, from below; for amounts."""


class Lane(NamedTuple):
    """One line of the picture: states over time, in layers; a later one covers an earlier one."""

    label: str
    layers: Sequence[Sequence[State]]
    tall: bool = False
    objects: Sequence[Track] = ()
    """Objects that the lane shows: requests about them are its ticks, and they have no lane of
    their own."""


class Sheet(NamedTuple):
    """Objects as they were at one moment, as a table."""

    title: str
    lines: Sequence[str]
    """Sentences above the table."""
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def bar_height(amount: int, most: int) -> float:
    """The height of a bar; the lowest has room for its text."""
    return _LOWEST_BAR + (1 - _LOWEST_BAR) * amount / max(most, 1)


def snapshots(track: Track) -> Iterator[tuple[Micros, Object | None]]:
    """The object from each of these times on; None when it is gone."""
    for version in track.versions:
        yield version.t, version.object
    if track.removed is not None:
        yield track.removed.t, None


def lane_of(label: str, track: Track, state: Callable[[Object], tuple[Tone | None, str]]) -> Lane:
    """A lane of one layer: the tone and the text that each version of an object has."""
    states = [
        State(at_us, *((None, "") if obj is None else state(obj)))
        for at_us, obj in snapshots(track)
    ]
    return Lane(label, [states])
