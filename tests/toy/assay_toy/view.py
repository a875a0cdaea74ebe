"""A history as claims about Crews see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance import Judging, ObjectRun, ObjectView, Track

from .api import CREW


class CrewRun(ObjectRun):
    """One Crew's way through a history."""

    @property
    def pods(self) -> Sequence[Track]:
        return [track for track in self.history.descendants(self.track.uid) if track.kind == "Pod"]


class CrewView(ObjectView[CrewRun]):
    """The Crews of a history."""

    role = "toy"
    kind = CREW

    def run_of(self, track: Track) -> CrewRun:
        return CrewRun(self, track)


JUDGING: Final = Judging(CrewView, CrewRun)
