"""AW-098: a creation that the API server refuses is noticed, tried again, and given up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from conformance.norm import WRITERS, Obligation, Obligations, eventually, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.noticing import (
    given_up,
    later,
    overtaken,
    turned_unhealthy,
)
from conformance.suites.appwrapper.decisions import A23
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import ADMISSION_GRACE, FAILURE_GRACE, RETRY_LIMIT
from conformance.suites.appwrapper.sources import detailed_description
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import TRANSIENT_CODES, Why, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.parameters import Origin
from conformance.suites.appwrapper.view.snapshots import FAILED, UNHEALTHY, Snapshot
from vocabulary.history import Write


@claim(
    "AW-098",
    detailed_description(7),
    name="refused-creations-are-retried-up-to-the-limit",
    level=Level.DERIVED,
    decision=A23,
    armed_by="creation of a component was refused for long",
    needs=(WRITERS,),
)
def refused_creations_are_retried(aw: AppWrapperRun) -> Obligations:
    """A workload of which the API server refuses to create a component MUST be found unhealthy
    within its admission grace period and given up when the failure grace period has passed after
    that; while retries are left, a refusal that may be lifted MUST NOT fail it."""
    for attempt in aw.attempts:
        refused = _refused(aw, attempt)
        if refused is not None:
            yield from _is_given_up(aw, attempt, refused)
            yield from _is_tried_again(aw, attempt, refused)


def _refused(aw: AppWrapperRun, attempt: Attempt) -> Write | None:
    """The first refusal of a component that the attempt never got.

    A request without an answer is no refusal. A component that exists may have been refused to
    another AppWrapper that wants its name, or to a controller that asked for it twice.
    """
    for component in aw.components:
        refusals = [
            write
            for write in attempt.failed_creates
            if write.code and component.makes(write.kind, write.name)
        ]
        exists = any(component.makes(track.kind, track.name) for track in attempt.components)
        if refusals and not exists:
            return refusals[0]
    return None


def _is_given_up(aw: AppWrapperRun, attempt: Attempt, refused: Write) -> Iterator[Obligation]:
    end = attempt.left or aw.history.end
    admission = aw.parameter_within(ADMISSION_GRACE, attempt.begin, end)[1]
    grace = aw.parameter_within(FAILURE_GRACE, attempt.begin, end)[1]
    since = later(refused, max(attempt.last_start_us, refused.t))
    unless = overtaken(aw, attempt)
    yield eventually(
        aw,
        "Unhealthy=True for a component whose creation is refused",
        since=since,
        within_us=admission.value,
        happened=_shown(attempt, refused) or given_up(attempt),
        unless=unless,
        steps=2,
        evidence=(refused,),
    )
    yield eventually(
        aw,
        "Resetting or Failed for a component whose creation is refused",
        since=since,
        within_us=admission.value + grace.value,
        happened=given_up(attempt),
        unless=unless,
        steps=3,
        evidence=(refused,),
    )


def _shown(attempt: Attempt, refused: Write) -> Snapshot | None:
    """The first version from a refusal on that shows Unhealthy.

    One that stood then counts if it turned so in this attempt: a creation that gets no answer is
    missing pods as well (A23), and may come first.
    """
    turned = turned_unhealthy(attempt)
    for snapshot, following in zip_longest(attempt.snapshots, attempt.snapshots[1:]):
        stands = following is None or following.n > refused.n
        is_new = snapshot.n > refused.n or (turned is not None and turned.n <= snapshot.n)
        if stands and is_new and snapshot.shows(UNHEALTHY):
            return snapshot
    return None


def _is_tried_again(aw: AppWrapperRun, attempt: Attempt, refused: Write) -> Iterator[Obligation]:
    """A workload that fails for refusals which may be lifted has used up its retries."""
    for attempt_end in attempt_ends(aw):
        if attempt_end.attempt is not attempt or attempt_end.to != FAILED:
            continue
        limit = aw.parameter_within(RETRY_LIMIT, attempt.begin, attempt_end.at)[0]
        before = aw.snapshot_at(attempt_end.at.n - 1)
        others = set(attempt_end.present) - {Why.CREATION_FAILED, Why.FEW_PODS, Why.NOT_RUNNING}
        may_be_lifted = all(write.code in TRANSIENT_CODES for write in attempt.failed_creates)
        if others or before is None or limit.origin is Origin.UNCLEAR or not may_be_lifted:
            yield undecided(attempt_end.at, "it may have failed for another reason")
        elif before.resets >= limit.value:
            yield met(refused, attempt_end.at)
        else:
            yield violated(
                attempt_end.at,
                f"{when(attempt_end.at)}: {aw} entered Failed, although the creation that was "
                f"refused at {when(refused)} could be tried again and it had been reset "
                f"{before.resets} times of {limit.value} (from {limit.origin}).",
                refused,
            )
