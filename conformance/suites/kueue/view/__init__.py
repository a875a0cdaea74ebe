"""A history as checkers of Workloads see it.

- `workload`: one Workload's states, its evictions and admissions.
- `standing`: the quota at a position: what is held, and what is left.
- `queues`: all queues: who comes first, who fits.
- `history`: all of them, with the queues that they wait in.
"""

from conformance.suites.kueue.view.history import KueueHistory
from conformance.suites.kueue.view.standing import Standing, usage_of
from conformance.suites.kueue.view.workload import Snapshot, WorkloadRun

__all__ = ["KueueHistory", "Snapshot", "Standing", "WorkloadRun", "usage_of"]
