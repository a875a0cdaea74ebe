"""The cells of the table: a kind of jobs × a way to lose quota × how its pods stop.

Each is run by one case of a scenario, or cannot occur, for a reason that is the API's, or a line
of a controller.
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

HELD_BY: Final = "assay.dev/held"
"""That finalizer."""


class Cell(NamedTuple):
    """One cell of the table."""

    kind: str
    way: str
    pods: str

    def __str__(self) -> str:
        return "/".join(self)


_KEEPS_QUOTA: Final = {
    "suspension": "Kueue resumes a job that a user suspends while its Workload is admitted "
    "(kueue v0.19.2, pkg/controller/jobframework/reconciler.go#L622)",
    "hold": "Hold evicts no admitted Workload "
    "(kueue v0.19.2, apis/kueue/v1beta1/clusterqueue_types.go#L129)",
    "quota-shrunk": "Kueue evicts no Workload when quota is reduced "
    "(kueue v0.19.2, pkg/cache/scheduler/clusterqueue.go#L235)",
    "flavor-deleted": "a finalizer keeps a flavor while a queue refers to it "
    "(kueue v0.19.2, pkg/controller/core/resourceflavor_controller.go#L107)",
    "queue-deleted": "a finalizer keeps a ClusterQueue while a Workload has quota of it "
    "(kueue v0.19.2, pkg/controller/core/clusterqueue_controller.go#L193)",
}
_SERVING: Final = ("deployment", "statefulset")
"""The kinds that may be scaled to 0, which is how they are suspended."""
_ENDINGS: Final = ("success", "failure", "retries-exhausted")
_NEVER_END: Final = {
    **dict.fromkeys(
        _SERVING, "apps/v1 has no end of a Deployment or StatefulSet: it takes restartPolicy Always"
    ),
    "raycluster": "a RayCluster does not end "
    "(kueue v0.19.2, pkg/controller/jobs/raycluster/raycluster_controller.go#L130)",
}
_END_WITH_PODS: Final = {
    "job": "a Job is Complete or Failed once its pods are terminal (batch/v1 JobConditionType)",
    **dict.fromkeys(
        ("pod", "pod-group"),
        "a pod or a group has ended once its pods are terminal "
        "(kueue v0.19.2, pkg/controller/jobs/pod/pod_controller.go#L372)",
    ),
}
_NO_SUSPENSION: Final = "core/v1 Pods have no field that suspends them"
_NO_LIMIT: Final = (
    "a pod has no limit of restarts, and a group none of replacements "
    "(core/v1 PodSpec.restartPolicy; kueue v0.19.2, pkg/controller/jobs/pod/pod_controller.go#L372)"
)
_STAYS_READY: Final = {
    kind: "a RayCluster that was ready is so until it is suspended (status.state), and Kueue asks "
    f"for that alone (kueue v0.19.2, pkg/controller/jobs/{kind}/{kind}_controller.go#L{line})"
    for kind, line in (("raycluster", 135), ("rayjob", 229))
}
_APP_WRAPPER: Final = "appwrapper v1.2.0, internal/controller/appwrapper/appwrapper_controller.go"
_PODS_OWN: Final = (
    "the pods of a Deployment or StatefulSet own its Workloads, and an orphaning deletion leaves "
    "them (kueue v0.19.2, pkg/controller/jobs/pod/pod_controller.go#L1068)"
)


def why_impossible(cell: Cell) -> str:
    """The reason why a cell cannot occur; empty if it can."""
    kind, way, pods = cell
    if way == "suspension" and kind in ("pod", "pod-group"):
        return _NO_SUSPENSION
    if way in _KEEPS_QUOTA and not (way == "suspension" and kind in _SERVING):
        return _KEEPS_QUOTA[way]
    if way in _ENDINGS and kind in _NEVER_END:
        return _NEVER_END[kind]
    if way == "retries-exhausted" and kind in ("pod", "pod-group"):
        return _NO_LIMIT
    if way in _ENDINGS and kind in _END_WITH_PODS and pods in ("slow", "stuck"):
        return _END_WITH_PODS[kind]
    if way == "recovery-timeout" and kind in _STAYS_READY:
        return _STAYS_READY[kind]
    if kind == "appwrapper" and way == "success" and pods in ("slow", "stuck"):
        return f"an AppWrapper is Succeeded once none of its pods runs ({_APP_WRAPPER}#L303)"
    if kind == "appwrapper" and way == "deleted-with-orphans":
        return (
            "an AppWrapper's controller deletes what it wraps, however it is deleted itself "
            f"({_APP_WRAPPER}#L118)"
        )
    if kind in _SERVING and way == "deleted-with-orphans":
        return _PODS_OWN
    return ""


def all_cells() -> Iterator[Cell]:
    """Every cell of the table."""
    return (Cell(*each) for each in product(KINDS, WAYS, STOPS))
