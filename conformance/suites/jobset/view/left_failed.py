"""Jobs that FailJob has left failed, and that are gone."""

from __future__ import annotations

from conformance.suites.jobset.view.job_set import Child, Failure, JobSetRun
from conformance.suites.jobset.view.snapshots import Snapshot
from conformance.suites.jobset.view.status_steps import is_replaced
from conformance.suites.jobset.view.success import left_failed
from vocabulary.clock import SECOND
from vocabulary.objects import get_path


def is_left_failed(run: JobSetRun, child: Child) -> bool:
    """True if a Job was left failed, and no restart has replaced it since."""
    end = run.history.end
    return not is_replaced(run, child, end.n) and any(
        failure.child == child for failure in left_failed(run)
    )


def went_by_its_ttl(run: JobSetRun, failure: Failure) -> bool:
    """True if a Job was deleted once its TTL was over, after the status had shown that the
    controller had seen it fail."""
    deletion, job = failure.child.deletion, failure.write.object or {}
    ttl = get_path(job, "spec.ttlSecondsAfterFinished")
    if ttl is None or deletion is None or run.operator.is_by(deletion.actor):
        return False
    failed_us = failure.stamp_us - run.history.header.began_us
    is_over = deletion.t >= failed_us + int(ttl) * SECOND
    return is_over and any(
        failure.n < each.n < deletion.n and _counts(run, failure.child, each)
        for each in run.snapshots
    )


def _counts(run: JobSetRun, child: Child, state: Snapshot) -> bool:
    """True if as many failed Jobs of its replicated job are counted in the status as there are, it
    among them."""
    failed = [
        each
        for each in run.standing(state.n)
        if each.replicated_job == child.replicated_job
        and each.failed is not None
        and each.failed.n < state.n
    ]
    return any(
        each["name"] == child.replicated_job and int(each.get("failed", 0)) >= len(failed)
        for each in state.replicated_jobs_status
    )
