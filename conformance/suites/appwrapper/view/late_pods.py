"""Late pods, created by a Kubernetes controller for a deleted owner: they cannot be foreseen."""

from __future__ import annotations

from conformance.history.tracks import Track
from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.snapshots import RESOURCES_DEPLOYED
from vocabulary.history import Write
from vocabulary.objects import controller_of


def came_too_late_to_see(aw: AppWrapperRun, track: Track, n: int) -> bool:
    """True if it was made for what was gone, so shortly before the write at position n that the
    operator cannot have seen it (decision A19)."""
    removed = _owner_removed(aw, track)
    if removed is None or removed.n > track.created.n:
        return False
    write = aw.history.entries[n]
    actor = write.actor if isinstance(write, Write) else ""
    return aw.history.operator.looked_us(actor, write.t) <= track.created.t


def was_made_for_the_gone(aw: AppWrapperRun, track: Track) -> bool:
    """True if it was made when ResourcesDeployed was not True, for an owner that had been removed
    before the condition turned: there was nothing to be seen (decision A19)."""
    removed = _owner_removed(aw, track)
    created_n = track.created.n
    turns = (edge.n for edge in aw.turns(RESOURCES_DEPLOYED, "False") if edge.n < created_n)
    return removed is not None and removed.n < max(turns, default=0)


def _owner_removed(aw: AppWrapperRun, track: Track) -> Write | None:
    """The removal of what a part of Kubernetes made it for; None if that stayed, or if it was made
    by the operator, or for the AppWrapper itself."""
    owner = aw.history.tracks.get((controller_of(track.first) or {}).get("uid", ""))
    if owner is None or owner is aw.track:
        return None
    return None if aw.history.operator.is_by(track.created.actor) else owner.removed
