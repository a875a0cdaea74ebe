"""JS-090, 092, 097: each failure counts once, counters only grow, and an end comes."""

from __future__ import annotations

from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import FAIL_JOB_SET, KEP
from conformance.suites.jobset.decisions import (
    COUNTERS,
    FAILED_JOBS,
    FIRST_FAILURE,
    LIMITED_PARTIAL_RESTARTS,
)
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import api, future_work
from conformance.suites.jobset.view import Child, JobSetRun, Snapshot
from conformance.suites.jobset.view.answers import Answer, answers
from conformance.suites.jobset.view.back_off import backs_off
from conformance.suites.jobset.view.deletions import deletions_without_cause
from conformance.suites.jobset.view.status_steps import Step, is_replaced, steps
from conformance.suites.jobset.view.success import left_failed


@claim(
    "JS-090",
    api(30),
    level=Level.DERIVED,
    decision=(FIRST_FAILURE, FAILED_JOBS, COUNTERS),
    armed_by="restart or failure of a JobSet",
)
def each_failure_counts_once(run: JobSetRun) -> Obligations:
    """Each restart of a JobSet, and each failure of it by the policy, MUST answer a Job that
    failed and that no earlier restart has replaced, and before its end the controller MUST NOT
    delete a Job that has not completed and that no restart replaces."""
    for answer in answers(run):
        if answer.candidates:
            yield met(answer.candidates[0].failure, answer.after)
        elif answer.taken == FAIL_JOB_SET and _are_left(run, answer):
            yield undecided(answer.after, "Jobs had failed that are left so")
        elif answer.step.is_open:
            yield undecided(answer.after, f"the other counter of {run} may have followed")
        elif (failing := _is_failing(run, answer)) is not None:
            yield undecided(
                answer.after,
                f"{failing} was to fail by its FailureTarget",
                decision=FAILED_JOBS.id,
            )
        else:
            yield violated(
                answer.after,
                f"{when(answer.after)}: {answer.taken} of {run} answers no failure: no Job stood "
                "failed that an earlier restart had not replaced.",
                answer.before,
            )
    yield from deletions_without_cause(run)


def _are_left(run: JobSetRun, answer: Answer) -> bool:
    """True if Jobs are left failed, so that the success policy may be out of reach."""
    n = answer.step.first.n
    return any(
        failure.n < n and not is_replaced(run, failure.child, n) for failure in left_failed(run)
    )


def _is_failing(run: JobSetRun, answer: Answer) -> Child | None:
    """A Job that is about to fail, and that no earlier restart has replaced."""
    n = answer.step.first.n
    return next(
        (
            child
            for child in run.standing(n)
            if child.is_failing_at(n) and not is_replaced(run, child, n)
        ),
        None,
    )


@claim(
    "JS-092",
    api(26),
    level=Level.DERIVED,
    armed_by="restart of a JobSet",
)
def counters_only_grow(run: JobSetRun) -> Obligations:
    """The numbers of restarts, of the JobSet and of its parts, MUST never decrease; those of the
    JobSet that count MUST be at most all of them, and at most maxRestarts."""
    for before, after in run.changes:
        if not _is_by_the_controller(run, after):
            continue
        for key, was, is_ in (
            ("restarts", before.restarts, after.restarts),
            ("restartsCountTowardsMax", before.counted, after.counted),
        ):
            if is_ < was:
                yield violated(
                    after, f"{when(after)}: {key} of {run} went from {was} to {is_}.", before
                )
        for (replicated_job, job), was in before.partial.items():
            if (is_ := after.partial.get((replicated_job, job), 0)) < was:
                yield violated(
                    after,
                    f"{when(after)}: the restarts of {job or replicated_job} alone in {run} went "
                    f"from {was} to {is_}.",
                    before,
                )
    for step in steps(run):
        if not step.is_open:
            yield _within_limits(run, step)


def _within_limits(run: JobSetRun, step: Step) -> Obligation:
    after, limit = step.after, max(0, step.after.max_restarts)
    if after.counted > after.restarts or (
        after.counted > limit and after.counted > step.before.counted
    ):
        return violated(
            after,
            f"{when(after)}: {run} has {after.counted} counted restarts of {after.restarts}, and "
            f"maxRestarts is {after.max_restarts}.",
            step.before,
        )
    return met(step.before, after)


@claim(
    "JS-097",
    future_work(2),
    level=Level.DERIVED,
    decision=LIMITED_PARTIAL_RESTARTS,
    editions=(KEP,),
    armed_by="restart that counts, whole or partial",
)
def restarts_come_to_an_end(run: JobSetRun) -> Obligations:
    """Restarts of the JobSet that count and partial ones MUST together be at most maxRestarts,
    and a Job that restarts alone MUST NOT start again before its back-off is over."""
    yield from _within_budget(run)
    for step in steps(run):
        backed_off = backs_off(run, step)
        if backed_off is not None:
            yield backed_off


def _within_budget(run: JobSetRun) -> Obligations:
    """That all restarts that count are within the budget, also those that the status does not show
    any more."""
    spent = run.snapshots[0].used
    for before, after in run.changes:
        if not _is_by_the_controller(run, after):
            spent += after.used - before.used
            continue
        more = _growth(before, after)
        spent += more
        limit = max(0, after.max_restarts)
        if more and spent <= limit:
            yield met(before, after)
        elif more:
            yield violated(
                after,
                f"{when(after)}: {run} has spent {spent} restarts, whole and partial ones; "
                f"maxRestarts is {after.max_restarts}.",
                before,
            )


def _growth(before: Snapshot, after: Snapshot) -> int:
    """How many restarts that count a change of the status adds, whatever else it takes away."""
    partial = (
        times - before.partial_counted.get(key, 0) for key, times in after.partial_counted.items()
    )
    return sum(max(0, more) for more in (after.counted - before.counted, *partial))


def _is_by_the_controller(run: JobSetRun, after: Snapshot) -> bool:
    return not after.write.actor or run.operator.is_by(after.write.actor)
