"""JS-099: Jobs are suspended and resumed with their JobSet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.history import Moment
from conformance.norm import Obligation, Obligations, in_the_end, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.decisions import SUSPENDED_JOBS
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.kind import JobState
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import Child, JobSetRun, Snapshot
from conformance.suites.jobset.view.startup import is_gated
from conformance.suites.jobset.view.status_steps import steps
from vocabulary.history import Write
from vocabulary.objects import condition, condition_status, get_path


@claim(
    "JS-099",
    field("JobSetSpec.suspend", 1),
    level=Level.DERIVED,
    decision=SUSPENDED_JOBS,
    armed_by="Job of a JobSet that was suspended or resumed",
)
def jobs_rest_with_their_jobset(run: JobSetRun) -> Obligations:
    """When a JobSet is suspended, its Jobs MUST be suspended, and none MUST be created that is
    not; when it is resumed, they MUST be resumed. Its condition Suspended MUST say so, and since
    when."""
    flips = list(_flips(run))
    for child in run.children:
        yield from _created(run, child, flips)
        for apart in _apart(run, child):
            yield _comes_together(run, apart)
    for position, flip in enumerate(flips):
        if position or flip.is_suspended:
            yield from _reported(run, flip, flips[position + 1 : position + 2])
    yield from _since_then(run)


class _Apart(NamedTuple):
    """A span in which a Job is not as its JobSet is."""

    child: Child
    since: Moment
    is_suspended: bool
    """The JobSet is, and the Job is not."""
    by: Write | None
    """The write of the Job that began it; None: the JobSet changed."""
    followed: Write | None
    """The write by which the Job followed."""
    until: Moment | None
    """The moment from which it need not follow any more."""


def _flips(run: JobSetRun) -> Iterator[Snapshot]:
    """The JobSet as it was created, and each state in which it is newly suspended or resumed."""
    before: Snapshot | None = None
    for each in run.snapshots:
        if before is None or each.is_suspended != before.is_suspended:
            yield each
        before = each


def _apart(run: JobSetRun, child: Child) -> Iterator[_Apart]:
    """The spans of one Job, up to its end or that of its JobSet."""
    over = _over(run, child)
    events: list[tuple[Moment, Write | None, bool]] = [
        (each, None, each.is_suspended) for each in _flips(run) if each.n > child.track.created.n
    ]
    events += [
        (each, each, JobState(each.object or {}).is_suspended) for each in child.track.versions
    ]
    standing = run.at(child.track.created.n)
    of_set = standing is not None and standing.is_suspended
    of_job = JobState(child.track.first).is_suspended
    since: Moment | None = None
    by: Write | None = None
    for moment, write, value in sorted(events, key=lambda event: event[0].n):
        was = of_set
        if write is None:
            of_set = value
        else:
            of_job = value
        if since is None and of_set != of_job:
            since, by = moment, write
        elif since is not None and of_set == of_job:
            until = over if write is not None else _first(over, moment)
            yield _Apart(child, since, was, by, write, until)
            since = None
    if since is not None:
        yield _Apart(child, since, of_set, by, None, over)


def _over(run: JobSetRun, child: Child) -> Moment | None:
    """The moment from which a Job need not follow its JobSet any more."""
    found: list[Moment] = [
        each for each in (child.succeeded, child.failed, child.deletion) if each is not None
    ]
    found += [step.first for step in steps(run) if step.concerns(child)]
    found += [each for each in run.snapshots if each.has_ended or each.is_terminating][:1]
    if run.track.removed is not None:
        found.append(run.track.removed)
    return min(found, key=_position, default=None)


def _first(one: Moment | None, other: Moment) -> Moment:
    return other if one is None else min(one, other, key=_position)


def _position(moment: Moment) -> int:
    return moment.n


def _created(run: JobSetRun, child: Child, flips: Sequence[Snapshot]) -> Obligations:
    """That no Job is created running in a JobSet that is known to be suspended."""
    created = child.track.created
    last = [flip for flip in flips if flip.n < created.n][-1:]
    if not last or not last[0].is_suspended:
        return
    if JobState(child.track.first).is_suspended:
        yield met(created)
    elif last[0] is flips[0] or _is_known(run, last[0], created):
        yield violated(
            created,
            f"{when(created)}: {child} was created to run; {run} was suspended at {when(last[0])}.",
            last[0],
        )
    else:
        yield undecided(created, f"the suspension of {run} may not have been seen")


def _is_known(run: JobSetRun, flip: Snapshot, at: Moment) -> bool:
    """True if the controller had reported a suspension, or suspended a Job, before a moment."""
    return any(flip.n < each.n < at.n and each.says_suspended for each in run.snapshots) or any(
        flip.n < each.n < at.n and JobState(each.object or {}).is_suspended
        for child in run.children
        for each in child.track.versions
    )


def _comes_together(run: JobSetRun, apart: _Apart) -> Obligation:
    child, since = apart.child, apart.since
    if apart.until is not None and apart.until.n <= since.n:
        return undecided(since, f"{child} had ended or was to be replaced")
    if apart.by not in (None, child.track.created) and not run.operator.is_by(apart.by.actor):
        return undecided(since, f"{child} may have been changed by another client")
    if not apart.is_suspended:
        if is_gated(run, child.replicated_job):
            return undecided(since, f"{child} may wait for other Jobs")
        if _has_another_template(run, since):
            return undecided(since, f"{child} gets another pod template, once it has stopped")
    return in_the_end(
        run,
        f"the {'suspension' if apart.is_suspended else 'resumption'} of {child}",
        since=since,
        happened=apart.followed,
        unless=apart.until,
    )


def _has_another_template(run: JobSetRun, at: Moment) -> bool:
    """True if the JobSet's replicated jobs are not what they were when it was created."""
    standing = run.at(at.n)
    now = {} if standing is None else standing.object
    return bool(
        get_path(now, "spec.replicatedJobs") != get_path(run.track.first, "spec.replicatedJobs")
    )


def _reported(run: JobSetRun, flip: Snapshot, following: Sequence[Snapshot]) -> Obligations:
    """That the condition Suspended reports it from some moment on, unless it has been suspended or
    resumed again."""
    if not flip.is_suspended and any(is_gated(run, job) for job, _ in run.wanted.values()):
        return  # it may stay until the last of the Jobs has been resumed
    wanted = "True" if flip.is_suspended else "False"
    states = [each for each in run.snapshots if each.n >= flip.n]
    ends: list[Moment] = [*following]
    ends += [each for each in states if each.has_ended or each.is_terminating][:1]
    if run.track.removed is not None:
        ends.append(run.track.removed)
    over = min(ends, key=_position, default=None)
    since: Snapshot | None = None
    for each in states:
        if over is not None and each.n >= over.n:
            break
        is_so = (condition_status(each.object, "Suspended") or "False") == wanted
        since = (since or each) if is_so else None
    yield in_the_end(
        run, f"the condition Suspended={wanted}", since=flip, happened=since, unless=over
    )


def _since_then(run: JobSetRun) -> Obligations:
    """That the transition time of the condition Suspended moves with its status alone."""
    for before, after in run.changes:
        was, is_ = (condition(each.object, "Suspended") for each in (before, after))
        if was is None or is_ is None or not run.operator.is_by(after.write.actor):
            continue
        if was["status"] != is_["status"]:
            continue
        if was.get("lastTransitionTime") != is_.get("lastTransitionTime"):
            yield violated(
                after,
                f"{when(after)}: the condition Suspended of {run} is {is_['status']} as before, "
                f"and its lastTransitionTime moved to {is_.get('lastTransitionTime')!r}.",
                before,
            )
