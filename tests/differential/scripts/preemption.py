"""Preemption: the pods of lower priority that a scheduler pushes out, and how it says so."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, event, has, present
from tests.differential.script import script
from tests.differential.scripts.manifests import container, pod
from tests.differential.scripts.scheduling import RACK, REQUIRED, apart, app, near, term
from vocabulary.kinds import POD, POD_DISRUPTION_BUDGET

OWN = {"key": "tests.assay.dev/own", "effect": "NoSchedule"}
SLOT = "tests.assay.dev/slot"
PLACED = ["spec.nodeName"]
END = ["metadata.deletionTimestamp", "spec.nodeName", "status.phase", "status.conditions"]
PENDING = ["spec.nodeName", "status.nominatedNodeName", "status.conditions"]


def _classes(c: Dialogue, policy: str = "PreemptLowerPriority", **values: int) -> None:
    for name, value in values.items():
        body = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": f"{c.namespace}-{name}"},
            "value": value,
            "preemptionPolicy": policy,
        }
        path = "/apis/scheduling.k8s.io/v1/priorityclasses"
        c.raw("POST", path, body, label=f"create class {name}", show=["value"])


def _node(c: Dialogue, number: int = 0, slots: int = 4) -> str:
    """A node with so many slots; pods ask for them as for any resource."""
    name = f"{c.namespace}-{number}"
    c.add_node(name, labels={"tests.assay.dev/pool": c.namespace, RACK: name}, taints=[OWN])
    path = f"/api/v1/nodes/{name}/status"
    places = {SLOT: str(slots)}
    c.raw(
        "PATCH",
        path,
        {"status": {"capacity": places, "allocatable": places}},
        content_type="application/merge-patch+json",
        label=f"give the node {slots} slots",
        show=["spec.taints"],
    )
    return name


def _pod(
    c: Dialogue, name: str, priority: str = "", slots: int = 1, node: str = "", **spec: Any
) -> dict[str, Any]:
    selector = {"tests.assay.dev/pool": c.namespace} | (
        {"kubernetes.io/hostname": node} if node else {}
    )
    resources = {"limits": {SLOT: str(slots)}, "requests": {SLOT: str(slots)}} if slots else {}
    fields: dict[str, Any] = {
        "nodeSelector": selector,
        "tolerations": [{"key": OWN["key"], "operator": "Exists"}],
        "containers": [container(resources=resources)],
        **spec,
    }
    if priority:
        fields["priorityClassName"] = f"{c.namespace}-{priority}"
    obj = pod(name, **fields)
    obj["metadata"]["labels"] = {"app": name}
    return obj


def _placed(c: Dialogue, obj: dict[str, Any]) -> None:
    c.create(obj, show=["spec.priority"])
    c.until(POD, obj["metadata"]["name"], condition("Ready"), show=PLACED)
    # Of pods of one priority the one that started last goes first; starts have whole seconds.
    c.settle(1.1)


@script("A pod with priority pushes out the one of the lowest priority that started last.", ["6.4"])
def preempts_lowest(c: Dialogue) -> None:
    _classes(c, low=1, middle=5, high=10)
    _node(c, slots=4)
    for name, priority in (("m", "middle"), ("l1", "low"), ("l2", "low"), ("m2", "middle")):
        _placed(c, _pod(c, name, priority))
    victim = c.get(POD, "l2", show=PLACED)
    c.create(_pod(c, "urgent", "high"), show=["spec.priority"])
    c.until_gone(POD, "l2")
    c.watch(POD, event("DELETED"), name="l2", since=victim.revision, distinct=True, show=END)
    c.until(POD, "urgent", condition("Ready"), show=PLACED)
    c.list(POD, show=["metadata.name"])


@script("A pod is spared if there is room for it beside the one that pushes.", ["6.4"])
def preempts_no_more_than_needed(c: Dialogue) -> None:
    _classes(c, low=1, middle=5, high=10)
    _node(c, slots=4)
    _placed(c, _pod(c, "small", "low", 1))
    _placed(c, _pod(c, "large", "middle", 3))
    c.create(_pod(c, "urgent", "high", 3), show=["spec.priority"])
    c.until(POD, "urgent", condition("Ready"), show=PLACED)
    c.list(POD, show=["metadata.name"])


@script("The node is chosen whose victims matter least, then whose are fewest.", ["6.4"])
def preempts_on_best_node(c: Dialogue) -> None:
    _classes(c, low=1, middle=5, high=10)
    nodes = [_node(c, number, 2) for number in range(3)]
    _placed(c, _pod(c, "a1", "middle", 2, nodes[0]))
    _placed(c, _pod(c, "b1", "low", 1, nodes[1]))
    _placed(c, _pod(c, "b2", "low", 1, nodes[1]))
    _placed(c, _pod(c, "c1", "low", 2, nodes[2]))
    c.create(_pod(c, "urgent", "high", 2), show=["spec.priority"])
    c.until(POD, "urgent", condition("Ready"), show=PLACED)
    c.list(POD, show=["metadata.name"])


@script("Pods of the same priority, and those that never preempt, wait.", ["6.4"])
def preempts_nobody(c: Dialogue) -> None:
    _classes(c, low=1, high=10)
    _classes(c, meek=10, policy="Never")
    _node(c, slots=1)
    _placed(c, _pod(c, "first", "low"))
    c.create(_pod(c, "same", "low"), show=["spec.priority"])
    c.until(POD, "same", condition("PodScheduled", "False"), show=["status.nominatedNodeName"])
    wrong = _pod(c, "wrong", "high", preemptionPolicy="Never")
    c.create(wrong, show=["spec.preemptionPolicy"])
    c.create(_pod(c, "meek", "meek"), show=["spec.preemptionPolicy"])
    c.until(POD, "meek", condition("PodScheduled", "False"), show=["status.nominatedNodeName"])
    c.settle(1)
    c.get(POD, "first", show=PLACED)


@script("While its victims stop, the pod says where it will go.", ["6.4"], exclusive=True)
def preempts_slow_victim(c: Dialogue) -> None:
    _classes(c, low=1, high=10)
    _node(c, slots=1)
    slow = _pod(c, "slow", "low")
    slow["metadata"]["annotations"] = {"assay.dev/stuck-terminating": "true"}
    _placed(c, slow)
    c.create(_pod(c, "urgent", "high"), show=["spec.priority"])
    c.until(POD, "urgent", present("status.nominatedNodeName"), show=PENDING)
    c.settle(3)
    c.get(POD, "urgent", show=PENDING)
    free = {"metadata": {"annotations": {"assay.dev/stuck-terminating": None}}}
    c.patch(POD, "slow", free, show=END)
    c.until(POD, "urgent", condition("Ready"), show=PLACED)


@script("A pod of lower priority that excludes the other is pushed out.", ["6.2", "6.4"])
def preempts_for_anti_affinity(c: Dialogue) -> None:
    _classes(c, low=1, high=10)
    _node(c, slots=4)
    _placed(c, _pod(c, "holder", "low", affinity=apart(term(app("urgent")))))
    _placed(c, _pod(c, "unwanted", "low"))
    _placed(c, _pod(c, "bystander", "low"))
    away = {
        "podAntiAffinity": {REQUIRED: [term(app("unwanted"))]},
    }
    c.create(_pod(c, "urgent", "high", affinity=away), show=["spec.priority"])
    c.until(POD, "urgent", condition("Ready"), show=PLACED)
    c.list(POD, show=["metadata.name"])


@script("Nobody is pushed out for a pod that asks for others that are not there.", ["6.2", "6.4"])
def preempts_not_for_affinity(c: Dialogue) -> None:
    _classes(c, low=1, high=10)
    _node(c, slots=1)
    _placed(c, _pod(c, "low", "low"))
    c.create(_pod(c, "urgent", "high", affinity=near(term(app("nobody")))), show=["spec.priority"])
    c.until(POD, "urgent", condition("PodScheduled", "False"), show=["status.nominatedNodeName"])
    c.settle(1)
    c.get(POD, "low", show=PLACED)


@script("A pod of higher priority that excludes the other stays.", ["6.2", "6.4"])
def preempts_not_the_stronger(c: Dialogue) -> None:
    _classes(c, low=1, high=10, highest=20)
    _node(c, slots=4)
    _placed(c, _pod(c, "holder", "highest", affinity=apart(term(app("urgent")))))
    _placed(c, _pod(c, "low", "low"))
    c.create(_pod(c, "urgent", "high"), show=["spec.priority"])
    c.until(POD, "urgent", condition("PodScheduled", "False"), show=["status.nominatedNodeName"])
    c.settle(1)
    c.list(POD, show=PLACED)


@script("A pod that a disruption budget protects is spared where another can go.", ["6.4"])
def preempts_beside_budgets(c: Dialogue) -> None:
    _classes(c, low=1, high=10)
    nodes = [_node(c, number, 1) for number in range(2)]
    _placed(c, _pod(c, "unprotected", "low", 1, nodes[0]))
    _placed(c, _pod(c, "protected", "low", 1, nodes[1]))
    budget = {
        "apiVersion": POD_DISRUPTION_BUDGET.api_version,
        "kind": POD_DISRUPTION_BUDGET.kind,
        "metadata": {"name": "a"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "protected"}}},
    }
    c.create(budget, show=["spec"])
    status = ["status.currentHealthy", "status.disruptionsAllowed"]
    c.until(POD_DISRUPTION_BUDGET, "a", has("status.currentHealthy", 1), show=status)
    c.create(_pod(c, "urgent", "high"), show=["spec.priority"])
    c.until(POD, "urgent", condition("Ready"), show=PLACED)
    c.list(POD, show=["metadata.name"])


@script("A pod on a node that is not there is nobody's victim.", ["6.4"])
def preempts_beside_missing_node(c: Dialogue) -> None:
    _classes(c, lowest=1, low=2, high=10)
    _node(c, slots=1)
    astray = _pod(c, "astray", "lowest", nodeName=f"{c.namespace}-none")
    c.create(astray, show=["spec.nodeName", "spec.priority"])
    _placed(c, _pod(c, "low", "low"))
    c.create(_pod(c, "urgent", "high"), show=["spec.priority"])
    c.until(POD, "urgent", condition("Ready"), show=PLACED)
    c.list(POD, show=["metadata.name", "metadata.deletionTimestamp"])
