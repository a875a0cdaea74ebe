"""`assay tools team`: the manifests of a team, and of what all teams share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from mlbatch_tools.app_wrapper import DEFAULT_QUEUE, require_label
from mlbatch_tools.problems import ToolError
from mlbatch_tools.resources import GDR, GPU, share
from vocabulary.quantities import parse_quantity

TEAM_LABEL: Final = "mlbatch-team-namespace"
"""Kueue manages Jobs without a queue name in namespaces with this label."""
ROLE: Final = "mlbatch-edit"
SLACK_QUEUE: Final = "slack-cluster-queue"
PRIORITIES: Final = {"low-priority": 1, "default-priority": 5, "high-priority": 10}
_RBAC: Final = "rbac.authorization.k8s.io"
_KUEUE: Final = "kueue.x-k8s.io/v1beta1"
_FLAVOR: Final = "default-flavor"
_READ: Final = ("get", "list", "watch")
_ALL: Final = ("create", "delete", "get", "list", "patch", "update", "watch")
_RULES: Final[Sequence[tuple[str, Sequence[str], Sequence[str]]]] = (
    ("workload.codeflare.dev", ("appwrappers",), _ALL),
    ("kubeflow.org", ("pytorchjobs",), _ALL),
    ("ray.io", ("rayjobs", "rayclusters"), _ALL),
    ("scheduling.x-k8s.io", ("podgroups",), _ALL),
    ("", ("services", "secrets", "configmaps", "persistentvolumeclaims"), _ALL),
    # Pods, and what only AppWrappers may create: users look at them, and delete them.
    ("", ("pods",), ("delete", *_READ)),
    ("apps", ("deployments", "statefulsets"), ("delete", *_READ)),
    ("batch", ("jobs",), ("delete", *_READ)),
    ("kueue.x-k8s.io", ("*",), _READ),
    ("scheduling.k8s.io", ("priorityclasses",), _READ),
    ("", ("events",), _READ),
    ("", ("namespaces", "pods/log"), ("get",)),
    ("", ("pods/exec", "pods/portforward"), ("create",)),
)


@dataclass(frozen=True, slots=True)
class Quota:
    """The nominal quota of a cluster queue."""

    gpus: int
    cpus: str | int
    memory: str
    gdr: int
    pods: int

    @classmethod
    def for_gpus(
        cls, gpus: int, cpus: str | None = None, memory: str | None = None, pods: int = 100
    ) -> Quota:
        """The quota of these GPUs, with their share of a node unless more is said.

        Raises ToolError for an amount that cannot be read, or is 0.
        """
        if not gpus and not (cpus and memory):
            raise ToolError("--gpus 0 has no share of CPUs and memory; give --cpus and --memory")
        for option, amount in (("--cpus", cpus), ("--memory", memory)):
            _require_amount(option, amount)
        return cls(
            gpus=gpus,
            cpus=cpus or int(share("cpu", Fraction(gpus))),
            memory=memory or f"{int(share('memory', Fraction(gpus)) / 2**30)}Gi",
            gdr=int(share(GDR, Fraction(gpus))),
            pods=pods,
        )


def team(name: str, quota: Quota, groups: Iterable[str], users: Iterable[str]) -> list[Any]:
    """Return a team's objects, in the order in which they can be applied. Raises ToolError."""
    require_label("NAME", name)
    require_label("NAME-cluster-queue", f"{name}-cluster-queue")
    subjects = [("Group", each) for each in groups] + [("User", each) for each in users]
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": ROLE, "namespace": name},
        "subjects": [{"apiGroup": _RBAC, "kind": kind, "name": each} for kind, each in subjects],
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": ROLE},
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {TEAM_LABEL: "true"}},
        },
        _cluster_queue(f"{name}-cluster-queue", quota),
        {
            "apiVersion": _KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": DEFAULT_QUEUE, "namespace": name},
            "spec": {"clusterQueue": f"{name}-cluster-queue"},
        },
        _role(),
        binding,
    ]


def shared(slack_gpus: int) -> list[Any]:
    """Return what all teams share: the flavor, the priority classes, and the slack queue if it has
    GPUs."""
    flavor = {"apiVersion": _KUEUE, "kind": "ResourceFlavor", "metadata": {"name": _FLAVOR}}
    priorities = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "globalDefault": name == "default-priority",
            "preemptionPolicy": "PreemptLowerPriority",
        }
        for name, value in PRIORITIES.items()
    ]
    slack = [_cluster_queue(SLACK_QUEUE, Quota.for_gpus(slack_gpus))] if slack_gpus else []
    return [flavor, *priorities, *slack]


def _cluster_queue(name: str, quota: Quota) -> dict[str, Any]:
    amounts = {
        "cpu": quota.cpus,
        "memory": quota.memory,
        GPU: quota.gpus,
        GDR: quota.gdr,
        "pods": quota.pods,
    }
    resources = [{"name": each, "nominalQuota": amount} for each, amount in amounts.items()]
    flavors = [{"name": _FLAVOR, "resources": resources}]
    return {
        "apiVersion": _KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {
            "namespaceSelector": {},
            "cohort": "default-cohort",
            "preemption": {
                "withinClusterQueue": "LowerOrNewerEqualPriority",
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "Never"},
            },
            "resourceGroups": [{"coveredResources": list(amounts), "flavors": flavors}],
        },
    }


def _role() -> dict[str, Any]:
    rules = [
        {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
        for group, resources, verbs in _RULES
    ]
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": rules,
    }


def _require_amount(option: str, amount: str | None) -> None:
    try:
        if amount is not None and parse_quantity(amount) <= 0:
            raise ValueError(f"{amount!r} is nothing; write more than 0")
    except ValueError as error:
        raise ToolError(f"{option}: {error}") from error
