"""The JobSets of a history."""

from __future__ import annotations

from conformance.history import Track
from conformance.norm.view import ObjectView
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.kind import JobSetState
from conformance.suites.jobset.view.job_set import JobSetRun


class JobSetHistory(ObjectView[JobSetRun]):
    """The JobSets of the controller under test; others may be another one's to manage."""

    role = "jobset"
    kind = JOB_SET

    def run_of(self, track: Track) -> JobSetRun | None:
        return JobSetRun(self, track) if JobSetState(track.first).is_managed else None
