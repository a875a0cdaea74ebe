"""Common requirements on a failed attempt: it was noticed, and acted on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.history import Moment, earliest
from conformance.history.tracks import Instant
from conformance.norm import Obligation, eventually, shared
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import Health
from conformance.suites.appwrapper.view.snapshots import FAILED, RESETTING, UNHEALTHY, Snapshot
from vocabulary.clock import Micros
from vocabulary.history import Write

Sickness = Callable[[Health], bool]


def pods_failed(health: Health) -> bool:
    return health.failed_least > 0


def node_tagged(health: Health) -> bool:
    return health.evicted_least > 0


def component_failed(health: Health) -> bool:
    return health.broken > 0


def component_missing(health: Health) -> bool:
    return health.missing > 0


def could_know(aw: AppWrapperRun, deleted: Moment) -> bool:
    """True if the controller can have known that what was deleted had been there.

    One that died right after it asked for the creation, and comes back after the deletion, finds
    what it would find if the creation had never arrived.
    """
    history = aw.history
    entry = history.entries[deleted.n]
    created = history.tracks[entry.uid].created if isinstance(entry, Write) else None
    if created is None or not history.operator.timing.hindered(created.t, deleted.t):
        return True
    return any(
        write.uid == aw.track.uid and write.event and created.n < write.n < deleted.n
        for write in history.operator.writes
    )


@shared
def sicknesses(
    aw: AppWrapperRun, sick: Sickness
) -> Iterator[tuple[Attempt, Moment, Moment | None]]:
    """(attempt, since when, healed when) of each spell of a sickness while it was Running.

    Since when means while Running: a controller need not look before it has created all.
    """
    for attempt in aw.attempts:
        if attempt.running is None:
            continue
        for spell in attempt.spells(sick):
            if spell.end is not None and spell.end.n <= attempt.running.n:
                continue
            if sick is component_missing and not could_know(aw, spell.begin):
                continue
            since = attempt.running if spell.begin.n < attempt.running.n else spell.begin
            yield attempt, since, spell.end


def given_up(attempt: Attempt) -> Snapshot | None:
    """The version in which an attempt was given up: Resetting or Failed."""
    left = attempt.left
    return left if left is not None and left.phase in (RESETTING, FAILED) else None


def overtaken(aw: AppWrapperRun, attempt: Attempt) -> Moment | None:
    """Lawful reasons to end an attempt before its failure is acted on: anything but a reset."""
    left = attempt.left
    other = left if left is not None and left.phase not in (RESETTING, FAILED) else None
    return earliest(other, aw.leaving)


def turned_unhealthy(attempt: Attempt) -> Snapshot | None:
    """The first version of an attempt that shows Unhealthy anew, not from the one before."""
    was_shown = True
    for snapshot in attempt.snapshots:
        is_shown = snapshot.shows(UNHEALTHY)
        if is_shown and not was_shown:
            return snapshot
        was_shown = is_shown
    return None


def noticed(attempt: Attempt, since: Moment, healed: Moment | None) -> Snapshot | None:
    """The first version from then on that shows Unhealthy, or that the attempt was given up.

    None if Unhealthy was taken back while the sickness went on: then something else was
    noticed, and this was not.
    """
    first: Snapshot | None = None
    shown = False
    for snapshot in attempt.snapshots:
        if snapshot.n <= since.n:
            continue
        if healed is not None and snapshot.n > healed.n:
            break
        shown = snapshot.shows(UNHEALTHY)
        if shown and first is None:
            first = snapshot
    return first if shown else given_up(attempt)


@shared
def is_noticed(aw: AppWrapperRun, what: str, sick: Sickness) -> Iterator[Obligation]:
    """An obligation for each spell: Unhealthy, or given up, within the latency.

    If Unhealthy is shown already, for another reason, only giving up tells that a sickness
    was noticed; one that has a grace period then arms nothing.
    """
    for attempt, since, healed in sicknesses(aw, sick):
        before = aw.snapshot_at(since.n)
        was_unhealthy = before is not None and before.shows(UNHEALTHY)
        if was_unhealthy and sick is pods_failed:
            continue
        yield eventually(
            aw,
            f"Resetting or Failed for {what}" if was_unhealthy else f"Unhealthy=True for {what}",
            since=since,
            within_us=0,
            happened=given_up(attempt) if was_unhealthy else noticed(attempt, since, healed),
            unless=earliest(healed, overtaken(aw, attempt)),
        )


def later(first: Moment, time_us: Micros) -> Moment:
    """The same position with a later time: a deadline that counts from the last of several."""
    return first if first.t >= time_us else Instant(first.n, time_us)
