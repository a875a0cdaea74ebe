"""The parts of a drawn lane: bands (states), marks (moments), bars (amounts).

Places are percent of the axis' width. The stylesheet gives each tone a colour and a texture, so
that the page reads without colours as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from conformance.history.lanes import State, Tone
from conformance.report.pages.time_axis import TimeAxis
from vocabulary.clock import Micros

Shape: TypeAlias = Literal["tick", "dot", "diamond", "cross", "down", "up"]


MAX_BANDS: Final = 120
"""More states in one lane cannot be distinguished: the narrowest are left out."""


class Band(NamedTuple):
    """A state that lasted from `left` to `right`."""

    left: float
    width: float
    tone: Tone
    text: str
    height: float = 1.0


class Mark(NamedTuple):
    """A moment; `n` is the entry that it belongs to."""

    x: float
    shape: Shape
    tone: Tone
    text: str
    n: int


class DrawnLane(NamedTuple):
    """One line of the picture."""

    label: str
    bands: Sequence[Band] = ()
    marks: Sequence[Mark] = ()
    tall: bool = False
    objects: frozenset[str] = frozenset()
    """The uids of the objects that it shows."""


class LaneGroup(NamedTuple):
    """Lanes under one heading."""

    title: str
    lanes: Sequence[DrawnLane]
    note: str = ""
    """The group's omissions, with reasons."""


def bands(states: Iterable[State], axis: TimeAxis, end_us: Micros) -> list[Band]:
    """Bands from a sequence of states; equal neighbours become one, empty spans nothing."""
    merged: list[State] = []
    for state in states:
        if merged and merged[-1][1:] == state[1:]:
            continue
        while merged and merged[-1].at_us == state.at_us:
            merged.pop()
        if not merged or merged[-1][1:] != state[1:]:
            merged.append(state)
    ends = [*(state.at_us for state in merged[1:]), end_us][: len(merged)]
    found = []
    for state, until_us in zip(merged, ends, strict=True):
        left, right = axis.x(state.at_us), axis.x(until_us)
        if state.tone is not None and right > left:
            width = round(right - left, 2)
            found.append(Band(left, width, state.tone, state.text, round(state.height, 3)))
    if len(found) > MAX_BANDS:
        narrowest = sorted(found, key=lambda band: band.width)[len(found) - MAX_BANDS].width
        found = [band for band in found if band.width >= narrowest][:MAX_BANDS]
    return found
