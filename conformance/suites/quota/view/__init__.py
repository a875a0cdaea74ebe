"""The ledger: what Workloads reserve, against what their pods use.

- `pods`: a pod's span on a node, and the job at the root of its owners.
- `holding`: one Workload with its pods, as step functions; why it lost its quota, and when.
- `history`: all of them.
"""

from conformance.suites.quota.view.history import QuotaHistory
from conformance.suites.quota.view.holding import Holding, Loss, Step
from conformance.suites.quota.view.pods import PodSpan

__all__ = ["Holding", "Loss", "PodSpan", "QuotaHistory", "Step"]
