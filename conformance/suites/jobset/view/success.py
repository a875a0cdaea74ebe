"""The success policy: when enough child Jobs had succeeded."""

from __future__ import annotations

from conformance.suites.jobset.view.job_set import JobSetRun
from vocabulary.objects import get_path


def success_policy_held(run: JobSetRun, n: int) -> bool:
    """True if the success policy held at position n, whatever else had happened by then."""
    spec = run.track.first.get("spec") or {}
    targets = get_path(spec, "successPolicy.targetReplicatedJobs") or ()
    aimed_at = {name for name, (job, _) in run.wanted.items() if not targets or job in targets}
    succeeded = {
        child.name
        for child in run.standing(n)
        if child.name in aimed_at and child.succeeded is not None and child.succeeded.n <= n
    }
    if get_path(spec, "successPolicy.operator", "All") == "Any":
        return bool(succeeded)
    return succeeded == aimed_at
