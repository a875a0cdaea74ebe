"""Two operators that act at once, with nothing that elects one of them.

A write of status is refused if the other operator has written since; a create knows no revision.
One that is on its way while the other operator ends the attempt cannot be called back, and what
it makes is there when nothing may be: no controller can keep its promises then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from conformance.history_view.snapshots import RESUMING, Snapshot
from conformance.history_view.tracks import Track
from vocabulary.history import Fault

if TYPE_CHECKING:
    from conformance.history_view.appwrapper import AppWrapperRun

SECOND_OPERATOR: Final = "double_operator"
"""The fault that starts one beside the first; those that wait for a Lease do not come of it."""


def doubled_since(faults: Sequence[Fault]) -> int | None:
    """The position from which on two operators acted at once; None if they never did."""
    starts = (
        fault.n for fault in faults if fault.action == "injected" and SECOND_OPERATOR in fault.fault
    )
    return next(starts, None)


def overtaken_create(aw: AppWrapperRun, since: int) -> Track | None:
    """The first component that one operator created after the other had ended the attempt.

    Two operators have acted since that position.
    """
    is_operator = aw.history.profile.is_operator
    for track in aw.component_tracks:
        created = track.created
        if created.n < since or not is_operator(created.actor):
            continue
        latest = _latest_status(aw, created.n)
        if latest is None or latest.phase == RESUMING:
            continue
        if is_operator(latest.write.actor) and latest.write.actor != created.actor:
            return track
    return None


def _latest_status(aw: AppWrapperRun, n: int) -> Snapshot | None:
    """The last version before a position that changed how the AppWrapper is said to fare."""
    before = [snapshot for snapshot in aw.snapshots if snapshot.n < n]
    return next((found for found in reversed(before) if found.write.subresource == "status"), None)
