"""AppWrappers deleted because another client removed their controller's finalizer."""

from __future__ import annotations

from itertools import pairwise

from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun


def was_stripped_and_removed(aw: AppWrapperRun) -> bool:
    """True if it was removed without the finalizer by which its controller would have held it.

    Another client had removed that, and the controller, which was not able to act or had too little
    time, could not restore it before. An AppWrapper that is being deleted is gone immediately.
    If the history does not show writers, it is unknown who removed it from one whose deletion
    had not been requested before.
    """
    if aw.removed is None:
        return False
    if not aw.history.shows_requests:
        is_open = not aw.history.shows_every_version
        return aw.deleting is None and (is_open or any(one.has_finalizer for one in aw.snapshots))
    is_operator = aw.history.operator.is_by
    if aw.snapshots[-1].has_finalizer:
        return not is_operator(aw.removed.actor)
    stripped = None
    for before, later in pairwise(aw.snapshots):
        if before.has_finalizer and not later.has_finalizer:
            stripped = later
    if stripped is None or is_operator(stripped.write.actor):
        return False
    due_us = aw.history.operator.timing.due_us(stripped.t, 0)
    return due_us is None or aw.removed.t <= due_us
