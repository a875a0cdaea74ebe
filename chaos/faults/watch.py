"""Watches that lie: stale caches, late events, and events that are never seen."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from chaos.choice import KindName, named_kind
from chaos.fault import Fault, fault
from chaos.faults.api_error import ConnectionFault
from chaos.fields import Span
from chaos.ground import Break, Delay, Freeze, Ground, Rule, WatchEffect, WatchRule
from vocabulary.clock import SECOND, format_seconds
from vocabulary.history import OPERATOR


@dataclass(frozen=True, slots=True)
class _WatchFault(ConnectionFault):
    """A fault of the watches of an actor; an empty kind means all that the actor has."""

    actor: str = OPERATOR
    kind: KindName = ""

    @abstractmethod
    def effect(self) -> WatchEffect:
        """The effect on events that are hit."""

    def rule(self) -> Rule:
        kind = str(named_kind(self.kind)) if self.kind else ""
        return WatchRule(self.effect(), self.actor, kind)

    def _what(self) -> str:
        return f"{self.kind} events" if self.kind else "all watch events"


@fault("stale_reads")
class StaleReads(_WatchFault):
    """Freeze what informers see, also of a process that restarts meanwhile (time travel).

    Reads that go past the informers stay current: the API guarantees that.
    """

    def effect(self) -> WatchEffect:
        return Freeze()

    def describe(self) -> str:
        what = f"{self.kind} cache" if self.kind else "caches"
        return f"freeze the {what} of {self.actor or 'everybody'}"


@fault("delay_watch")
class DelayWatch(_WatchFault):
    """Deliver watch events late, each kind for itself, so kinds overtake one another."""

    by: Span = 5 * SECOND

    def effect(self) -> WatchEffect:
        return Delay(self.by)

    def describe(self) -> str:
        to = self.actor or "everybody"
        return f"deliver {self._what()} to {to} {format_seconds(self.by)} late"


@fault("break_watch")
class BreakWatch(_WatchFault):
    """End watches with 410 Gone; the informer lists again after a gap, and misses what passed."""

    gap: Span = 5 * SECOND

    leaves_nothing: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:  # noqa: ARG002  # it mends itself
        return ()

    def effect(self) -> WatchEffect:
        return Break(self.gap)

    def describe(self) -> str:
        of = self.actor or "everybody"
        return (
            f"break the watch for {self._what()} of {of} with 410 Gone, "
            f"relisted after {format_seconds(self.gap)}"
        )
