"""AW-051, 052, 055, 056: resets are counted, limited, and Autopilot's are not counted."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.norm import Obligation, Obligations, met, shared, undecided, violated
from conformance.norm.words import listed, when
from conformance.suites.appwrapper.claims.governing import Count
from conformance.suites.appwrapper.claims.timed import Timed, obligations
from conformance.suites.appwrapper.decisions import A1, A16
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import RETRY_LIMIT
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import COUNTED, AttemptEnd, Why, attempt_ends
from conformance.suites.appwrapper.view.parameters import Origin, Value
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    RESETTING,
    RESUMING,
    RUNNING,
    Snapshot,
)
from vocabulary.objects import annotations_of

EXIT_CODE_ANNOTATIONS = ("terminalExitCodes", "retryableExitCodes")


@claim(
    "AW-051",
    detailed_description(16),
    decision=A16,
    armed_by="reset for a reason that counts",
)
def resets_are_counted(aw: AppWrapperRun) -> Obligations:
    """The status of an AppWrapper MUST count its resets, each exactly once."""
    for attempt_end, added, after in counted_resets(aw):
        if attempt_end.increments == (1, 1):
            yield _added(aw, attempt_end, added, after)
    for attempt_end in attempt_ends(aw):
        before = previous_snapshot(aw, attempt_end.at)
        if attempt_end.to != FAILED or before is None or before.phase not in (RESUMING, RUNNING):
            continue
        if attempt_end.at.resets > before.resets:
            yield violated(
                attempt_end.at,
                f"{when(attempt_end.at)}: the retry count of {aw} went from {before.resets} to "
                f"{attempt_end.at.resets} as it entered Failed, which is no reset.",
                before,
            )


@claim(
    "AW-055",
    detailed_description(18),
    decision=A16,
    armed_by="reset for which only Autopilot gave a reason",
)
def autopilot_resets_are_not_counted(aw: AppWrapperRun) -> Obligations:
    """A reset in response to Autopilot MUST NOT change the retry count."""
    for attempt_end, added, after in counted_resets(aw):
        if attempt_end.increments == (0, 0):
            yield _added(aw, attempt_end, added, after)


def counted_resets(aw: AppWrapperRun) -> Iterator[tuple[AttemptEnd, int | None, Snapshot]]:
    """Each reset with what the counter went up by until Resetting was left, and where.

    None where the history does not show the end of Resetting, and the counter may still
    change.
    """
    for attempt_end in attempt_ends(aw):
        if attempt_end.to != RESETTING:
            continue
        before = previous_snapshot(aw, attempt_end.at)
        for span in aw.in_phase(RESETTING):
            if span.begin is attempt_end.at:
                after = span.end if span.end is not None else span.last
                added = after.resets - (before.resets if before is not None else 0)
                lasts = span.end is None and added < attempt_end.increments[0]
                yield attempt_end, None if lasts else added, after


def _added(
    aw: AppWrapperRun, attempt_end: AttemptEnd, added: int | None, after: Snapshot
) -> Obligation:
    if added is None:
        return undecided(attempt_end.at, f"the reset at {when(attempt_end.at)} was not seen to end")
    least, most = attempt_end.increments
    if least <= added <= most:
        return met(attempt_end.at, after)
    reasons = listed(sorted(attempt_end.certain or attempt_end.present))
    return violated(
        after,
        f"{when(after)}: the retry count of {aw} is {after.resets}, {added} more than before "
        f"the reset at {when(attempt_end.at)} for {reasons}; expected {least} more.",
        attempt_end.at,
    )


def previous_snapshot(aw: AppWrapperRun, snapshot: Snapshot) -> Snapshot | None:
    """The version before this one."""
    return aw.snapshot_at(snapshot.n - 1)


@claim(
    "AW-052",
    detailed_description(16),
    decision=A1,
    armed_by="failure that is retried or ends the retries",
)
def retry_limit_is_exact(aw: AppWrapperRun) -> Obligations:
    """A workload that keeps failing MUST be reset exactly RetryLimit times, and MUST become
    Failed with the next failure."""
    yield from obligations(limit_obligations(aw))


@shared
def limit_obligations(aw: AppWrapperRun) -> Iterator[Timed]:
    """One obligation for each counted reset or final failure, with the limit it is judged by."""
    surely = possibly = resets = 0
    for attempt_end in attempt_ends(aw):
        least, most = aw.parameter_within(RETRY_LIMIT, attempt_end.attempt.begin, attempt_end.at)
        if Origin.UNCLEAR in (least.origin, most.origin):
            unclear = undecided(attempt_end.at, f"the retry limit comes from {least.origin}")
            yield Timed(least, unclear, from_above=False)
            continue
        if attempt_end.to == RESETTING:
            surely += attempt_end.increments[0]
            possibly += attempt_end.increments[1]
            resets += 1
            if attempt_end.increments[0]:
                within = _within_limit(aw, attempt_end, surely, most)
                observed = Count(resets, was_final=False)
                yield Timed(most, within, from_above=True, observed=observed)
        elif _is_final_failure(aw, attempt_end):
            reached = _limit_reached(aw, attempt_end, possibly, least)
            observed = Count(resets, was_final=True)
            yield Timed(least, reached, from_above=False, observed=observed)


def _within_limit(
    aw: AppWrapperRun, attempt_end: AttemptEnd, resets: int, limit: Value
) -> Obligation:
    if resets <= limit.value:
        return met(attempt_end.attempt.begin, attempt_end.at)
    return violated(
        attempt_end.at,
        f"{when(attempt_end.at)}: {aw} entered Resetting for the {_ordinal(resets)} time; its "
        f"retry limit is {limit.value} (from {limit.origin}).",
        attempt_end.attempt.begin,
    )


def _limit_reached(
    aw: AppWrapperRun, attempt_end: AttemptEnd, resets: int, limit: Value
) -> Obligation:
    if resets >= limit.value:
        return met(attempt_end.attempt.begin, attempt_end.at)
    attempt, at = attempt_end.attempt, attempt_end.at
    own = [request for request in aw.delete_requests if attempt.begin.n < request.n < at.n]
    itself = (
        f" The controller itself had deleted {own[0].track} at {when(own[0])}, which is no failure."
        if own
        else ""
    )
    return violated(
        at,
        f"{when(at)}: {aw} entered Failed after {resets} counted resets; its retry limit is "
        f"{limit.value} (from {limit.origin}). The history shows nothing that fails a workload for "
        f"good: there were {listed(sorted(attempt_end.certain))}, for which it had to be reset."
        f"{itself}",
        attempt.begin,
        *own[:1],
    )


def _is_final_failure(aw: AppWrapperRun, attempt_end: AttemptEnd) -> bool:
    """True if only causes that are retried up to the limit explain this entry into Failed."""
    causes = attempt_end.certain.union(attempt_end.present)
    if not attempt_end.certain or not causes <= COUNTED or Why.CREATION_FAILED in causes:
        return False
    prefix = aw.history.profile.annotation_prefix
    annotations = annotations_of(attempt_end.at.object)
    return not any(prefix + name in annotations for name in EXIT_CODE_ANNOTATIONS)


def _ordinal(count: int) -> str:
    suffix = "th" if 10 < count % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{suffix}"


@claim(
    "AW-056",
    detailed_description(18),
    armed_by="AppWrapper with exhausted retries had a pod on a node tagged NoExecute",
)
def autopilot_resets_are_limited(aw: AppWrapperRun) -> Obligations:
    """When its retries are exhausted, a workload that Autopilot wants off a node MUST become
    Failed and MUST NOT be reset."""
    for attempt_end in attempt_ends(aw):
        before = previous_snapshot(aw, attempt_end.at)
        most = aw.parameter_within(RETRY_LIMIT, attempt_end.attempt.begin, attempt_end.at)[1]
        if not attempt_end.is_only_for(Why.NODE_TAGGED):
            continue
        if before is None or before.resets < most.value:
            continue
        if attempt_end.to == FAILED:
            yield met(attempt_end.since[Why.NODE_TAGGED], attempt_end.at)
        else:
            yield violated(
                attempt_end.at,
                f"{when(attempt_end.at)}: {aw} entered Resetting because of a node tagged "
                f"NoExecute, although its retry count {before.resets} had reached its limit "
                f"{most.value} (from {most.origin}).",
                attempt_end.since[Why.NODE_TAGGED],
            )
