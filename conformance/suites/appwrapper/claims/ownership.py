"""INV-4, INV-7: what is not ours is left alone, and what is ours is never left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from conformance.history import Track
from conformance.norm import WRITERS, Obligation, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import states_of, when
from conformance.suites.appwrapper.decisions import A17
from conformance.suites.appwrapper.judging import claim, claim_of_history
from conformance.suites.appwrapper.sources import overview, progress_guarantees
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.appwrapper import NEVER
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.appwrapper.view.snapshots import RESUMING
from conformance.suites.appwrapper.view.stripped import was_stripped_and_removed
from conformance.suites.appwrapper.view.workload_index import MAX_CHAIN
from vocabulary.history import Write
from vocabulary.objects import controller_of, labels_of


@claim_of_history(
    "INV-4",
    overview(5),
    level=Level.DERIVED,
    decision=A17,
    armed_by="object of a wrapped kind was changed or deleted by the controller",
    needs=(WRITERS,),
)
def foreign_objects_are_left_alone(history: AppWrapperHistory) -> Obligations:
    """An object that this AppWrapper's uid does not own, and that was not created for it, MUST
    NOT be changed or deleted for its sake; that includes the objects of other AppWrappers."""
    kinds = {"Pod", "ReplicaSet.apps"}
    owners: dict[str, AppWrapperRun] = {}
    for aw in history.appwrappers:
        kinds.update(component.kind for component in aw.components)
        owners[aw.uid] = aw
        owners.update((track.uid, aw) for track in aw.belongings)
    for write in history.operator.writes:
        if write.event not in ("MODIFIED", "DELETED") or write.kind not in kinds:
            continue
        track = history.tracks.get(write.uid)
        if track is None:
            continue
        owner = _owner_of(history, track, owners)
        if owner is None:
            yield violated(write, _text(history, write, track), track.created)
        elif adopter := _adopter(history, write, owner):
            yield violated(
                write,
                f"{when(write)}: {write.actor} made {adopter} the controller of {track}, which "
                f"{owner} of uid {owner.uid} owns.",
                track.created,
            )
        elif other := _deleted_for(history, write, track, owner):
            yield violated(
                write,
                f"{when(write)}: {write.actor} deleted {track}, which {owner} of uid {owner.uid} "
                f"owns. Nothing called for that there; {other} of uid {other.uid} was being "
                f"{'created' if _is_creating(other, write) else 'deleted'} at the time.",
                track.created,
            )
        else:
            yield met(write)
    yield from _collisions(history)


def _owner_of(
    history: AppWrapperHistory, track: Track, owners: Mapping[str, AppWrapperRun]
) -> AppWrapperRun | None:
    """The AppWrapper, by uid, that an object or a controller of it belongs to."""
    found: Track | None = track
    for _ in range(MAX_CHAIN):
        if found is None:
            return None
        if found.uid in owners:
            return owners[found.uid]
        owner = controller_of(found.first)
        if owner is None:
            return None
        uid = str(owner.get("uid", ""))
        if uid in owners:
            return owners[uid]
        found = history.tracks.get(uid)
    return None


def _adopter(
    history: AppWrapperHistory, write: Write, owner: AppWrapperRun
) -> AppWrapperRun | None:
    """The AppWrapper that a write made the controller of what another one owns."""
    uid = (controller_of(write.object or {}) or {}).get("uid")
    others = (aw for aw in history.appwrappers if aw.uid == uid and aw is not owner)
    return next(others, None)


def _deleted_for(
    history: AppWrapperHistory, write: Write, track: Track, owner: AppWrapperRun
) -> AppWrapperRun | None:
    """The other AppWrapper for whose sake an object was deleted; None if it may be its owner's.

    It is the owner's if the owner was being cleaned up at any time that the controller may have
    acted on, or if the object is left from before such a time. Otherwise it is that of an
    AppWrapper whose own resources were being deleted, or created, at the time.
    """
    if not write.verb.startswith("delete") or track.kind == history.profile.kind:
        return None
    seen_us = history.operator.seen_us(write.actor, write.t)
    is_gone = owner.removed is not None and owner.removed.t < seen_us
    for deletion in () if is_gone else owner.deletions:
        is_recent = deletion.end is None or deletion.end.t >= seen_us
        if deletion.begin.n < write.n and (is_recent or track.created.n < deletion.begin.n):
            return None
    candidates = [aw for aw in history.appwrappers if aw is not owner and _claims(aw, track)]
    busy = (aw for aw in candidates if _is_deleting(aw, write) or _is_creating(aw, write))
    return next(busy, None)


def _claims(aw: AppWrapperRun, track: Track) -> bool:
    """True if a name or a label could make an object look like this AppWrapper's."""
    label = aw.history.profile.label
    return labels_of(track.first).get(label) == aw.name or aw.component_of(track) is not None


