"""Workloads and ClusterQueues as tests make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    PRIORITY_CLASS,
    RESOURCE_FLAVOR,
    WORKLOAD,
)
from reference_controller.kueue.quota import ClusterQueue
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from vocabulary.clock import SECOND, to_rfc3339
from vocabulary.kinds import Kind
from vocabulary.objects import Object

PREFIX: Final = "run-"
"""Begins the names of cluster-scoped objects of a run."""


def cluster_queue(name: str, cohort: str = "", cpu: int = 4, **spec: Any) -> ClusterQueue:
    """A ClusterQueue with one flavor; `spec` are further fields."""
    resources = [{"name": "cpu", "nominalQuota": cpu}]
    groups = [
        {"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": resources}]},
    ]
    made = {"cohort": cohort, "resourceGroups": groups, **spec}
    return ClusterQueue({"metadata": {"name": name}, "spec": made}, Rules())


def workload(
    uid: str,
    cpu: int = 1,
    *,
    priority: int = 0,
    created_s: int = 0,
    queue: str = "main",
    holds: str = "",
    since_s: int = 0,
    conditions: Mapping[str, tuple[str, str, int]] | None = None,
    version: int = 1,
) -> Workload:
    """A Workload; `holds` is the ClusterQueue whose quota it holds since `since_s`. Conditions are
    given by type: status, reason and time."""
    found = dict(conditions or {})
    status: Object = {}
    if holds:
        found["QuotaReserved"] = ("True", "QuotaReserved", since_s)
        assignment = {"name": "main", "flavors": {"cpu": "one"}, "resourceUsage": {"cpu": cpu}}
        status = {"admission": {"clusterQueue": holds, "podSetAssignments": [assignment]}}
    entries = [
        {
            "type": type_,
            "status": state,
            "reason": reason,
            "lastTransitionTime": to_rfc3339(at_s * SECOND),
        }
        for type_, (state, reason, at_s) in found.items()
    ]
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    template = {"spec": {"containers": [container]}}
    return Workload(
        {
            "metadata": {
                "name": uid,
                "namespace": "default",
                "uid": uid,
                "resourceVersion": str(version),
                "creationTimestamp": to_rfc3339(created_s * SECOND),
            },
            "spec": {
                "queueName": queue,
                "priority": priority,
                "podSets": [{"name": "main", "count": 1, "template": template}],
            },
            "status": {**status, "conditions": entries},
        }
    )


def with_all_fields(number: int) -> dict[Kind, Object]:
    """A queue, a flavor, a class and a Workload, by kind, with each field that is read of them."""
    queue_name, flavor, class_ = (f"{PREFIX}{letter}{number}" for letter in "qfp")
    quota = {"name": "cpu", "nominalQuota": "2", "borrowingLimit": "1", "lendingLimit": "1"}
    taint = {"key": "spot", "value": "true", "effect": "NoSchedule"}
    label = "kubernetes.io/metadata.name"
    return {
        RESOURCE_FLAVOR: _named(
            RESOURCE_FLAVOR,
            flavor,
            spec={
                "nodeLabels": {},
                "nodeTaints": [taint],
                "tolerations": [{**taint, "operator": "Equal"}],
            },
        ),
        PRIORITY_CLASS: _named(PRIORITY_CLASS, class_, value=3, description="text"),
        CLUSTER_QUEUE: _named(
            CLUSTER_QUEUE,
            queue_name,
            spec={
                "cohort": f"{PREFIX}c{number}",
                "queueingStrategy": "BestEffortFIFO",
                "namespaceSelector": {
                    "matchLabels": {label: "default"},
                    "matchExpressions": [{"key": label, "operator": "In", "values": ["default"]}],
                },
                "flavorFungibility": {
                    "whenCanBorrow": "Borrow",
                    "whenCanPreempt": "TryNextFlavor",
                },
                "preemption": {
                    "reclaimWithinCohort": "Any",
                    "withinClusterQueue": "LowerPriority",
                    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 5},
                },
                "stopPolicy": "None",
                "resourceGroups": [
                    {
                        "coveredResources": ["cpu"],
                        "flavors": [{"name": flavor, "resources": [quota]}],
                    }
                ],
            },
        ),
        LOCAL_QUEUE: _named(
            LOCAL_QUEUE, f"q{number}", spec={"clusterQueue": queue_name, "stopPolicy": "None"}
        ),
        WORKLOAD: _named(
            WORKLOAD,
            f"w{number}",
            spec={
                "queueName": f"q{number}",
                "priority": 1,
                "priorityClassName": class_,
                "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass",
                "active": True,
                "podSets": [{"name": "main", "count": 1, "template": _template()}],
            },
        ),
    }


def _named(kind: Kind, name: str, **rest: Any) -> Object:
    head = {"apiVersion": kind.api_version, "kind": kind.kind}
    return {**head, "metadata": {"name": name}, **rest}


def _template() -> Object:
    """A pod template with all that is read of one."""
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
    container = {"name": "main", "image": "i", "resources": resources}
    needed = {"key": "zone", "operator": "NotIn", "values": ["a"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [needed]}]}
    return {
        "metadata": {"labels": {"app": "a"}},
        "spec": {
            "restartPolicy": "Never",
            "containers": [container],
            "initContainers": [{**container, "name": "init"}],
            "nodeSelector": {"zone": "b"},
            "overhead": {"cpu": "1m"},
            "tolerations": [
                {"key": "other", "operator": "Equal", "value": "true"},
                {"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
                {"key": "spot", "operator": "Exists", "effect": ""},
            ],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        },
    }


def _both(kind: str, older: Object, newer: Object) -> tuple[Object, Object]:
    """An object of that kind in v1beta1 and in v1beta2."""
    head = {"kind": kind, "metadata": {"name": "a"}}
    stored, shown = (f"kueue.x-k8s.io/{version}" for version in ("v1beta1", "v1beta2"))
    return {"apiVersion": stored, **head, **older}, {"apiVersion": shown, **head, **newer}


_USED = [{"name": "one", "resources": [{"name": "cpu", "total": "1"}]}]
_PODS = {"podSets": [{"name": "main", "count": 1, "template": {}}], "priority": 7}
IN_BOTH_VERSIONS = {
    "cohort": _both("ClusterQueue", {"spec": {"cohort": "c"}}, {"spec": {"cohortName": "c"}}),
    "stops": _both(
        "ClusterQueue",
        {"spec": {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}},
        {
            "spec": {
                "flavorFungibility": {
                    "whenCanBorrow": "MayStopSearch",
                    "whenCanPreempt": "MayStopSearch",
                }
            }
        },
    ),
    "usage": _both(
        "LocalQueue", {"status": {"flavorUsage": _USED}}, {"status": {"flavorsUsage": _USED}}
    ),
    **{
        kind: _both(
            "Workload",
            {
                "spec": {
                    **_PODS,
                    "priorityClassName": "high",
                    "priorityClassSource": f"{group}/{kind.lower()}",
                }
            },
            {"spec": {**_PODS, "priorityClassRef": {"group": group, "kind": kind, "name": "high"}}},
        )
        for group, kind in (
            ("kueue.x-k8s.io", "WorkloadPriorityClass"),
            ("scheduling.k8s.io", "PriorityClass"),
        )
    },
    "no-class": _both("Workload", {"spec": _PODS}, {"spec": _PODS}),
}
"""Objects in both versions, as the released controller converts the older ones."""
