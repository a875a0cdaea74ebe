"""ST-016, 029, 035: what becomes of a submission that was interrupted."""

from __future__ import annotations

from conformance.norm import Obligations, met, violated
from conformance.norm.words import states_of, when
from conformance.suites.streams.decisions import ATTEMPTS
from conformance.suites.streams.judging import claim
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun

_STALE = "Stale State"
_CHOSEN = "Recovery"


@claim("ST-016", text(_STALE, 3), decision=ATTEMPTS, armed_by="Job became Submitted after a crash")
def nothing_stale_is_left(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, nothing MUST be left that an interrupted attempt has made."""
    if run.submitted is None:
        return
    since = run.interruption or run.track.created
    stale = [
        track
        for track in run.namesakes
        if track.created.n < since.n and track.exists_at(run.submitted.n)
    ]
    if stale:
        yield violated(
            run.submitted,
            f"{when(run.submitted)}: {run} is Submitted, and of an attempt that was interrupted "
            f"there is {states_of(stale, run.submitted.n)}.",
            since,
        )
    elif run.track.created.n > 0 or run.interruption is not None:
        yield met(run.submitted)


@claim("ST-035", text(_CHOSEN, 5), armed_by="Job was created in place of another")
def old_ones_go_first(run: JobRun) -> Obligations:
    """A Job MUST be created only once nothing is left of the interrupted one of its name."""
    if not run.operator.is_by(run.track.created.actor):
        return
    created = run.track.created
    left = [
        track
        for track in run.namesakes
        if track.created.n < created.n and track.exists_at(created.n)
    ]
    if left:
        yield violated(
            created,
            f"{when(created)}: {run} is created while there is {states_of(left, created.n)}.",
        )
    else:
        yield met(created)
