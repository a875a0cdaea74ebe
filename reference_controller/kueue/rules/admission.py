"""Admission: quota that is given, and jobs that run under it."""

from __future__ import annotations

from reference_controller.kueue.books import Rank
from reference_controller.kueue.workload import Workload


class AdmissionRules:
    """Quota that is given."""

    def fits(self, asked: int, available: int) -> bool:
        """True if a queue that has so much left may give what is asked for."""
        return asked <= available

    def runs(self, workload: Workload) -> bool:
        """True if the job of a Workload may be started."""
        is_wanted = workload.is_active and not (workload.is_terminating or workload.is_finished)
        return is_wanted and workload.is_admitted and not workload.is_evicted

    def stops(self, workload: Workload) -> bool:
        """True if the job of a Workload has to be suspended: it has no quota, or is evicted."""
        return not workload.is_admitted or workload.is_evicted

    def turn(self, borrows: bool, rank: Rank) -> tuple[bool, Rank]:
        """The turn of a head among the heads of all queues: one that need not borrow comes
        first."""
        return borrows, rank
