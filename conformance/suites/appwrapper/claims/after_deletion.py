"""AW-094, 095: once the last object is gone, the conditions and the finalizer follow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from conformance.history import Moment, earliest
from conformance.norm import WRITERS, Obligation, Obligations, eventually, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.appwrapper.claims.forceful_clock import all_gone, delay_of
from conformance.suites.appwrapper.decisions import A21
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.sources import overview, progress_guarantees
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.deletions import Cause, Deletion
from conformance.suites.appwrapper.view.snapshots import QUOTA_RESERVED, RESOURCES_DEPLOYED
from vocabulary.history import Write
from vocabulary.objects import finalizers_of

RELEASING: Final = frozenset({Cause.SUSPENSION, Cause.FAILURE, Cause.DELETION})
"""The deletions that release the quota: a reset keeps it, and success has released it."""


@claim(
    "AW-094",
    progress_guarantees(4),
    level=Level.DERIVED,
    decision=A21,
    armed_by="last object was gone while ResourcesDeployed was True",
)
def conditions_follow_the_last_object(aw: AppWrapperRun) -> Obligations:
    """Once a deletion has removed the last resource and pod, ResourcesDeployed MUST turn False
    within one reaction, and so MUST QuotaReserved, unless the workload is being reset."""
    for deletion in aw.deletions:
        gone = deletion.gone
        at_gone = None if gone is None else aw.snapshot_at(gone.n)
        if gone is None or at_gone is None or not at_gone.shows(RESOURCES_DEPLOYED):
            continue
        since = all_gone(aw, deletion)
        if since is None:
            yield undecided(gone, f"something that was made for {aw} or labelled as its is left")
            continue
        due_us = deletion.begin.t + delay_of(aw, deletion)
        for condition in (RESOURCES_DEPLOYED, QUOTA_RESERVED):
            if condition == QUOTA_RESERVED and deletion.cause not in RELEASING:
                continue
            if not at_gone.shows(condition):
                continue
            yield eventually(
                aw,
                f"{condition}=False after the last object was gone",
                since=since,
                within_us=max(0, due_us - since.t),
                happened=_turned(aw, deletion, condition, gone),
                unless=earliest(deletion.end, aw.removed),
            )


def _turned(aw: AppWrapperRun, deletion: Deletion, condition: str, gone: Moment) -> Moment | None:
    """The turn of a condition after the last object; where the AppWrapper itself is deleted, its
    removal does as well."""
    edges = (edge for edge in aw.turns(condition, "False") if edge.n >= gone.n)
    is_deleted = deletion.cause is Cause.DELETION
    return next((edge for edge in edges if is_deleted or not edge.removed), None)


@claim(
    "AW-095",
    overview(6),
    level=Level.DERIVED,
    decision=A21,
    armed_by="AppWrapper with the controller's finalizer was deleted, or one that others hold "
    "was written by the controller",
)
def deleted_appwrappers_go(aw: AppWrapperRun) -> Obligations:
    """The finalizer of an AppWrapper that is being deleted MUST be removed within one reaction
    after its last object is gone. Finalizers of others MUST be left."""
    if WRITERS in aw.history.shows:
        yield from _finalizers_of_others(aw)
    if aw.deleting is None or not aw.deleting.has_finalizer:
        return
    for deletion in aw.deletions:
        if deletion.cause is Cause.DELETION:
            since = all_gone(aw, deletion)
            if since is not None:
                yield eventually(
                    aw,
                    "the removal of the finalizer",
                    since=since,
                    within_us=0,
                    happened=_let_go(aw),
                )


def _let_go(aw: AppWrapperRun) -> Moment | None:
    """The first version from which on the finalizer stays away."""
    gone: Moment | None = aw.removed
    for snapshot in reversed(aw.snapshots):
        if snapshot.has_finalizer:
            break
        gone = snapshot
    return gone


def _finalizers_of_others(aw: AppWrapperRun) -> Iterator[Obligation]:
    """An obligation for each write of the controller to an AppWrapper that others hold."""
    profile, operator = aw.history.profile, aw.history.operator
    versions = [*aw.track.versions] if aw.removed is None else [*aw.track.versions, aw.removed]
    for before, after in pairwise(versions):
        if not operator.is_by(after.actor):
            continue
        held = _others(before, profile.finalizer)
        lost = held - (frozenset() if after is aw.removed else _others(after, profile.finalizer))
        if lost:
            yield violated(
                after,
                f"{when(after)}: the finalizer {listed(sorted(lost))} of {aw} was removed, which "
                "is somebody else's.",
                before,
            )
        elif held:
            yield met(after)


def _others(version: Write, own: str) -> frozenset[str]:
    return frozenset(finalizers_of(version.object or {})) - {own}
