"""The success policy: which Jobs it is about, and when enough of them had succeeded."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment
from conformance.norm import shared
from conformance.suites.jobset.api import FAIL_JOB
from conformance.suites.jobset.view.job_set import Child, Failure, JobSetRun
from conformance.suites.jobset.view.matching import matched_by
from conformance.suites.jobset.view.status_steps import is_replaced
from vocabulary.objects import get_path


def is_any(run: JobSetRun) -> bool:
    """True if one success is enough, by what the user asked for: the API's default is All."""
    asked = run.track.created.submitted or run.track.first
    return bool(get_path(asked, "spec.successPolicy.operator", "All") == "Any")


@shared
def targets(run: JobSetRun) -> Iterator[str]:
    """The names of the Jobs that the success policy is about."""
    aimed_at = get_path(run.track.first, "spec.successPolicy.targetReplicatedJobs") or ()
    for name, (job, _) in run.wanted.items():
        if not aimed_at or job in aimed_at:
            yield name


def success_policy_held(run: JobSetRun, n: int) -> bool:
    """True if the success policy held at position n, whatever else had happened by then."""
    aimed_at = set(targets(run))
    succeeded = {
        child.name
        for child in run.standing(n)
        if child.name in aimed_at and child.succeeded is not None and child.succeeded.n <= n
    }
    return bool(succeeded) if is_any(run) else succeeded == aimed_at


def success_of(run: JobSetRun, child: Child) -> Moment | None:
    """The success of a Job, if no restart had replaced it by then."""
    found = child.succeeded
    return None if found is None or is_replaced(run, child, found.n) else found


def may_count(run: JobSetRun, name: str, at: Moment) -> bool:
    """True if the controller may have seen a Job of that name that had succeeded, and none that
    had come after it."""
    children = [child for child in run.children_of(name) if child.track.created.n <= at.n]
    seen_us = run.operator.timing.seen_us(at.t)
    for position, child in enumerate(children):
        success = child.succeeded
        following = children[position + 1 : position + 2]
        if success is None or success.n > at.n:
            continue
        if not following or following[0].track.created.t >= seen_us:
            return True
    return False


@shared
def left_failed(run: JobSetRun) -> Iterator[Failure]:
    """The failures of Jobs that the policy leaves as they are."""
    for failure in run.failures:
        standing = run.at(failure.n)
        if standing is None or standing.has_ended or is_replaced(run, failure.child, failure.n):
            continue
        if matched_by(standing.policy, failure).action == FAIL_JOB:
            yield failure
