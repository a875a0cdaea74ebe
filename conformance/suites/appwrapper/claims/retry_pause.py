"""Common requirements on a reset: the attempt that follows it, and the length of its pause."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment, earliest
from conformance.norm import shared
from conformance.suites.appwrapper.claims.timed import Timed, no_earlier, no_later
from conformance.suites.appwrapper.parameters import RETRY_PAUSE
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.deletions import Cause, Deletion
from conformance.suites.appwrapper.view.parameters import Value
from conformance.suites.appwrapper.view.snapshots import RESETTING


def resets(aw: AppWrapperRun) -> Iterator[Deletion]:
    """The deletion episodes that resets began."""
    return (deletion for deletion in aw.deletions if deletion.cause is Cause.RESET)


def attempt_after(aw: AppWrapperRun, deletion: Deletion) -> Attempt | None:
    """The attempt that began when a reset ended; None if something else came, or nothing."""
    if deletion.end is None:
        return None
    for attempt in aw.attempts:
        if attempt.begin.n == deletion.end.n and attempt.after == RESETTING:
            return attempt
    return None


def resets_with_next_attempt(aw: AppWrapperRun) -> Iterator[tuple[Deletion, Attempt]]:
    """Resets that went on to create something, with the attempt that they led to."""
    for deletion in resets(aw):
        attempt = attempt_after(aw, deletion)
        if attempt is not None and attempt.components:
            yield deletion, attempt


def pause_within(aw: AppWrapperRun, deletion: Deletion, until: Moment) -> tuple[Value, Value]:
    """The least and the greatest retry pause that was in force during a reset."""
    return aw.parameter_within(RETRY_PAUSE, deletion.begin, until)


def pause_is_kept(aw: AppWrapperRun, deletion: Deletion, attempt: Attempt) -> Iterator[Timed]:
    """Nothing is created before the pause has passed since the last resource was gone."""
    if deletion.gone is None:
        return
    created = attempt.components[0].created
    yield no_earlier(
        aw,
        f"the creation of {attempt.components[0]}",
        pause_within(aw, deletion, created)[0],
        since=deletion.gone,
        happened=created,
        own=deletion.gone is deletion.begin,
    )


@shared
def retry_pause(aw: AppWrapperRun) -> Iterator[Timed]:
    """Both bounds on the pause of every reset."""
    for deletion in resets(aw):
        if deletion.gone is None:
            continue
        attempt = attempt_after(aw, deletion)
        created = attempt.components[0].created if attempt and attempt.components else None
        refused = attempt.failed_creates[0] if attempt and attempt.failed_creates else None
        if attempt is not None and created is not None:
            yield from pause_is_kept(aw, deletion, attempt)
        yield no_later(
            aw,
            "the creation of new instances",
            pause_within(aw, deletion, created or aw.history.end)[1],
            since=deletion.gone,
            happened=earliest(created, refused),
            unless=earliest(deletion.end if attempt is None else attempt.left, aw.leaving),
        )
