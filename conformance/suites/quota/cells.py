"""The cells of the table: a kind of jobs × a way to lose quota × how its pods stop.

Each is run by one case of a scenario, or cannot occur, for a reason that is the API's or Kueue's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

KINDS: Final = (
    "job",
    "jobset",
    "appwrapper",
    "pod",
    "pod-group",
    "deployment",
    "statefulset",
    "pytorchjob",
    "raycluster",
    "rayjob",
)
WAYS: Final = (
    "success",
    "failure",
    "retries-exhausted",
    "suspension",
    "preemption",
    "reclaim",
    "pods-ready-timeout",
    "recovery-timeout",
    "deactivation",
    "hold",
    "hold-and-drain",
    "quota-shrunk",
    "flavor-deleted",
    "queue-deleted",
    "deleted-in-foreground",
    "deleted-in-background",
    "deleted-with-orphans",
    "namespace-deleted",
)
STOPS: Final = {
    "quick": "stop 1s",
    "slow": "stop 1m",
    "stuck": "never stop",
    "held": "stop 1s",
}
"""How pods stop: within a second, after a minute, not before they are deleted forcefully; a
finalizer keeps those that are held."""


class Cell(NamedTuple):
    """One cell of the table."""

    kind: str
    way: str
    pods: str

    def __str__(self) -> str:
        return "/".join(self)


_KEEPS_QUOTA: Final = {
    "suspension": "Kueue resumes a job that a user suspends while its Workload is admitted "
    "(pkg/controller/jobframework/reconciler.go, ReconcileGenericJob)",
    "hold": "Hold evicts no admitted Workload (ClusterQueueSpec.stopPolicy)",
    "quota-shrunk": "Kueue evicts no Workload when quota is reduced "
    "(pkg/cache/scheduler/clusterqueue.go, updateQuotasAndResourceGroups)",
    "flavor-deleted": "a finalizer keeps a flavor while a queue refers to it "
    "(pkg/controller/core/resourceflavor_controller.go, Reconcile)",
    "queue-deleted": "a finalizer keeps a ClusterQueue while a Workload has quota of it "
    "(pkg/controller/core/clusterqueue_controller.go, Reconcile)",
}
_ENDS_WITH_ITS_PODS: Final = ("success", "failure", "retries-exhausted")


def why_impossible(cell: Cell) -> str:
    """The reason why a cell cannot occur; empty if it can."""
    if cell.way in _KEEPS_QUOTA:
        return _KEEPS_QUOTA[cell.way]
    if cell.way in _ENDS_WITH_ITS_PODS and cell.pods in ("slow", "stuck") and cell.kind == "job":
        return "a Job is Complete or Failed once its pods are terminal (batch/v1 JobConditionType)"
    if cell.kind == "appwrapper" and cell.way == "deleted-with-orphans":
        return "an AppWrapper's controller deletes what it wraps, however it is deleted itself"
    return ""


def all_cells() -> Iterator[Cell]:
    """Every cell of the table."""
    return (Cell(*each) for each in product(KINDS, WAYS, STOPS))
