"""ST-004, 005, 008, 011 to 013, 042: which Jobs a restarted operator submits again."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment, Track
from conformance.norm import Obligations, eventually, met, violated
from conformance.norm.words import when
from conformance.suites.streams.api import LAUNCH_COUNT, PROCESSING_ELEMENT, SUBMITTED
from conformance.suites.streams.decisions import ATTEMPTS, FRESH
from conformance.suites.streams.judging import claim
from conformance.suites.streams.kind import ElementState, JobState
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun, first
from vocabulary.history import Process, Write
from vocabulary.objects import get_path, labels_of

_RESTARTED = "operator started after it had ended during a submission"


def _restart(run: JobRun) -> Process | None:
    """The first start of the operator after the submission was interrupted."""
    if run.interruption is None:
        return None
    starts = (each for each in run.operator.processes if each.change in ("started", "leading"))
    return next((each for each in starts if each.n > run.interruption.n), None)


def _reaction(run: JobRun, since: Moment) -> Moment | None:
    """The first write of the operator about the Job, or about what bears its name."""
    names = {track.name for track in run.namesakes} | {run.track.name}
    for write in run.operator.writes:
        is_about_it = write.name in names or write.name.startswith(f"{run.track.name}-")
        if write.n > since.n and is_about_it and write.namespace == run.track.namespace:
            return write
    return None


@claim("ST-004", text(4), armed_by=_RESTARTED)
def what_was_there_is_noticed(run: JobRun) -> Obligations:
    """A started operator MUST act on a Job whose submission was interrupted before, though nothing
    happens to it any more."""
    restart = _restart(run)
    if restart is None:
        return
    yield eventually(
        run,
        "a step of its recovery",
        since=restart,
        within_us=0,
        happened=_reaction(run, restart),
        unless=run.users_deletion,
        steps=3,
    )


@claim("ST-005", text(6), decision=ATTEMPTS, armed_by="operator deleted a Job")
def only_interrupted_ones_are_reset(run: JobRun) -> Obligations:
    """The operator MUST NOT delete a Job that is submitted, or that it submits itself."""
    for delete in run.deletes:
        over = run.interruption
        if over is not None and over.n < delete.n:
            yield met(delete)
        else:
            yield violated(
                delete, f"{when(delete)}: the operator deletes {run}, which was not interrupted."
            )


@claim("ST-008", text(7), armed_by="operator ended once all parts were there, before it said so")
def phase_outlives_the_operator(run: JobRun) -> Obligations:
    """A Job whose parts were all created, and whose phase was not written, MUST be submitted
    again."""
    if run.interruption is None or any(run.missing_at(run.interruption.n)):
        return
    yield eventually(
        run,
        "its recovery",
        since=_restart(run) or run.interruption,
        within_us=0,
        happened=run.deletes[0] if run.deletes else None,
        unless=run.users_deletion,
        steps=4,
    )


@claim("ST-012", text(10), decision=ATTEMPTS, armed_by=_RESTARTED)
def unsubmitted_ones_are_retried(run: JobRun) -> Obligations:
    """A Job whose phase is not Submitted when the operator starts, whatever else it says, MUST be
    submitted again."""
    restart = _restart(run)
    if restart is None or JobState(run.track.at(restart.n)).phase == SUBMITTED:
        return
    yield eventually(
        run,
        "a further attempt",
        since=restart,
        within_us=0,
        happened=first([run.deletes[0] if run.deletes else None, run.submitted]),
        unless=run.users_deletion,
        steps=4,
    )


@claim("ST-011", text(9), armed_by="operator started while a Job was Submitted")
def submitted_ones_are_left_alone(run: JobRun) -> Obligations:
    """A started operator MUST NOT write to a Submitted Job, or to anything of it, of which nothing
    is missing, and no ProcessingElement is due for another launch."""
    if run.submitted is None:
        return
    for start in run.operator.processes:
        if start.change != "started" or start.n < run.submitted.n:
            continue
        if any(run.missing_at(start.n)) or (run.deleting and run.deleting.n < start.n):
            continue
        if any(_is_due(run, each, start.n) for each in run.alive(PROCESSING_ELEMENT, start.n)):
            continue
        touched = next(_writes(run, start.n, by_operator=False), None)
        own = next(_writes(run, start.n, by_operator=True), None)
        tried = [each for each in (own, _refused(run, start)) if each is not None]
        write = min(tried, key=lambda each: each.n, default=None)
        if write is None or (touched is not None and touched.n < write.n):
            yield met(start)
        else:
            yield violated(
                write,
                f"{when(write)}: the operator writes {write.verb} {write.name} of {run}, which is "
                f"Submitted, after its start at {when(start)}.",
                start,
            )


def _refused(run: JobRun, since: Moment) -> Write | None:
    """The first creation of what a Job has already, which the API server has refused."""
    there = {(each.kind, each.namespace, each.name): each for each in run.tree}
    for write in run.operator.refused_creates:
        track = there.get((write.kind, write.namespace, write.name))
        if write.n > since.n and track is not None and track.exists_at(write.n):
            return write
    return None


def _is_due(run: JobRun, element: Track, n: int) -> bool:
    """True if there is no pod of the launch that it has at a position, since a client has changed
    it, or if that pod has failed and is to be restarted."""
    spec = element.at(n).get("spec", {})
    restarts_failed = spec.get("restartFailedPod") is not False
    launch = str(ElementState(element.at(n)).launches)
    pods = [pod.at(n) for pod in run.pods_of(element) if pod.exists_at(n)]
    return not any(
        labels_of(pod).get(LAUNCH_COUNT) == launch
        and not (restarts_failed and get_path(pod, "status.phase") == "Failed")
        for pod in pods
    )


@claim("ST-042", text(10), armed_by="recovery beside a Submitted Job")
def others_are_not_touched(run: JobRun) -> Obligations:
    """The recovery of a Job MUST NOT change anything of another one."""
    for recovered in run.others:
        if run.submitted is None or not recovered.deletes or recovered.successor is None:
            continue
        begins, ends = recovered.deletes[0], recovered.successor.track.created
        by_user = run.users_deletion
        if begins.n < run.submitted.n or (by_user is not None and by_user.n < ends.n):
            continue
        if any(run.missing_at(begins.n)):
            continue
        write = next((w for w in _writes(run, begins.n, by_operator=True) if w.n < ends.n), None)
        touched = next(_writes(run, begins.n, by_operator=False), None)
        if write is None or (touched is not None and touched.n < write.n):
            yield met(begins)
        else:
            yield violated(
                write,
                f"{when(write)}: the operator writes {write.verb} {write.name} of {run} while it "
                f"recovers {recovered}.",
            )


def _writes(run: JobRun, after: int, *, by_operator: bool) -> Iterator[Write]:
    """Changes of the Job and its tree after a position, by the operator or by all others."""
    changes = (
        write
        for track in (run.track, *run.tree)
        for write in (*track.versions, *((track.removed,) if track.removed else ()))
    )
    for write in sorted(changes, key=lambda each: each.n):
        if write.n > after and run.operator.is_by(write.actor) == by_operator:
            yield write


@claim("ST-013", text(10), decision=FRESH, armed_by="Job waited whose submission had not begun")
def fresh_ones_keep_their_uid(run: JobRun) -> Obligations:
    """A Job whose submission has not begun when the operator starts MUST be submitted itself, and
    MUST NOT be deleted."""
    starts = [each for each in run.operator.processes if each.change == "started"]
    start = next((each for each in starts if each.n > run.track.created.n), None)
    if start is None or (run.launched is not None and run.launched.n < start.n):
        return
    deleted = next((each for each in run.deletes if run.interruption is None), None)
    if deleted is not None:
        yield violated(
            deleted,
            f"{when(deleted)}: the operator deletes {run}, whose submission had not begun.",
        )
    elif run.launched is not None:
        yield met(start)
