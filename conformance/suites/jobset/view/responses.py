"""The response to each failure: that one came, whichever it was, and however late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from conformance.history import Moment
from conformance.norm import Obligation, in_the_end, shared, undecided, violated
from conformance.norm.words import when
from conformance.suites.jobset.api import FAIL_JOB
from conformance.suites.jobset.view.answers import was_deleted_by_others
from conformance.suites.jobset.view.job_set import Failure, JobSetRun
from conformance.suites.jobset.view.matching import Matched, matched_by
from conformance.suites.jobset.view.status_steps import is_replaced, steps
from conformance.suites.jobset.view.success import success_policy_held


class Response(NamedTuple):
    """A failure that has to be answered, and what came of that."""

    matched: Matched
    obligation: Obligation


@shared
def responses(run: JobSetRun) -> Iterator[Response]:
    """The obligation to answer each failure of a Job that no restart had replaced before."""
    for failure in run.failures:
        standing = run.at(failure.n)
        if standing is None or standing.has_ended or is_replaced(run, failure.child, failure.n):
            continue
        matched = matched_by(standing.policy, failure)
        if matched.action != FAIL_JOB:
            yield Response(matched, _answered(run, failure))


def _answered(run: JobSetRun, failure: Failure) -> Obligation:
    end, deletion = run.end, failure.child.deletion
    is_lost = was_deleted_by_others(run, failure.child)
    answer: Moment | None = next(
        (
            step.first
            for step in steps(run)
            if step.first.n > failure.n and (step.concerns(failure.child) or step.after.has_ended)
        ),
        None,
    )
    if answer is None and end is not None:
        if success_policy_held(run, failure.n):
            return undecided(failure, f"{run} had succeeded by then")
        if is_lost and deletion is not None and deletion.n < end.n:
            return undecided(failure, f"{failure.child} was deleted by another client before")
        return violated(
            end,
            f"{when(end)}: {run} completed, though {failure} had failed before it could, at "
            f"{when(failure)}; a failure is answered before a success.",
            failure,
        )
    if answer is None and deletion is not None and deletion.n < failure.n:
        return undecided(failure, f"{failure.child} was being deleted when it failed")
    since = run.unsuspended_since(failure, answer)
    if since is None:
        return undecided(failure, f"{run} was suspended and not resumed")
    return in_the_end(
        run,
        f"the answer to the failure of {failure}",
        since=since,
        happened=answer,
        unless=run.hindrance(since, failure.child if is_lost else None),
        evidence=(failure,),
    )
