"""JS-021, 093, 095: what an end leaves, and that it lasts."""

from __future__ import annotations

from conformance.norm import Obligations, in_the_end, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.jobset.decisions import KEPT_JOBS
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import api, implementation, motivation
from conformance.suites.jobset.view import Child, JobSetRun, Snapshot
from conformance.suites.jobset.view.answers import answers
from conformance.suites.jobset.view.status_steps import is_replaced


@claim(
    "JS-021",
    implementation(3),
    level=Level.PROVISIONAL,
    decision=KEPT_JOBS,
    armed_by="JobSet that failed with Jobs",
)
def failed_jobset_runs_nothing(run: JobSetRun) -> Obligations:
    """When a JobSet fails, the controller MUST delete its Jobs that are not finished, in the
    foreground, and MUST keep the others."""
    if run.end is not None and run.end.has_failed:
        yield from left_at_the_end(run, run.end, _known_n(run, run.end))
        yield from _in_the_foreground(run, run.end)


def _in_the_foreground(run: JobSetRun, end: Snapshot) -> Obligations:
    """That no Job is gone before its pods which the controller deletes after the end."""
    for child in run.standing(end.n):
        removed = child.track.removed
        if removed is None or not run.operator.is_by(removed.actor):
            continue
        pods = [
            pod
            for pod in run.history.owned.get(child.track.uid, ())
            if pod.kind == "Pod" and pod.exists_at(removed.n)
        ]
        if pods:
            yield violated(
                removed,
                f"{when(removed)}: the controller removed {child} of {run}, and left "
                f"{listed(map(str, pods))} behind; in the foreground they go first.",
                end,
            )


def left_at_the_end(run: JobSetRun, end: Snapshot, known_n: int) -> Obligations:
    """That the controller deletes the Jobs that run when the JobSet ends, and no others. It knew
    its Jobs up to that position."""
    for child in run.standing(end.n):
        ended = child.succeeded or child.failed
        if ended is None or ended.n > end.n:
            yield in_the_end(
                run,
                f"the deletion of {child}",
                since=end,
                happened=child.deletion,
                unless=ended or run.hindrance(end),
            )
        elif child.deletion is None or child.deletion.n < end.n:
            yield met(end)
        elif ended.n > known_n:
            yield undecided(end, f"{child} may have finished unseen by the controller")
        elif is_replaced(run, child, end.n):
            yield undecided(end, f"{child} is of an earlier restart, which has it deleted")
        elif _is_kept_by(run, child, end):
            yield undecided(end, f"{child} went with {run}, or another client deleted it")
        else:
            yield violated(
                child.deletion,
                f"{when(child.deletion)}: the controller deleted {child} of {run}, which had "
                f"finished at {when(ended)} and shows how it ended.",
                end,
            )


def _known_n(run: JobSetRun, end: Snapshot) -> int:
    """The position up to which the controller knew its Jobs when it failed the JobSet: that of the
    first failure that it may have answered by that."""
    answer = next((each for each in answers(run) if each.step.first.n == end.n), None)
    known = (
        [failure.n for failure in run.failures if failure.n < end.n]
        if answer is None or not answer.candidates
        else [each.failure.n for each in answer.candidates]
    )
    return min(known, default=-1)


def _is_kept_by(run: JobSetRun, child: Child, end: Snapshot) -> bool:
    """True if the controller did not delete the Job by itself between the end and the removal of
    the JobSet."""
    assert child.deletion is not None
    removed = run.track.removed
    until = child.deletion.n if removed is None else min(child.deletion.n, removed.n)
    asked = run.operator.deletes.get(("Job.batch", run.track.namespace, child.name), ())
    return not any(end.n < write.n <= until for write in asked)


@claim(
    "JS-093",
    api(4),
    level=Level.DERIVED,
    armed_by="JobSet ended",
)
def an_end_lasts(run: JobSetRun) -> Obligations:
    """Once a JobSet is Completed or Failed, it MUST stay so and MUST NOT restart, and the
    controller MUST NOT create Jobs of it."""
    end = run.end
    if end is None:
        return
    yield met(end)
    for before, after in run.changes:
        actor = after.write.actor
        if after.n <= end.n or (actor and not run.operator.is_by(actor)):
            continue
        if not after.has_ended or after.restarts != before.restarts:
            yield violated(
                after,
                f"{when(after)}: {run} had ended at {when(end)}, and "
                f"{'restarted' if after.has_ended else 'is neither Completed nor Failed'}.",
                end,
            )
    for child in run.children:
        created = child.track.created
        seen_us = run.operator.seen_us(created.actor, created.t)
        if created.n > end.n and end.t < seen_us:
            yield violated(
                created,
                f"{child} was created at {when(created)}, after {run} had ended at {when(end)}.",
                end,
            )


@claim(
    "JS-095",
    motivation(2),
    level=Level.DERIVED,
    armed_by="JobSet ended",
    from_any_versions=True,
)
def one_end_alone(run: JobSetRun) -> Obligations:
    """A JobSet MUST NOT be both Completed and Failed."""
    for each in run.snapshots:
        if each.has_failed and each.has_completed:
            yield violated(each, f"{when(each)}: {run} is both Completed and Failed.")
            return
    if run.end is not None:
        yield met(run.end)
