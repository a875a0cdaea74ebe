"""JS-047, 114: the work of a restart is bounded by the number of Jobs; no exception escapes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import Final

from conformance.norm import (
    WRITERS,
    Obligation,
    Obligations,
    exceptions,
    met,
    undecided,
    violated,
)
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.decisions import BOUNDED_WORK
from conformance.suites.jobset.judging import claim, claim_of_history
from conformance.suites.jobset.kind import JobState
from conformance.suites.jobset.sources import motivation
from conformance.suites.jobset.view import Child, JobSetHistory, JobSetRun
from conformance.suites.jobset.view.answers import was_deleted_by_others
from conformance.suites.jobset.view.needless import needless_requests
from conformance.suites.jobset.view.status_steps import Step, is_replaced, steps
from vocabulary.history import Write
from vocabulary.kinds import JOB

DELETES: Final = 2
"""Of each Job: one, and one more where its reply was lost."""
CHANGES: Final = 4
"""Of each Job, beside its creation and deletion: marks, suspension."""
STATUSES: Final = 2
"""For each change of a Job that the counts show."""
UNCHANGED: Final = 1
"""For each Job, the replaced ones included: writes of a status as it stands."""
REFUSED: Final = 1
"""For each Job."""
SPARE: Final = 8
"""Of each: for what a controller repeats whose cache lags, or that was started again."""


@claim(
    "JS-047",
    motivation(5),
    level=Level.PROVISIONAL,
    decision=BOUNDED_WORK,
    armed_by="restart of a JobSet",
    needs=(WRITERS,),
)
def restart_work_is_bounded(run: JobSetRun) -> Obligations:
    """For a restart the controller MUST NOT send more deletions, creations and changes of Jobs,
    writes of the status and requests that can only be refused than are in proportion to the
    number of Jobs."""
    restarts = [step for step in steps(run) if step.is_global]
    for step, following in zip_longest(restarts, restarts[1:]):
        last = run.history.end.n + 1 if following is None else following.first.n
        yield _bounded(run, step, min(last, _done(run, step)))


def _done(run: JobSetRun, step: Step) -> int:
    """The position from which work is not for that restart any more: all Jobs are ready or have
    finished, or a suspension takes them back."""
    suspensions = [
        after.n
        for before, after in run.changes
        if after.n > step.first.n and after.is_suspended and not before.is_suspended
    ]
    came = [_came_back(run, name, step.first.n) for name in run.wanted]
    return min(run.history.end.n + 1, *suspensions[:1], max(came, default=step.first.n))


def _came_back(run: JobSetRun, name: str, since: int) -> int:
    """The position at which a Job of that name was ready or had finished that the restart does
    not replace; beyond the end of the history if none was."""
    for child in run.children:
        if child.name == name and (child.succeeded is not None or child.track.created.n > since):
            for version in child.track.versions:
                if version.n > since and _is_ready_or_done(JobState(version.object or {})):
                    return version.n
            if child.succeeded is not None and child.track.exists_at(since):
                return since
    return run.history.end.n + 1


def _is_ready_or_done(job: JobState) -> bool:
    return job.is_failed or job.has_started


def _bounded(run: JobSetRun, step: Step, until: int) -> Obligation:
    involved = [
        child
        for child in run.children
        if child.track.created.n < until
        and (child.track.removed is None or child.track.removed.n > step.first.n)
    ]
    names = {child.name for child in involved}
    writes = [
        write
        for write in run.operator.writes
        if step.first.n < write.n < until
        and 200 <= write.code < 300
        and write.namespace == run.track.namespace
    ]
    needless = list(needless_requests(run, step.first.n, until))
    if len({write.actor for write in (*writes, *needless)}) > 1:
        return undecided(
            step.after, f"several operators worked on {run} at once, each with a cache"
        )
    of_jobs = [write for write in writes if write.kind == str(JOB) and write.name in names]
    statuses = [
        write
        for write in writes
        if write.kind == str(JOB_SET) and write.name == run.track.name and write.verb != "delete"
    ]
    needed = len(run.wanted) + sum(_is_needed_again(run, step, child) for child in involved)
    shown = sum(_changes_shown(child, step.first.n, until) for child in involved)
    for found, most, what in (
        (_with(of_jobs, "delete"), DELETES * len(involved), "deletions of Jobs"),
        (_with(of_jobs, "create"), needed, "creations of Jobs"),
        (_with(of_jobs, "update", "patch"), CHANGES * len(involved), "changes of Jobs"),
        (statuses, STATUSES * shown, "writes of the status"),
        (
            [write for write in statuses if not write.event and write.object is None],
            UNCHANGED * len(involved),
            "writes of the status that change nothing",
        ),
        (needless, REFUSED * len(involved), "requests that could only be refused"),
    ):
        if len(found) > SPARE + most:
            return violated(
                step.after,
                f"{when(step.after)}: for this restart of {run} the controller sent {len(found)} "
                f"{what}; {len(involved)} Jobs, whose counts changed {shown} times, need "
                f"{SPARE + most} at most.",
                found[-1],
            )
    return met(step.after)


def _with(writes: Iterable[Write], *verbs: str) -> list[Write]:
    return [write for write in writes if write.verb in verbs]


def _is_needed_again(run: JobSetRun, step: Step, child: Child) -> bool:
    """True if a Job that the restart has had created has to be created once more: another client
    deleted it, or it restarts again."""
    if child.track.created.n <= step.first.n:
        return False
    return was_deleted_by_others(run, child) or is_replaced(run, child, run.history.end.n + 1)


def _changes_shown(child: Child, since: int, until: int) -> int:
    """How often a Job has changed in what a JobSet's counts show of it."""
    versions = [each for each in child.track.versions if each.n < until]
    states = [_counted(JobState(each.object or {})) for each in versions]
    removed = child.track.removed
    found = int(since < child.track.created.n) + int(removed is not None and removed.n < until)
    for position in range(1, len(versions)):
        if versions[position].n > since:
            found += states[position] != states[position - 1]
    return found


def _counted(job: JobState) -> tuple[object, ...]:
    return (
        job.is_failed,
        job.is_complete,
        job.is_suspended,
        bool(job.active),
        job.ready,
        job.succeeded,
        job.is_terminating,
    )


@claim_of_history(
    "JS-114",
    exceptions.SOURCE,
    level=Level.DERIVED,
    armed_by="run of the controller",
    from_any_versions=True,
)
def jobset_controller_does_not_panic(view: JobSetHistory) -> Obligations:
    """The controller and its webhooks MUST NOT panic or raise an exception, whatever they meet."""
    yield from exceptions.escaped(view.history, view.operator)
