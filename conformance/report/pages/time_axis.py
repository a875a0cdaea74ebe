"""The horizontal axis of a failure page: where a point in time stands, idle gaps folded.

A run is a few bursts of events, milliseconds apart, between waits of minutes. On a linear axis
every burst would be one pixel. So each gap between two moments gets the logarithm of its length
as width, and a gap longer than `FOLD_US` gets a fixed width and is marked as folded.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from vocabulary.clock import MILLISECOND, SECOND, Micros

FOLD_US: Final = 10 * SECOND
_FOLD_WIDTH: Final = 15.0
_EDGE_WIDTH: Final = 6.0
"""Room left and right of the first and the last moment, so that marks there are whole."""
_TICK_DISTANCE: Final = 9.0
"""Percent of the axis between two labels, at least."""


class Fold(NamedTuple):
    """An idle gap that is drawn narrower than it was."""

    left: float
    right: float
    span_us: Micros


class TimeAxis:
    """Maps times (µs since the run began) to percent of the width."""

    def __init__(self, times_us: Iterable[Micros]) -> None:
        self._times = sorted({0, *times_us})
        places = [_EDGE_WIDTH]
        for earlier, later in zip(self._times, self._times[1:], strict=False):
            places.append(places[-1] + _width(later - earlier))
        scale = 100 / (places[-1] + _EDGE_WIDTH)
        self._places = [place * scale for place in places]

    def x(self, at_us: Micros) -> float:
        """Where a time stands, in percent with two decimals; between two moments by proportion.

        What lies after the last moment stands at the right edge.
        """
        index = bisect_right(self._times, at_us) - 1
        if index < 0:
            return 0.0
        here = self._places[index]
        if index + 1 == len(self._times):
            return 100.0 if at_us > self._times[index] else round(here, 2)
        gap = self._times[index + 1] - self._times[index]
        room = self._places[index + 1] - here
        return round(here + room * (at_us - self._times[index]) / gap, 2)

    @property
    def folds(self) -> list[Fold]:
        """The folded gaps, in order."""
        return [
            Fold(round(self._places[i], 2), round(self._places[i + 1], 2), later - earlier)
            for i, (earlier, later) in enumerate(zip(self._times, self._times[1:], strict=False))
            if later - earlier > FOLD_US
        ]

    @property
    def ticks(self) -> list[tuple[float, Micros]]:
        """Where to write which times: first moments after a gap, not closer than readable."""
        by_gap = sorted(
            range(len(self._times)),
            key=lambda i: (-(self._times[i] - self._times[i - 1]) if i else -math.inf, i),
        )
        chosen: list[float] = []
        ticks: list[tuple[float, Micros]] = []
        for index in by_gap:
            place = self._places[index]
            if all(abs(place - other) >= _TICK_DISTANCE for other in chosen):
                chosen.append(place)
                ticks.append((round(place, 2), self._times[index]))
        return sorted(ticks)


def _width(gap_us: Micros) -> float:
    if gap_us > FOLD_US:
        return _FOLD_WIDTH
    return 1.0 + math.log2(1 + gap_us / MILLISECOND)
