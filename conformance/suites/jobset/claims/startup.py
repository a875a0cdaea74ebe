"""JS-100: replicated jobs start in the order that their JobSet asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conformance.history import Moment
from conformance.norm import Obligation, Obligations, in_the_end, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.decisions import STARTED_JOBS
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.kind import JobState
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import Child, JobSetRun
from conformance.suites.jobset.view.generations import was_refused
from conformance.suites.jobset.view.status_steps import is_replaced
from vocabulary.history import Write
from vocabulary.objects import get_path

READY, COMPLETE = "Ready", "Complete"


@claim(
    "JS-100",
    field("StartupPolicyOptions.InOrder", 1),
    level=Level.DERIVED,
    decision=STARTED_JOBS,
    armed_by="Job of a replicated job that waits for another one",
)
def replicated_jobs_start_in_order(run: JobSetRun) -> Obligations:
    """A Job of a replicated job that waits for others MUST NOT be started before all of their
    Jobs are ready, or complete where dependsOn says so, and MUST be started then."""
    needs = _needs(run)
    for replicated_job, its_needs in needs.items():
        names = [name for name, (job, _) in run.wanted.items() if job == replicated_job]
        for name in names:
            for child in run.children_of(name):
                for start in child.starts:
                    yield _not_too_early(run, child, start, its_needs)
        yield from _started(run, names, its_needs)


class _Need(NamedTuple):
    """All Jobs of a replicated job have to be ready, or complete."""

    replicated_job: str
    status: str


def _needs(run: JobSetRun) -> dict[str, list[_Need]]:
    """By replicated job; those that wait for none are left out."""
    listed = get_path(run.track.first, "spec.replicatedJobs") or ()
    in_order = get_path(run.track.first, "spec.startupPolicy.startupPolicyOrder") == "InOrder"
    found: dict[str, list[_Need]] = {}
    for position, each in enumerate(listed):
        needs = [_Need(need["name"], need["status"]) for need in each.get("dependsOn") or ()]
        if in_order:
            needs += [_Need(former["name"], READY) for former in listed[:position]]
        if needs:
            found[each["name"]] = needs
    return found


def _not_too_early(
    run: JobSetRun, child: Child, start: Write, needs: Sequence[_Need]
) -> Obligation:
    if start.actor and not run.operator.is_by(start.actor):
        return undecided(start, f"another client started {child}")
    for need in needs:
        for name, (job, _) in run.wanted.items():
            if job == need.replicated_job and not _was(run, name, need.status, start):
                return violated(
                    start,
                    f"{when(start)}: {child} of {run} was started, and job/{name}, for which it "
                    f"waits, had not been {need.status} since the last restart.",
                    *(each.track.created for each in run.children_of(name)[-1:]),
                )
    return met(start)


def _was(run: JobSetRun, name: str, status: str, at: Moment) -> bool:
    """True if a Job of that name was in that state once, after the last resumption that counts."""
    resumed = [
        after
        for before, after in run.changes
        if before.is_suspended and not after.is_suspended and after.n <= at.n
    ]
    since_n = resumed[-1].n if resumed else -1
    for child in run.children_of(name):
        if child.track.created.n > at.n or is_replaced(run, child, at.n):
            continue
        for position, version in enumerate(child.track.versions):
            following = child.track.versions[position + 1 : position + 2]
            lasts = not following or following[0].n > since_n
            if version.n <= at.n and lasts and _is(JobState(version.object or {}), status):
                return True
    return False


def _is(job: JobState, status: str) -> bool:
    if job.is_complete:
        return True
    return status != COMPLETE and (job.is_failed or job.has_started)


def _started(run: JobSetRun, names: Sequence[str], needs: Sequence[_Need]) -> Obligations:
    """That the Jobs have been started when the JobSet comes to rest, if none need wait any more."""
    end = run.history.end
    last = run.at(end.n)
    if last is None or last.has_ended or last.is_suspended or last.is_terminating:
        return
    awaited = [
        (name, need.status)
        for need in needs
        for name, (job, _) in run.wanted.items()
        if job == need.replicated_job
    ]
    if not all(_stands(run, name, status) for name, status in awaited):
        return
    since = max(
        (run.children_of(name)[-1].track.versions[-1] for name, _ in awaited),
        key=_position,
        default=run.track.created,
    )
    for name in names:
        if was_refused(run, name, since):
            yield undecided(since, f"the creation of job/{name} was refused")
            continue
        starts = [start for child in run.children_of(name)[-1:] for start in child.starts]
        yield in_the_end(
            run, f"the start of job/{name}", since=since, happened=starts[-1] if starts else None
        )


def _stands(run: JobSetRun, name: str, status: str) -> bool:
    """True if the Job of that name is in that state when the history ends."""
    end = run.history.end
    children = [child for child in run.children_of(name) if child.track.exists_at(end.n)]
    if not children or children[-1].deletion is not None or is_replaced(run, children[-1], end.n):
        return False
    return _is(JobState(children[-1].track.last), status)


def _position(moment: Moment) -> int:
    return moment.n
