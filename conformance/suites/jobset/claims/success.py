"""JS-098, 102, 116: when a JobSet is Completed, what it leaves, and that successes last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from conformance.history import Moment
from conformance.norm import Obligation, Obligations, in_the_end, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.jobset.claims.ending import left_at_the_end
from conformance.suites.jobset.decisions import (
    FAILURE_FIRST,
    KEPT_JOBS,
    SUCCESS_POLICY,
    SUCCESSES_LAST,
)
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import JobSetRun, Snapshot
from conformance.suites.jobset.view.status_steps import generation_of, is_replaced, steps
from conformance.suites.jobset.view.success import (
    is_any,
    left_failed,
    may_count,
    success_of,
    targets,
)


@claim(
    "JS-098",
    field("JobSetSpec.successPolicy", 1),
    level=Level.DERIVED,
    decision=(SUCCESS_POLICY, FAILURE_FIRST),
    armed_by="JobSet that completed, or whose success policy held",
)
def success_policy_completes(run: JobSetRun) -> Obligations:
    """A JobSet MUST be Completed once its success policy holds over the Jobs since the last
    restart that concerns them, and MUST NOT be before."""
    end = run.end
    if end is not None and end.has_completed:
        yield _not_before(run, end)
    for held in _held(run):
        yield _in_time(run, held)


def _not_before(run: JobSetRun, end: Snapshot) -> Obligation:
    excused = {
        failure.child.name
        for failure in left_failed(run)
        if failure.n < end.n and not is_replaced(run, failure.child, end.n)
    }
    asked = [name for name in targets(run) if name not in excused]
    missing = [name for name in asked if not may_count(run, name, end)]
    if missing and (not is_any(run) or len(missing) == len(asked)):
        wanted = "one of" if is_any(run) else "each of"
        return violated(
            end,
            f"{when(end)}: {run} is Completed, and no Job {listed(missing[:4])} has succeeded"
            f"{' since the last restart' if run.snapshots[-1].restarts else ''}; its success "
            f"policy asks for {wanted} {len(asked)} Jobs.",
            *(child.track.created for name in missing[:4] for child in run.children_of(name)[-1:]),
        )
    return met(end)


def _held(run: JobSetRun) -> Iterator[Moment]:
    """The moments from which the policy held: with Any, the first one of each generation of Jobs.

    Jobs that are left failed have the end of their JobSet judged by a claim of its own.
    """
    names = targets(run)
    if not names or left_failed(run):
        return
    if is_any(run):
        found: dict[int, Moment] = {}
        for name in names:
            for child in run.children_of(name):
                success = success_of(run, child)
                if success is not None:
                    number = generation_of(run, success.n)
                    found[number] = min(success, found.get(number, success), key=_position)
        yield from found.values()
        return
    last: list[Moment] = []
    for name in names:
        for child in run.children_of(name)[-1:]:
            success = success_of(run, child)
            if success is None:
                return
            last.append(success)
            if child.track.removed is not None and (
                run.end is None or child.track.removed.n < run.end.n
            ):
                last.append(child.track.removed)  # it may be awaited to be created again
    if len(last) >= len(names):
        yield max(last, key=_position)


def _position(moment: Moment) -> int:
    return moment.n


def _in_time(run: JobSetRun, held: Moment) -> Obligation:
    end = run.end
    completed = end if end is not None and end.has_completed else None
    since = run.unsuspended_since(held, completed)
    if since is None:
        return (
            undecided(held, f"{run} was suspended and not resumed")
            if completed is None
            else met(held, completed)
        )
    overtaking: list[Moment] = [step.first for step in steps(run) if step.first.n > held.n]
    overtaking += [each for each in run.failures if not is_replaced(run, each.child, held.n)]
    overtaking += [found for found in (run.hindrance(held), _unseen_end(run, held)) if found]
    return in_the_end(
        run,
        "its completion",
        since=since,
        happened=completed,
        unless=min(overtaking, key=_position, default=None),
        evidence=(held,),
    )


def _unseen_end(run: JobSetRun, success: Moment) -> Moment | None:
    """The deletion of the Job that succeeded, if the controller need not have seen it before."""
    due_us = run.operator.timing.due_us(success.t, 0)
    for child in run.children:
        if child.succeeded is not None and child.succeeded.n == success.n:
            gone = child.deletion
            return gone if gone is not None and (due_us is None or gone.t <= due_us) else None
    return None


@claim(
    "JS-102",
    field("JobSetConditionType.JobSetCompleted", 1),
    level=Level.DERIVED,
    decision=KEPT_JOBS,
    armed_by="JobSet that completed with Jobs",
)
def completed_jobset_runs_nothing(run: JobSetRun) -> Obligations:
    """When a JobSet completes, the controller MUST delete its Jobs that are not finished, and
    MUST keep the others."""
    end = run.end
    if end is not None and end.has_completed:
        known = [found.n for found in _successes(run, end)]
        known_n = min(known, default=-1) if is_any(run) else max(known, default=-1)
        yield from left_at_the_end(run, end, known_n)


@claim(
    "JS-116",
    field("ReplicatedJobStatus.succeeded", 1),
    level=Level.DERIVED,
    decision=SUCCESSES_LAST,
    armed_by="Job that had succeeded, and is gone",
)
def successes_last(run: JobSetRun) -> Obligations:
    """A Job that has succeeded MUST NOT be created again once it is deleted, unless the failure
    policy restarts it."""
    for name in run.wanted:
        children = run.children_of(name)
        for child, following in zip_longest(children, children[1:]):
            success, gone = success_of(run, child), child.deletion
            if success is None or child.track.removed is None or gone is None:
                continue
            until = run.history.end if following is None else following.track.created
            if is_replaced(run, child, until.n):
                continue
            due_us = run.operator.timing.due_us(success.t, 0)
            if due_us is None or gone.t <= due_us:
                yield undecided(gone, f"{child} may have succeeded unseen by the controller")
            elif following is None:
                yield met(child.track.removed)
            else:
                created = following.track.created
                yield violated(
                    created,
                    f"{when(created)}: {child} of {run} is created again, which had succeeded at "
                    f"{when(success)} and was deleted at {when(gone)}.",
                    success,
                )


def _successes(run: JobSetRun, by: Snapshot) -> Iterator[Moment]:
    """The successes for which a JobSet may have completed."""
    for name in targets(run):
        for child in run.children_of(name):
            success = success_of(run, child)
            if success is not None and success.n < by.n:
                yield success
