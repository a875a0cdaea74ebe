"""JS-105: a JobSet's status counts its Jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from conformance.norm import Obligations, in_the_end
from conformance.norm.claim import Level
from conformance.suites.jobset.decisions import COUNTED_JOBS
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.kind import JobState
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.left_failed import is_left_failed
from conformance.suites.jobset.view.status_steps import is_replaced
from conformance.suites.jobset.view.success import left_failed, success_of
from vocabulary.history import Write

_KEYS: Final = ("ready", "succeeded", "failed", "active", "suspended")


@claim(
    "JS-105",
    field("ReplicatedJobStatus.ready", 1),
    level=Level.DERIVED,
    decision=COUNTED_JOBS,
    armed_by="JobSet came to rest before its end",
)
def status_counts_the_jobs(run: JobSetRun) -> Obligations:
    """When a JobSet that has not ended comes to rest, its status MUST say of each replicated job
    how many Jobs are ready, active and suspended, and how many have succeeded and failed."""
    end = run.history.end
    last = run.at(end.n)
    if not run.history.is_stable or last is None or last.has_ended or last.is_terminating:
        return
    told = {each["name"]: each for each in last.replicated_jobs_status}
    by_job: dict[str, list[Write]] = {job: [] for job, _ in run.wanted.values()}
    for child in run.standing(end.n):
        if child.replicated_job not in by_job:
            continue
        if child.deletion is not None or is_replaced(run, child, end.n):
            del by_job[child.replicated_job]  # it is in between
        else:
            by_job[child.replicated_job].append(child.track.versions[-1])
    # Jobs that have succeeded, or were left failed, and are gone may count.
    gone = {
        "failed": Counter(
            failure.child.replicated_job
            for failure in left_failed(run)
            if failure.child.track.removed is not None and is_left_failed(run, failure.child)
        ),
        "succeeded": Counter(
            child.replicated_job
            for child in run.children
            if child.track.removed is not None
            and success_of(run, child) is not None
            and not is_replaced(run, child, end.n)
        ),
    }
    for replicated_job, jobs in by_job.items():
        counts = _counts([JobState(job.object or {}) for job in jobs])
        found = told.get(replicated_job, {})
        fits = all(
            0 <= int(found.get(key, 0)) - count <= gone.get(key, Counter())[replicated_job]
            for key, count in counts.items()
        )
        since = max(jobs, key=lambda write: write.n, default=run.track.created)
        yield in_the_end(
            run,
            f"a status of {replicated_job} with {_words(counts)} (it has "
            f"{_words({key: int(found.get(key, 0)) for key in _KEYS})})",
            since=since,
            happened=last if fits else None,
        )


def _counts(jobs: Sequence[JobState]) -> dict[str, int]:
    open_ = [job for job in jobs if not job.has_finished]
    return {
        "ready": sum(job.has_started for job in open_),
        "succeeded": sum(job.is_complete for job in jobs),
        "failed": sum(job.is_failed for job in jobs),
        "active": sum(job.active > 0 for job in open_),
        "suspended": sum(job.is_suspended for job in open_),
    }


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {key}" for key, count in counts.items())
