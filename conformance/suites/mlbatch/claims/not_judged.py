"""MLB-007 to 014, 029, 031, 060, 071, 072: what the guide's tools and its administrator do.

No history of a run shows them. Each names the command that does.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from conformance.norm.claim import not_judged
from conformance.suites.kueue.sources import guide

_ROLES: Final = (
    "It is a right, not a behaviour. `assay tools team` writes the role; `pytest "
    "tests/control_plane/test_mlbatch_tools.py` asks a real API server for each kind by access "
    "reviews."
)
_CHECKER: Final = (
    "It is the output of a tool. `assay tools cluster-checker` prints it; `pytest tests/tools` "
    "compares it with the guide's table."
)
_TEAM: Final = (
    "The administrator sets it up. `assay tools team` writes it, and every scenario of this suite "
    "stands on it."
)

_not_judged: Final = partial(not_judged, "mlbatch")

MLB_007: Final = _not_judged(
    "MLB-007",
    "users-may-not-evade-quota",
    guide("Quotas", 7),
    "Users MUST NOT be allowed to create pods, Jobs, and other kinds of workloads by themselves.",
    _ROLES,
)
MLB_008: Final = _not_judged(
    "MLB-008",
    "teams-have-a-namespace-and-a-queue",
    guide("Quotas", 8),
    "Each team MUST have a namespace, and a ClusterQueue that is named after it.",
    _TEAM,
)
MLB_009: Final = _not_judged(
    "MLB-009",
    "queues-are-named-default-queue",
    guide("Quotas", 9),
    "The LocalQueue of each namespace MUST be named `default-queue`.",
    _TEAM,
)
MLB_010: Final = _not_judged(
    "MLB-010",
    "checker-has-a-row-for-each-queue",
    guide("Cluster Checker", 1),
    "The checker MUST print a row for each ClusterQueue: its quota and usage of GPUs, and how many "
    "workloads are admitted and pending.",
    _CHECKER,
)
MLB_011: Final = _not_judged(
    "MLB-011",
    "checker-shows-borrowed-usage",
    guide("Cluster Checker", 2),
    "The usage of a queue that borrows MAY exceed its quota.",
    _CHECKER,
)
MLB_012: Final = _not_judged(
    "MLB-012",
    "checker-counts-nodes",
    guide("Cluster Checker", 3),
    "The schedulable GPUs MUST be those of all nodes less those that cannot be used.",
    _CHECKER,
)
MLB_013: Final = _not_judged(
    "MLB-013",
    "checker-sums-up-quota",
    guide("Cluster Checker", 4),
    "The total quota MUST be the nominal quota of the teams and the slack quota.",
    _CHECKER,
)
MLB_014: Final = _not_judged(
    "MLB-014",
    "checker-sums-up-usage",
    guide("Cluster Checker", 5),
    "The usage and the borrowed quota of all queues MUST be summed up.",
    _CHECKER,
)
MLB_029: Final = _not_judged(
    "MLB-029",
    "packager-wraps-manifests",
    guide("AppWrappers", 11),
    "The packager MUST wrap a manifest as it is.",
    "It is the output of a tool. `assay tools appwrapper-packager` writes it; `pytest tests/tools` "
    "wraps and reads back arbitrary manifests.",
)
MLB_031: Final = _not_judged(
    "MLB-031",
    "generator-takes-legacy-files",
    guide("AppWrappers", 13),
    "The generator MUST accept files of the legacy tool, and ignore their settings for fault "
    "tolerance.",
    "It is the output of a tool. `assay tools pytorch-generator` writes it; `pytest tests/tools` "
    "reads legacy files.",
)
MLB_060: Final = _not_judged(
    "MLB-060",
    "three-priority-classes",
    guide("Priorities and Preemption", 11),
    "The PriorityClasses `high-priority`, `default-priority` and `low-priority` MUST exist.",
    _TEAM,
)
MLB_071: Final = _not_judged(
    "MLB-071",
    "users-may-create-workloads",
    guide("Kinds of Resources", 1),
    "Users MUST be allowed to create AppWrappers, PyTorchJobs, RayJobs and RayClusters.",
    _ROLES,
)
MLB_072: Final = _not_judged(
    "MLB-072",
    "users-may-create-other-resources",
    guide("Kinds of Resources", 5),
    "Users MUST be allowed to create Services, Secrets, ConfigMaps, PersistentVolumeClaims and "
    "PodGroups.",
    _ROLES,
)
