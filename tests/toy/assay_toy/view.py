"""A history as claims about Crews see it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from conformance import Claim, History, Judging, Obligation, OperatorView, Track

from .api import CREW


class CrewRun:
    """One Crew's way through a history."""

    def __init__(self, history: History, operator: OperatorView, track: Track) -> None:
        self.history = history
        self.operator = operator
        self.track = track
        self.answers: dict[tuple[Any, ...], Any] = {}

    def __str__(self) -> str:
        return f"crew/{self.track.name}"

    @property
    def pods(self) -> Sequence[Track]:
        return [track for track in self.history.descendants(self.track.uid) if track.kind == "Pod"]


class CrewView:
    """The Crews of a history."""

    def __init__(self, history: History) -> None:
        self.history = history

    @cached_property
    def subjects(self) -> tuple[CrewRun, ...]:
        operator = self.history.operators["toy"]
        tracks = self.history.by_kind.get(str(CREW), ())
        return tuple(CrewRun(self.history, operator, track) for track in tracks)

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        """No decision leaves a violation undecided."""
        del claim, broken
        return None

    def close(self) -> None:
        vars(self).clear()


JUDGING: Final = Judging(CrewView, CrewRun)
