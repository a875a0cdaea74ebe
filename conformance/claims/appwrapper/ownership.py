"""INV-4, INV-7: what is not ours is left alone, and what is ours is never left behind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from conformance.claim import Claim, Level
from conformance.claims.decisions import A17
from conformance.claims.sources import overview, progress_guarantees
from conformance.history_view import AppWrapperRun, History, Track
from conformance.history_view.appwrapper import NEVER
from conformance.history_view.history import MAX_CHAIN
from conformance.temporal import (
    WRITERS,
    Obligation,
    Obligations,
    judges,
    judges_history,
    met,
    violated,
)
from conformance.temporal.words import states_of, when
from vocabulary.history import Write
from vocabulary.objects import controller_of

INV_4 = Claim(
    id="INV-4",
    name="foreign-objects-are-left-alone",
    level=Level.DERIVED,
    profile="appwrapper",
    text=(
        "An object that the AppWrapper did not create MUST NOT be changed or deleted by its "
        "controller."
    ),
    source=overview("removing all created resources"),
    decision=A17,
)


@judges_history(
    INV_4,
    armed_by="object of a wrapped kind was changed or deleted by the controller",
    needs=(WRITERS,),
)
def foreign_objects_are_left_alone(history: History) -> Obligations:
    kinds = {"Pod", "ReplicaSet.apps"}
    own: set[str] = set()
    for aw in history.appwrappers:
        kinds.update(component.kind for component in aw.components)
        own.add(aw.uid)
        own.update(track.uid for track in aw.belongings)
    for write in history.operator_writes:
        if write.event not in ("MODIFIED", "DELETED") or write.kind not in kinds:
            continue
        track = history.tracks.get(write.uid)
        if track is None:
            continue
        if track.uid in own or _is_made_by(history, track, own):
            yield met(write)
        else:
            yield violated(write, _text(history, write, track), track.created)
    yield from _collisions(history)


def _is_made_by(history: History, track: Track, own: set[str]) -> bool:
    """Whether an object's chain of controllers leads to an AppWrapper."""
    for _ in range(MAX_CHAIN):
        owner = controller_of(track.first)
        if owner is None:
            return False
        uid = str(owner.get("uid", ""))
        if uid in own:
            return True
        found = history.tracks.get(uid)
        if found is None:
            return False
        track = found
    return False


def _collisions(history: History) -> Iterator[Obligation]:
    """Foreign objects in the way that were there while the controller worked, and were spared."""
    kinds = {component.kind for aw in history.appwrappers for component in aw.components}
    uncontrolled = {
        kind: [
            track
            for track in history.by_kind.get(kind, ())
            if controller_of(track.first) is None
            and not history.profile.is_operator(track.created.actor)
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
                for write in history.operator_writes
            )
            if not touched and aw.attempts:
                yield met(track.created)


def _text(history: History, write: Write, track: Track) -> str:
    verb = "deleted" if write.verb.startswith("delete") else "changed"
    owner = controller_of(track.first)
    whose = "nobody" if owner is None else f"{owner.get('kind')} {owner.get('name')}"
    return (
        f"{when(write)}: {write.actor} {verb} {track}, which {track.created.actor or 'somebody'} "
        f"created at {when(track.created)} and {whose} controls; no AppWrapper of this history "
        f"made it ({len(history.appwrappers)} looked at)."
    )


INV_7 = Claim(
    id="INV-7",
    name="finalizer-while-components-exist",
    level=Level.DERIVED,
    profile="appwrapper",
    text=(
        "The AppWrapper MUST carry its controller's finalizer from before the first resource is "
        "created until the last one is gone."
    ),
    source=progress_guarantees(
        "all resources created by a failed workload will have been totally removed from the "
        "cluster."
    ),
)


@judges(INV_7, armed_by="component was created, and no finalizer was removed")
def finalizer_while_components_exist(aw: AppWrapperRun) -> Obligations:
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
    if had_it and aw.removed is not None:
        yield _nothing_left(aw, aw.removed, "it was removed")


def _taken_away(aw: AppWrapperRun) -> int:
    """From which position on somebody other than the controller had removed the finalizer.

    Where it is unknown who made a write, it may have been anybody.
    """
    for before, after in pairwise(aw.snapshots):
        if (
            before.has_finalizer
            and not after.has_finalizer
            and not aw.history.profile.is_operator(after.write.actor)
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
