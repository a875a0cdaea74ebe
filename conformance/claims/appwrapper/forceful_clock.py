"""From when the forceful deletion grace period counts, and what is held by others meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.history_view import AppWrapperRun, Moment, Track
from conformance.history_view.deletions import Cause, Deletion
from conformance.history_view.parameters import (
    DELETION_ON_FAILURE_GRACE,
    FORCEFUL_DELETION_GRACE,
    Value,
)
from conformance.history_view.tracks import Instant
from conformance.temporal import Obligation, eventually, undecided
from conformance.temporal.words import listed
from vocabulary.clock import Micros
from vocabulary.objects import finalizers_of, is_terminating

FOLLOWS_FROM_DELETION: Final = frozenset({"foregroundDeletion", "orphan"})
"""Finalizers that follow from how a deletion was asked for; asking otherwise lifts them."""
ALWAYS_LIFTED: Final = FOLLOWS_FROM_DELETION | {"batch.kubernetes.io/job-tracking"}
"""And those that a controller lifts in any case, as long as it runs."""
CLEAN_UP_STEPS: Final = 4
"""To delete, to see that pods remain, to force them, to force components: each takes notice."""


def clock_start(aw: AppWrapperRun, deletion: Deletion) -> Moment | None:
    """The earliest moment from which the forceful deletion grace period can be meant to count.

    The first ordinary delete, of this episode or of those that it went on with. If the
    controller was kept from it, the moment at which it wanted to delete: it may have noted
    that, and been killed.
    """
    head = deletion.chain[0]
    first = next((request for each in deletion.chain for request in each.requests), None)
    if first is None:
        return None
    delay_us = 0
    if head.cause is Cause.FAILURE:
        delay_us = aw.parameter_within(DELETION_ON_FAILURE_GRACE, head.begin, first)[0].value
    if head.cause is not Cause.SUCCESS:
        wanted = Instant(head.begin.n, head.begin.t + delay_us)
        if aw.history.timing.hindered(wanted.t, first.t) is not None and wanted.t < first.t:
            return wanted
    return first


def grace_within(aw: AppWrapperRun, deletion: Deletion, until: Moment) -> tuple[Value, Value]:
    """The least and the greatest forceful deletion grace period in force up to a moment."""
    return aw.parameter_within(FORCEFUL_DELETION_GRACE, deletion.chain[0].begin, until)


def held_by_others(aw: AppWrapperRun, tracks: Sequence[Track]) -> str:
    """Which of the objects somebody else's finalizer held when deleted; empty if none."""
    ours = FOLLOWS_FROM_DELETION if aw.history.others_were_down else ALWAYS_LIFTED
    held = {
        f"{track} by {finalizer}": None
        for track in tracks
        for version in track.versions
        if is_terminating(version.object or {})
        for finalizer in finalizers_of(version.object or {})
        if finalizer not in ours
    }
    return listed(held)


def cleaned_up(
    aw: AppWrapperRun,
    what: str,
    deletion: Deletion,
    *,
    since: Moment,
    happened: Moment | None,
    plus_us: Micros = 0,
    unless: Moment | None = None,
) -> Obligation:
    """It must come when everything is deleted, forcefully if need be.

    What somebody else's finalizer holds cannot be deleted, so it leaves this undecided.
    """
    grace = grace_within(aw, deletion, happened or aw.history.end)[1]
    obligation = eventually(
        aw,
        what,
        since=since,
        within_us=grace.value + plus_us,
        happened=happened,
        unless=unless,
        steps=CLEAN_UP_STEPS,
    )
    if obligation.because:
        held = held_by_others(aw, deletion.hit)
        if held:
            return undecided(since, f"{what} waits for what is held: {held}")
    return obligation
