"""The cells of the table: a kind of jobs × a way to lose quota × how its pods stop.

Each is run by one case of a scenario, or cannot occur, for a reason that is the API's, or a line
of a controller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


LATEST: Final = "v0.19.2"
"""The release of Kueue whose lines explain what a controller that is no release cannot do."""
_LINES: Final[Mapping[str, Mapping[str, str]]] = {
    "v0.19.2": {
        "resumes": "pkg/controller/jobframework/reconciler.go#L622",
        "hold": "apis/kueue/v1beta1/clusterqueue_types.go#L129",
        "quota": "pkg/cache/scheduler/clusterqueue.go#L235",
        "flavor": "pkg/controller/core/resourceflavor_controller.go#L107",
        "queue": "pkg/controller/core/clusterqueue_controller.go#L193",
        "pod": "pkg/controller/jobs/pod/pod_controller.go#L372",
        "members": "pkg/controller/jobs/pod/pod_controller.go#L1068",
        "raycluster-ends": "pkg/controller/jobs/raycluster/raycluster_controller.go#L130",
        "raycluster-ready": "pkg/controller/jobs/raycluster/raycluster_controller.go#L135",
        "rayjob-ready": "pkg/controller/jobs/rayjob/rayjob_controller.go#L229",
    },
    "v0.12.3": {
        "resumes": "pkg/controller/jobframework/reconciler.go#L545",
        "hold": "apis/kueue/v1beta1/clusterqueue_types.go#L128",
        "quota": "pkg/cache/clusterqueue.go#L189",
        "flavor": "pkg/controller/core/resourceflavor_controller.go#L100",
        "queue": "pkg/controller/core/clusterqueue_controller.go#L194",
        "pod": "pkg/controller/jobs/pod/pod_controller.go#L342",
        "members": "pkg/controller/jobs/pod/pod_controller.go#L939",
        "raycluster-ends": "pkg/controller/jobs/raycluster/raycluster_controller.go#L188",
        "raycluster-ready": "pkg/controller/jobs/raycluster/raycluster_controller.go#L193",
        "rayjob-ready": "pkg/controller/jobs/rayjob/rayjob_controller.go#L247",
    },
    "v0.6.2": {
        "resumes": "pkg/controller/jobframework/reconciler.go#L382",
        "hold": "apis/kueue/v1beta1/clusterqueue_types.go#L107",
        "quota": "pkg/cache/clusterqueue.go#L248",
        "flavor": "pkg/controller/core/resourceflavor_controller.go#L94",
        "queue": "pkg/controller/core/clusterqueue_controller.go#L174",
        "pod": "pkg/controller/jobs/pod/pod_controller.go#L316",
        "raycluster-ends": "pkg/controller/jobs/raycluster/raycluster_controller.go#L162",
        "raycluster-ready": "pkg/controller/jobs/raycluster/raycluster_controller.go#L173",
    },
}
"""By release, the lines that the reasons name."""

_KEEPS_QUOTA: Final = {
    "suspension": "Kueue resumes a job that a user suspends while its Workload is admitted "
    "({resumes})",
    "hold": "Hold evicts no admitted Workload ({hold})",
    "quota-shrunk": "Kueue evicts no Workload when quota is reduced ({quota})",
    "flavor-deleted": "a finalizer keeps a flavor while a queue refers to it ({flavor})",
    "queue-deleted": "a finalizer keeps a ClusterQueue while a Workload has quota of it ({queue})",
}
_SERVING: Final = ("deployment", "statefulset")
"""The kinds that may be scaled to 0, which is how they are suspended."""
_ENDINGS: Final = ("success", "failure", "retries-exhausted")
_NEVER_END: Final = {
    **dict.fromkeys(
        _SERVING, "apps/v1 has no end of a Deployment or StatefulSet: it takes restartPolicy Always"
    ),
    "raycluster": "a RayCluster does not end ({raycluster-ends})",
}
_END_WITH_PODS: Final = {
    "job": "a Job is Complete or Failed once its pods are terminal (batch/v1 JobConditionType)",
    **dict.fromkeys(
        ("pod", "pod-group"), "a pod or a group has ended once its pods are terminal ({pod})"
    ),
}
_NO_SUSPENSION: Final = "core/v1 Pods have no field that suspends them"
_NO_LIMIT: Final = (
    "a pod has no limit of restarts, and a group none of replacements "
    "(core/v1 PodSpec.restartPolicy; {pod})"
)
_STAYS_READY: Final = {
    kind: "a RayCluster that was ready is so until it is suspended (status.state), and Kueue asks "
    f"for that alone ({{{kind}-ready}})"
    for kind in ("raycluster", "rayjob")
}
_APP_WRAPPER: Final = "appwrapper v1.2.0, internal/controller/appwrapper/appwrapper_controller.go"
_PODS_OWN: Final = (
    "the pods of a Deployment or StatefulSet own its Workloads, and an orphaning deletion leaves "
    "them ({members})"
)


def why_impossible(cell: Cell, release: str = LATEST) -> str:
    """The reason why a cell cannot occur, by the lines of a release of Kueue; empty if it can."""
    reason = _why_impossible(cell)
    for name in _LINES[LATEST]:
        named = release if name in _LINES.get(release, {}) else LATEST
        reason = reason.replace(f"{{{name}}}", f"kueue {named}, {_LINES[named][name]}")
    return reason


def _why_impossible(cell: Cell) -> str:
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
