"""Attempts: each stretch in which the controller tries to run the workload."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final

from conformance.history.tracks import Moment, Track
from conformance.suites.appwrapper.view.health import Health, Spell, spells
from conformance.suites.appwrapper.view.snapshots import RUNNING, Snapshot, Span
from vocabulary.clock import Micros
from vocabulary.history import Write

_position: Final = attrgetter("n")


class Attempt:
    """From entering Resuming (or Running) until another phase is entered.

    `left` is the version that shows that other phase, None where the AppWrapper stayed;
    `until_n` is the position from which the attempt is over for whatever reason: that
    version, a deletion of the AppWrapper, or the end of the history.
    """

    def __init__(
        self,
        *,
        number: int,
        spans: Sequence[Span],
        after: str,
        until_n: int,
        created_from_n: int,
        next_n: int,
        components: Sequence[Track],
        failed_creates: Sequence[Write],
        health: Sequence[Health],
    ) -> None:
        self.number = number
        self.spans = spans
        self.after = after
        """The phase before it: Suspended, Resetting, or empty."""
        self.begin: Snapshot = spans[0].begin
        self.left: Snapshot | None = spans[-1].end
        self.until_n = until_n
        self.components = [
            track for track in components if created_from_n <= track.created.n < next_n
        ]
        """The objects created for it, in order of creation."""
        self.failed_creates = [
            write for write in failed_creates if self.begin.n <= write.n < until_n
        ]
        self._health = health

    @property
    def left_to(self) -> str:
        """The phase that followed; empty where none was seen."""
        return "" if self.left is None else self.left.phase

    @cached_property
    def running(self) -> Snapshot | None:
        """The version that first shows Running."""
        for span in self.spans:
            if span.phase == RUNNING:
                return span.begin
        return None

    @cached_property
    def all_created(self) -> Snapshot | None:
        """The version that first shows Running, if what was refused was created after all."""
        made = {(track.kind, track.name) for track in self.components}
        refused = {(write.kind, write.name) for write in self.failed_creates}
        return self.running if refused <= made else None

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        return [snapshot for span in self.spans for snapshot in span.snapshots]

    @cached_property
    def first_start(self) -> Moment:
        """The earliest moment from which the attempt's grace periods can be meant to count: the
        first creation, or the beginning where nothing was created (A5)."""
        return self.components[0].created if self.components else self.begin

    @cached_property
    def last_start_us(self) -> Micros:
        """The latest time from which the attempt's grace periods can be meant to count."""
        starts = [self.begin.t]
        if self.running is not None:
            starts.append(self.running.t)
        starts += [track.created.t for track in self.components if track.created.n < self.until_n]
        return max(starts)

    @cached_property
    def health(self) -> list[Health]:
        """The states within the attempt; the first one is that at its beginning."""
        first = bisect_right(self._health, self.begin.n, key=_position)
        until = bisect_left(self._health, self.until_n, lo=first, key=_position)
        before = self._health[first - 1] if first else Health(self.begin.n, self.begin.t)
        return [before, *self._health[first:until]]

    def spells(self, holds: Callable[[Health], bool]) -> list[Spell]:
        """The stretches of the attempt in which a predicate of its health held."""
        return spells(self.health, holds, self.begin)