def _is_deleting(aw: AppWrapperRun, at: Write) -> bool:
    return any(
        deletion.begin.n < at.n and (deletion.end is None or at.n < deletion.end.n)
        for deletion in aw.deletions
    )


def _is_creating(aw: AppWrapperRun, at: Write) -> bool:
    snapshot = aw.snapshot_at(at.n)
    return snapshot is not None and snapshot.phase == RESUMING


def _collisions(history: AppWrapperHistory) -> Iterator[Obligation]:
    """Foreign objects in the way that were there while the controller worked, and were spared."""
    kinds = {component.kind for aw in history.appwrappers for component in aw.components}
    uncontrolled = {
        kind: [
            track
            for track in history.by_kind.get(kind, ())
            if controller_of(track.first) is None
            and not history.operator.is_by(track.created.actor)
        ]
        for kind in sorted(kinds)
    }
    for aw in history.appwrappers:
        in_the_way = [
            track
            for component in aw.components
            for track in uncontrolled.get(component.kind, ())
            if track.namespace == aw.namespace and component.makes(track.kind, track.name)
        ]
        for track in (*in_the_way, *aw.foreign_pods):
            touched = any(
                write.uid == track.uid and write.event in ("MODIFIED", "DELETED")
                for write in history.operator.writes
            )
            if not touched and aw.attempts:
                yield met(track.created)


def _text(history: AppWrapperHistory, write: Write, track: Track) -> str:
    verb = "deleted" if write.verb.startswith("delete") else "changed"
    owner = controller_of(track.first)
    whose = "nobody" if owner is None else f"{owner.get('kind')} {owner.get('name')}"
    return (
        f"{when(write)}: {write.actor} {verb} {track}, which {track.created.actor or 'somebody'} "
        f"created at {when(track.created)} and {whose} controls; no AppWrapper of this history "
        f"made it ({len(history.appwrappers)} looked at)."
    )


@claim(
    "INV-7",
    progress_guarantees(5),
    level=Level.DERIVED,
    armed_by="component was created, and no finalizer was removed",
)
def finalizer_while_components_exist(aw: AppWrapperRun) -> Obligations:
    """The AppWrapper MUST carry its controller's finalizer from before the first resource is
    created until the last one is gone."""
    taken_away = _taken_away(aw)
    for track in aw.component_tracks:
        snapshot = aw.snapshot_at(track.created.n)
        if snapshot is None or track.created.n > taken_away:
            continue
        if snapshot.has_finalizer:
            yield met(track.created)
        else:
            yield violated(
                track.created,
                f"{track} was created at {when(track.created)}, while {aw} had no finalizer "
                f"{aw.history.profile.finalizer}.",
                snapshot,
            )
    had_it = False
    for snapshot in aw.snapshots:
        has_it = snapshot.has_finalizer
        if had_it and not has_it and snapshot.n < taken_away:
            yield _nothing_left(aw, snapshot.write, "the finalizer was removed from it")
        had_it = has_it
    if had_it and aw.removed is not None and not was_stripped_and_removed(aw):
        yield _nothing_left(aw, aw.removed, "it was removed")


def _taken_away(aw: AppWrapperRun) -> int:
    """The position from which on another client than the controller had removed the finalizer.

    If the writers are unknown, any client may have done so.
    """
    for before, after in pairwise(aw.snapshots):
        if (
            before.has_finalizer
            and not after.has_finalizer
            and not aw.history.operator.is_by(after.write.actor)
        ):
            return after.n
    return NEVER


def _nothing_left(aw: AppWrapperRun, at: Write, phrase: str) -> Obligation:
    left = aw.left_at(at.n)
    if not left:
        return met(at)
    return violated(
        at, f"{when(at)}: {aw} still had {states_of(left, at.n)} when {phrase}.", left[0].created
    )
