"""The steps of a deletion in time: when it is due, from when the forceful deletion grace period
counts, what is held by others meanwhile, and when all of it is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from conformance.history import Moment, Track
from conformance.history.tracks import Instant
from conformance.norm import Fate, Obligation, eventually, undecided
from conformance.norm.words import listed
from conformance.suites.appwrapper.parameters import (
    DELETION_ON_FAILURE_GRACE,
    FORCEFUL_DELETION_GRACE,
    SUCCESS_TTL,
)
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.deletions import Cause, Deletion
from conformance.suites.appwrapper.view.parameters import Value
from vocabulary.clock import Micros
from vocabulary.objects import finalizers_of, is_terminating

FOLLOWS_FROM_DELETION: Final = frozenset({"foregroundDeletion", "orphan"})
"""Finalizers that follow from how a deletion was asked for; asking otherwise lifts them."""
ALWAYS_LIFTED: Final = FOLLOWS_FROM_DELETION | {"batch.kubernetes.io/job-tracking"}
"""And those that a controller lifts in any case, as long as it runs."""
REMOVAL_STEPS: Final = 3
"""To delete, to force the pods that remain, and to force the components after them."""
CLEAN_UP_STEPS: Final = REMOVAL_STEPS + 1
"""And to say that all is gone. Each step is bounded by itself, too: see decision A21."""
_DELAYS: Final = {Cause.FAILURE: DELETION_ON_FAILURE_GRACE, Cause.SUCCESS: SUCCESS_TTL}


def delay_of(aw: AppWrapperRun, deletion: Deletion) -> Micros:
    """The longest time for which a parameter delays the first delete after the deletion's cause."""
    name = _DELAYS.get(deletion.cause)
    if name is None:
        return 0
    until = deletion.first_request or deletion.end or aw.history.end
    return aw.parameter_within(name, deletion.begin, until)[1].value


def all_gone(aw: AppWrapperRun, deletion: Deletion) -> Moment | None:
    """The moment at which nothing was left of an episode; None if that was not seen.

    What was made for its objects counts, since it may make pods, also where another client has
    orphaned it before; so does a pod that another client labelled: a controller may take it for
    one of the workload.
    """
    gone = deletion.gone
    if gone is None:
        return None
    made = aw.with_made((*deletion.hit, *aw.component_tracks))
    for track in (*made, *aw.foreign_pods):
        if not track.exists_at(gone.n):
            continue
        if track.removed is None:
            return None
        gone = track.removed
    return gone


def clock_start(aw: AppWrapperRun, deletion: Deletion) -> Moment | None:
    """The earliest moment from which the forceful deletion grace period can be meant to count.

    The first delete, of this episode or of those that it went on with. Where no component was
    left to be deleted first, or the controller was kept from it, the moment at which the
    deletion was due: it may have noted that, and been killed.
    """
    head = deletion.chain[0]
    first = next((request for each in deletion.chain for request in each.requests), None)
    if first is None:
        return None
    due = _first_due(aw, deletion, first)
    had_any = bool(head.deletable_before(first))
    if due.t < first.t and (not had_any or aw.history.operator.timing.hindered(due.t, first.t)):
        return due
    return first


def _first_due(aw: AppWrapperRun, deletion: Deletion, until: Moment) -> Moment:
    """When the first of the episodes that a deletion went on with was due."""
    for episode in deletion.chain:
        name = _DELAYS.get(episode.cause)
        delay_us = 0
        if name is not None:
            delay_us = aw.parameter_within(name, episode.begin, until)[0].value
        due = Instant(episode.begin.n, episode.begin.t + delay_us)
        if episode.end is None or due.t < episode.end.t:
            return due
    return due


def grace_within(aw: AppWrapperRun, deletion: Deletion, until: Moment) -> tuple[Value, Value]:
    """The least and the greatest forceful deletion grace period in force up to a moment."""
    return aw.parameter_within(FORCEFUL_DELETION_GRACE, deletion.chain[0].begin, until)


class Hold(NamedTuple):
    """The objects held by foreign finalizers while they were being deleted."""

    text: str
    """`pod/a-0 by example.com/hold`; empty if nothing was held."""
    until: Moment | None
    """When the last hold was lifted; None if one still stands."""


def held_by_others(aw: AppWrapperRun, tracks: Sequence[Track]) -> Hold:
    """The objects held by other clients, and until when."""
    ours = FOLLOWS_FROM_DELETION if aw.history.others_were_down else ALWAYS_LIFTED
    held: dict[str, None] = {}
    lifted: list[Moment | None] = []
    for track in tracks:
        until: Moment | None = None
        names: list[str] = []
        for version in track.versions:
            obj = version.object or {}
            now = [name for name in finalizers_of(obj) if name not in ours]
            if now and is_terminating(obj):
                names, until = now, None
            elif names and until is None:
                until = version
        if names:
            held.update((f"{track} by {name}", None) for name in names)
            lifted.append(until or track.removed)
    ends = [moment for moment in lifted if moment is not None]
    last = max(ends, key=lambda moment: moment.n) if ends and len(ends) == len(lifted) else None
    return Hold(listed(held), last)


def removed(
    aw: AppWrapperRun, what: str, deletion: Deletion, gone: Moment | None, *, unless: Moment | None
) -> Obligation:
    """Everything must be removed once the deletion is due, forcefully if need be."""
    return _in_time(
        aw,
        what,
        deletion,
        since=deletion.begin,
        happened=gone,
        plus_us=delay_of(aw, deletion),
        unless=unless,
        steps=REMOVAL_STEPS,
    )


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
    """It must come when everything is removed, forcefully if need be, within a reaction of that.

    `since` and `plus_us` say from when on the deletion is due.
    """
    obligation = _in_time(
        aw,
        what,
        deletion,
        since=since,
        happened=happened,
        plus_us=plus_us,
        unless=unless,
        steps=CLEAN_UP_STEPS,
    )
    gone = all_gone(aw, deletion)
    if obligation.fate is Fate.VIOLATED or gone is None or gone.n < since.n:
        return obligation
    return eventually(
        aw,
        what,
        since=gone,
        within_us=max(0, since.t + plus_us - gone.t),
        happened=happened,
        unless=unless,
    )


def _in_time(
    aw: AppWrapperRun,
    what: str,
    deletion: Deletion,
    *,
    since: Moment,
    happened: Moment | None,
    plus_us: Micros,
    unless: Moment | None,
    steps: int,
) -> Obligation:
    """It must come within the forceful deletion grace period and this many steps.

    What another client's finalizer holds cannot be deleted: while that stands this is
    undecided, and once it is lifted, the rest must follow. A ReplicaSet that is held counts:
    while it stands it may make pods.
    """
    grace = grace_within(aw, deletion, happened or aw.history.end)[1]
    obligation = eventually(
        aw,
        what,
        since=since,
        within_us=grace.value + plus_us,
        happened=happened,
        unless=unless,
        steps=steps,
    )
    if obligation.fate is not Fate.VIOLATED:
        return obligation
    hold = held_by_others(aw, aw.with_made(deletion.hit))
    if not hold.text:
        return obligation
    if hold.until is None:
        return undecided(since, f"{what} waits for what is held: {hold.text}")
    return eventually(
        aw,
        what,
        since=hold.until,
        within_us=grace.value if happened is None else 0,
        happened=happened,
        unless=unless,
        steps=steps,
    )
