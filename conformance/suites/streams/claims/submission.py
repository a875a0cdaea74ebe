"""ST-001, 006, 009, 027: submissions end, and are whole when they do."""

from __future__ import annotations

from conformance.norm import Obligations, in_the_end, met, violated
from conformance.norm.words import listed, when
from conformance.suites.streams.judging import claim
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun

_JOB_STATE = "Failures during Submission"


@claim("ST-006", text(_JOB_STATE, 3), armed_by="Job was created")
def submissions_are_completed(run: JobRun) -> Obligations:
    """A Job that its user wants MUST be submitted in the end, itself or in its successor, whenever
    the operator was interrupted."""
    if run.submitted is None and run.successor is not None:
        return
    yield in_the_end(
        run,
        "its submission",
        since=run.track.created,
        happened=run.submitted,
        unless=run.users_deletion,
    )


@claim("ST-009", text(_JOB_STATE, 6), armed_by="Job became Submitted")
def submitted_ones_are_whole(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, each of its parts MUST exist, and a pod for each
    ProcessingElement, all of them its own."""
    if run.submitted is None:
        return
    missing = list(run.missing_at(run.submitted.n))
    if missing:
        yield violated(
            run.submitted,
            f"{when(run.submitted)}: {run} is Submitted, and there are {listed(missing)}.",
        )
    else:
        yield met(run.submitted)
