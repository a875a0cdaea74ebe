"""A history as checkers of Workloads see it.

- `workload`: one Workload's states, its evictions and admissions.
- `history`: all of them, with the queues that they wait in.
"""

from conformance.suites.kueue.view.history import KueueHistory
from conformance.suites.kueue.view.workload import Snapshot, WorkloadRun

__all__ = ["KueueHistory", "Snapshot", "WorkloadRun"]
