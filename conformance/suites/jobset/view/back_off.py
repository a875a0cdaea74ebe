"""The back-off of Jobs that restart alone, and how long they had run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.history import Moment
from conformance.history.tracks import Instant
from conformance.norm import Obligation, not_before, undecided
from conformance.suites.jobset.api import RESTART_JOB
from conformance.suites.jobset.view.job_set import Child, Failure, JobSetRun
from conformance.suites.jobset.view.status_steps import Step, is_replaced, steps
from vocabulary.clock import MINUTE, SECOND, Micros, parse_rfc3339
from vocabulary.objects import get_path

FIRST_BACKOFF_US: Final = SECOND
MAX_BACKOFF_US: Final = MINUTE
HEALTHY_US: Final = 10 * MINUTE
_START_US: Final = MINUTE
"""The pods of a Job run at least as long as it does, less this span for their start."""


def backs_off(run: JobSetRun, step: Step) -> Obligation | None:
    """That a Job which restarts alone runs again no earlier than after its back-off; None if the
    step restarts no single Job."""
    failure = next(_answered(run, step), None)
    if step.taken != RESTART_JOB or failure is None:
        return None
    child = failure.child
    following = run.successor(child)
    if following is None:
        return undecided(failure, f"{child} did not come back")
    started = next(following.starts, None)
    if started is None:
        return undecided(failure, f"{following} came suspended, and was not resumed")
    if started.actor and not run.operator.is_by(started.actor):
        return undecided(failure, f"another client started {following}")
    if any(
        step.first.n < later.first.n < started.n and later.concerns(child) for later in steps(run)
    ):
        return undecided(failure, f"{child} came back with others, by another restart")
    times = _fewest_in_a_row(run, step, child)
    return not_before(
        run,
        f"the start of {following}",
        since=Instant(failure.n, failure.stamp_us - run.history.header.began_us),
        at_least_us=_backoff_us(times),
        happened=started,
        own=False,
        origin="the back-off of restarted Jobs",
        evidence=(failure, step.first),
    )


def longest_backoff_us(run: JobSetRun, step: Step, child: Child) -> Micros:
    """The longest back-off that a Job may have which a step restarts: that of a restart of its
    replicated job may be the same."""
    scopes = ((child.replicated_job, ""), (child.replicated_job, child.name))
    times = 0
    for each in steps(run):
        if each.partial in scopes and each.first.n <= step.first.n:
            ran_us = [_ran_us(failure) for failure in _answered(run, each)]
            times = 1 if min(ran_us, default=0) >= HEALTHY_US + _START_US else times + 1
    return _backoff_us(times)


def _answered(run: JobSetRun, step: Step) -> Iterator[Failure]:
    """The failures that a partial restart may answer, of the Jobs that it concerns; the earliest
    first."""
    found = [
        failure
        for failure in run.failures
        if failure.n < step.first.n
        and step.concerns(failure.child)
        and failure.child.track.exists_at(step.first.n)
        and not is_replaced(run, failure.child, step.first.n)
    ]
    yield from sorted(found, key=lambda failure: (failure.stamp_us, failure.n))


def _backoff_us(times: int) -> Micros:
    """The back-off of a Job that has restarted so often in a row."""
    return min(FIRST_BACKOFF_US << min(max(times, 1) - 1, 10), MAX_BACKOFF_US)


def _fewest_in_a_row(run: JobSetRun, step: Step, child: Child) -> int:
    """How many restarts of that Job alone came without a long run in between, at least."""
    times, since = 0, -1
    for each in steps(run):
        if each.partial == step.partial and each.first.n <= step.first.n:
            ran_long = _may_have_run_long(run, child.name, since, each.first)
            times = 1 if ran_long else times + 1
            since = each.first.n
    return times


def _may_have_run_long(run: JobSetRun, name: str, since: int, until: Moment) -> bool:
    """True if a Job of that name that stood in a span may have run as long as resets its
    back-off, suspensions included."""
    return any(
        _until(child, until).t - started_us >= HEALTHY_US
        for child in run.children
        if child.name == name
        and child.track.created.n < until.n
        and (child.track.removed is None or child.track.removed.n > since)
        and (started_us := _first_started_us(run, child)) is not None
    )


def _until(child: Child, until: Moment) -> Moment:
    ends = (child.failed, child.succeeded, child.deletion, until)
    return min((each for each in ends if each is not None), key=lambda moment: moment.n)


def _first_started_us(run: JobSetRun, child: Child) -> Micros | None:
    """When a Job started for the first time: a suspension has it start again."""
    for version in child.track.versions:
        started = get_path(version.object or {}, "status.startTime")
        if started is not None:
            return parse_rfc3339(started) - run.history.header.began_us
    return None


def _ran_us(failure: Failure) -> Micros:
    """How long a Job had run when it failed, since it was resumed the last time."""
    started = get_path(failure.write.object or {}, "status.startTime")
    return 0 if started is None else failure.stamp_us - parse_rfc3339(started)
