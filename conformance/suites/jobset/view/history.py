"""The JobSets of a history."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from conformance.history import History
from conformance.history.operator import OperatorView
from conformance.norm.claim import Claim
from conformance.norm.obligations import Obligation
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.kind import JobSetState
from conformance.suites.jobset.view.job_set import JobSetRun, edition_of_history

ROLE: Final = "jobset"


class JobSetHistory:
    """The index of a history, and its JobSets."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.operator = history.operators.get(ROLE) or OperatorView(history, ROLE)

    def close(self) -> None:
        for subject in self.subjects:
            subject.answers.clear()
        vars(self).clear()

    @cached_property
    def edition(self) -> str:
        """The edition of the norm that it is judged by."""
        return edition_of_history(self.history)

    @cached_property
    def subjects(self) -> tuple[JobSetRun, ...]:
        """The JobSets of the controller under test; others may be another one's to manage."""
        return tuple(
            JobSetRun(self.history, self.operator, track)
            for track in self.history.by_kind.get(str(JOB_SET), ())
            if JobSetState(track.first).is_managed
        )

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        """No decision leaves a violation undecided."""
        del claim, broken
        return None
