"""Two operators that act at once, with nothing that elects one of them.

A write of status is refused if the other operator has written since; a create knows no revision.
One that was under way while the other operator ended the attempt can be neither refused nor called
back, and what it makes is there when nothing may be: no controller can keep its promises then.
"""

from __future__ import annotations

from itertools import pairwise

from conformance.history.tracks import Track
from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.snapshots import RESUMING, RUNNING, Snapshot


def overtaken(aw: AppWrapperRun, since: int) -> list[Track]:
    """The components that one operator created when the other had just ended the attempt.

    Two operators have acted since that position.
    """
    operator = aw.history.operator
    found: list[Track] = []
    for track in aw.component_tracks:
        created = track.created
        end = _end_of_attempt(aw, created.n)
        if end is None or end.n < since or not operator.is_by(created.actor):
            continue
        by_other = operator.is_by(end.write.actor) and end.write.actor != created.actor
        if by_other and operator.looked_us(created.actor, created.t) <= end.t:
            found.append(track)
    return found


def _end_of_attempt(aw: AppWrapperRun, n: int) -> Snapshot | None:
    """The version that ended the last attempt before a position; None if one was under way."""
    end: Snapshot | None = None
    for earlier, later in pairwise(aw.spans):
        if later.begin.n >= n:
            break
        if later.phase in (RESUMING, RUNNING):
            end = None
        elif earlier.phase in (RESUMING, RUNNING):
            end = later.begin
    return end
