"""JS-072: Jobs that are left failed."""

from __future__ import annotations

from conformance.history import Moment
from conformance.norm import Obligation, Obligations, in_the_end, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.jobset.decisions import LEFT_FAILED
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import future_work
from conformance.suites.jobset.view import Child, Failure, JobSetRun, Snapshot
from conformance.suites.jobset.view.answers import answers, was_deleted_by_others
from conformance.suites.jobset.view.left_failed import went_by_its_ttl
from conformance.suites.jobset.view.startup import never_started
from conformance.suites.jobset.view.status_steps import is_replaced
from conformance.suites.jobset.view.success import is_any, left_failed, targets
from vocabulary.objects import labels_of


@claim(
    "JS-072",
    future_work(11),
    level=Level.PROVISIONAL,
    decision=LEFT_FAILED,
    armed_by="failure of a Job that is left failed",
)
def failed_job_is_left(run: JobSetRun) -> Obligations:
    """FailJob MUST leave the Job failed and the JobSet running; the JobSet MUST complete once
    all other Jobs have finished and its success policy holds over them, and MUST fail if it can
    no longer hold."""
    left = list(left_failed(run))
    if not left:
        return
    for failure in left:
        yield _stays(run, failure)
        yield from _stays_away(run, failure)
    yield from _nothing_follows(run, left)
    if run.end is not None:
        yield _ended_rightly(run, left, run.end)
    elif (finished := _finished(run, left)) is not None:
        yield in_the_end(
            run,
            "its end, since all Jobs have finished,",
            since=run.unsuspended_since(finished, None) or finished,
            happened=None,
            unless=run.hindrance(finished),
        )
    elif _is_out_of_reach(run, left, run.history.end):
        yield in_the_end(
            run,
            "its failure, since its success policy cannot hold any more,",
            since=run.unsuspended_since(left[-1], None) or left[-1],
            happened=None,
            unless=run.hindrance(left[-1]),
            evidence=(left[-1],),
        )


def _stays(run: JobSetRun, failure: Failure) -> Obligation:
    """That the controller does not delete the Job but for another failure."""
    child = failure.child
    deletion = child.deletion
    if deletion is None or is_replaced(run, child, deletion.n) or _is_going(run, deletion):
        return met(failure)
    if was_deleted_by_others(run, child):
        return undecided(failure, f"another client deleted {child}")
    if labels_of(deletion.object or {}) != labels_of(child.track.first):
        return undecided(failure, f"{child} was relabelled")
    return violated(
        deletion,
        f"{when(deletion)}: the controller deleted {child} of {run}, which FailJob leaves failed.",
        failure,
    )


def _stays_away(run: JobSetRun, failure: Failure) -> Obligations:
    """That the Job is not started again once its TTL has it deleted, but by a restart."""
    following = run.successor(failure.child)
    if following is None or failure.child.deletion is None:
        return
    created = following.track.created
    if is_replaced(run, failure.child, created.n) or not was_deleted_by_others(run, failure.child):
        return
    if went_by_its_ttl(run, failure):
        yield violated(
            created,
            f"{when(created)}: {following} of {run} starts again, which FailJob leaves failed; its "
            "TTL had it deleted.",
            failure,
        )
    else:
        yield undecided(created, f"another client deleted {failure.child}")


def _is_going(run: JobSetRun, at: Moment) -> bool:
    standing = run.at(at.n)
    return standing is None or standing.is_terminating


def _nothing_follows(run: JobSetRun, left: list[Failure]) -> Obligations:
    """That no step answers failures of which all are left failed."""
    for answer in answers(run):
        seen = [failure for failure in left if failure.n < answer.after.n]
        if answer.pending or not seen or answer.step.is_open:
            continue
        if answer.after.has_failed and (_is_out_of_reach(run, left, answer.after) is not False):
            continue
        yield violated(
            answer.after,
            f"{when(answer.after)}: {run} answers the failure of "
            f"{listed([str(failure) for failure in seen])} by {answer.taken}; FailJob takes no "
            "action.",
            seen[-1],
        )


def _is_out_of_reach(run: JobSetRun, left: list[Failure], at: Moment) -> bool | None:
    """True if the success policy cannot hold any more, be it that no target is left which could
    succeed, or that some are missing which never start; None if that is unknown."""
    current = [failure.child for failure in _current(run, left, at)]
    of_those = {child.replicated_job for child in current}
    started = {child.name for child in run.standing(at.n) if not child.at(at.n).is_suspended}
    blocked = never_started(run, of_those)
    if None in blocked.values():
        return None
    hopeless = {
        name for name, (job, _) in run.wanted.items() if blocked[job] and name not in started
    }
    asked = set(targets(run)) - {child.name for child in current}
    return asked <= hopeless or (not is_any(run) and bool(asked & hopeless))


def _current(run: JobSetRun, left: list[Failure], at: Moment) -> list[Failure]:
    """The failures of Jobs in whose place no other one has come."""
    return [
        failure
        for failure in left
        if not is_replaced(run, failure.child, at.n)
        and (
            (following := run.successor(failure.child)) is None or following.track.created.n > at.n
        )
    ]


def _ended_rightly(run: JobSetRun, left: list[Failure], end: Snapshot) -> Obligation:
    """That a JobSet with Jobs that are left failed completes no earlier than all others, and does
    not complete without a success."""
    current = _current(run, left, end)
    if not end.has_completed or not current:
        return met(left[0], end)
    names = {failure.child.name for failure in current}
    aimed_at = set(targets(run))
    if aimed_at and aimed_at <= names:
        return violated(
            end,
            f"{when(end)}: {run} completed, though all Jobs of its success policy are left failed.",
            current[0],
        )
    seen_us = run.operator.timing.seen_us(end.t)
    blocked = never_started(run, {failure.child.replicated_job for failure in current})
    running = [
        child
        for child in run.standing(end.n)
        if child.name not in names
        and _finish(child, end) is None
        # A suspension has Jobs created that wait for others; these may stay so.
        and not (child.at(end.n).is_suspended and blocked[child.replicated_job] is not False)
    ]
    if running and current[0].t < seen_us:
        return violated(
            end,
            f"{when(end)}: {run} completed while {listed([str(child) for child in running])} had "
            f"not finished; since {current[0].child} is left failed, all others have to.",
            current[0],
        )
    return met(current[0], end)


def _finish(child: Child, by: Moment) -> Moment | None:
    found = child.succeeded or child.failed
    return found if found is not None and found.n <= by.n else None


def _finished(run: JobSetRun, left: list[Failure]) -> Moment | None:
    """The moment at which the last Job had succeeded or was left failed; None if one has not."""
    end = run.history.end
    names = {failure.child.name: failure for failure in _current(run, left, end)}
    finishes: list[Moment] = []
    for name in run.wanted:
        standing = [child for child in run.standing(end.n) if child.name == name]
        if not standing and name in names and went_by_its_ttl(run, names[name]):
            finishes.append(names[name].write)
            continue
        if (
            not standing
            or standing[-1].deletion is not None
            or is_replaced(run, standing[-1], end.n)
        ):
            return None
        finish = standing[-1].succeeded
        if finish is None and name in names and names[name].child == standing[-1]:
            finish = names[name].write
        if finish is None:
            return None
        finishes.append(finish)
    return max(finishes, key=lambda moment: moment.n, default=None)
