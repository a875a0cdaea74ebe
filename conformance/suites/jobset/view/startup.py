"""The order in which replicated jobs start: the startup policy, and `dependsOn`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from conformance.suites.jobset.kind import JobState
from conformance.suites.jobset.view.job_set import JobSetRun
from conformance.suites.jobset.view.status_steps import is_replaced
from vocabulary.objects import get_path


def is_gated(run: JobSetRun, replicated_job: str) -> bool:
    """True if its Jobs wait for those of other replicated jobs."""
    return any(True for _ in _needs(run, replicated_job))


def is_held_back(run: JobSetRun, replicated_job: str, n: int) -> bool:
    """True if a Job that its Jobs wait for is neither ready nor complete after position n."""
    return any(
        not _stands(run, name, status, n)
        for needed, status in _needs(run, replicated_job)
        for name, (job, _) in run.wanted.items()
        if job == needed
    )


def never_started(run: JobSetRun, left_failed: Collection[str]) -> dict[str, bool | None]:
    """By replicated job: True if its Jobs wait for the success of one that is left failed, or for
    Jobs that never start themselves; None if they wait for one that is left failed to be ready.
    The replicated jobs with Jobs that are left failed are given."""
    found: dict[str, bool | None] = {}
    for each in get_path(run.track.first, "spec.replicatedJobs") or ():
        blocks = {
            (status == "Complete" or None) if needed in left_failed else found.get(needed, False)
            for needed, status in _needs(run, each["name"])
        }
        found[each["name"]] = True if True in blocks else None if None in blocks else False
    return found


def _needs(run: JobSetRun, replicated_job: str) -> Iterator[tuple[str, str]]:
    """Each replicated job that one waits for, and whether it is to be `Ready` or `Complete`."""
    spec = run.track.first.get("spec") or {}
    in_order = get_path(spec, "startupPolicy.startupPolicyOrder") == "InOrder"
    for each in spec.get("replicatedJobs") or ():
        if each["name"] == replicated_job:
            for need in each.get("dependsOn") or ():
                yield need["name"], need["status"]
            return
        if in_order:
            yield each["name"], "Ready"


def _stands(run: JobSetRun, name: str, status: str, n: int) -> bool:
    for child in run.standing(n):
        version = child.track.version_at(n)
        if child.name != name or version is None or is_replaced(run, child, n):
            continue
        job = JobState(version.object or {})
        if job.is_failed:
            return False
        return job.is_complete or (status == "Ready" and job.has_started)
    return False
