"""Nodes: taints and those who tolerate them, silence, and what becomes of the pods."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, event, exists, has, present
from tests.differential.script import script
from tests.differential.scripts.manifests import pod
from vocabulary.kinds import NODE, POD

END = [
    "metadata.deletionTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "spec.nodeName",
    "status.phase",
    "status.conditions",
]
SAID = ["status.nodeInfo", "status.addresses.0.type", "status.addresses.1", "status.phase"]
OWN = {"key": "tests.assay.dev/own", "effect": "NoSchedule"}


def _on(
    node: str, name: str, behaviour: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    tolerations = [{"key": OWN["key"], "operator": "Exists"}, *spec.pop("tolerations", [])]
    selector = {"kubernetes.io/hostname": node}
    return pod(name, behaviour, nodeSelector=selector, tolerations=tolerations, **spec)


@script("A node's status has its addresses and versions.", ["4.12"])
def node_information(c: Dialogue) -> None:
    c.add_node("node-information", taints=[OWN])
    c.get(NODE, "node-information", show=SAID)


@script(
    "A taint evicts the pods of a node that do not tolerate it, and reports it.", ["4.12", "5.5"]
)
def taint_evicts(c: Dialogue) -> None:
    c.add_node("taint-evicts", taints=[OWN])
    taint = {"key": "tests.assay.dev/bad", "value": "yes", "effect": "NoExecute"}
    tolerating = {
        "key": "tests.assay.dev/bad",
        "operator": "Equal",
        "value": "yes",
        "effect": "NoExecute",
    }
    c.create(_on("taint-evicts", "victim"), show=["spec.tolerations"])
    c.create(_on("taint-evicts", "immune", tolerations=[tolerating]), show=["spec.tolerations"])
    c.create(
        _on("taint-evicts", "patient", tolerations=[{**tolerating, "tolerationSeconds": 2}]),
        show=["spec.tolerations"],
    )
    running = {}
    for name in ("victim", "immune", "patient"):
        running[name] = c.until(POD, name, condition("Ready"), show=END)
    c.patch(NODE, "taint-evicts", {"spec": {"taints": [OWN, taint]}}, show=["spec.taints"])
    c.until_gone(POD, "victim")
    c.watch(
        POD,
        event("DELETED"),
        name="victim",
        since=running["victim"].revision,
        distinct=True,
        show=END,
    )
    c.until_gone(POD, "patient")
    c.stays(POD, "immune", condition("Ready"), for_seconds=1, show=END)


@script("A toleration with a time limit is reset if the taint is removed in time.", ["4.12"])
def taint_taken_back(c: Dialogue) -> None:
    c.add_node("taint-taken-back", taints=[OWN])
    taint = {"key": "tests.assay.dev/bad", "effect": "NoExecute"}
    tolerating = {
        "key": "tests.assay.dev/bad",
        "operator": "Exists",
        "tolerationSeconds": 3,
        "effect": "NoExecute",
    }
    c.create(_on("taint-taken-back", "a", tolerations=[tolerating]), show=["spec.tolerations"])
    c.until(POD, "a", condition("Ready"), show=END)
    c.patch(NODE, "taint-taken-back", {"spec": {"taints": [OWN, taint]}}, show=["spec.taints"])
    c.stays(POD, "a", condition("Ready"), for_seconds=1, show=END)
    c.patch(NODE, "taint-taken-back", {"spec": {"taints": [OWN]}}, show=["spec.taints"])
    c.stays(POD, "a", condition("Ready"), for_seconds=4, show=END)


@script("A cordoned node gets a taint and no new pods.", ["4.12"])
def cordon(c: Dialogue) -> None:
    c.add_node("cordon", taints=[OWN])
    c.patch(NODE, "cordon", {"spec": {"unschedulable": True}}, show=["spec.unschedulable"])
    c.until(
        NODE,
        "cordon",
        has("spec.taints.1.key", "node.kubernetes.io/unschedulable"),
        show=["spec.taints", "spec.unschedulable"],
    )
    c.create(_on("cordon", "a"), show=["spec.nodeName"])
    c.until(
        POD,
        "a",
        condition("PodScheduled", "False"),
        show=[
            "status.conditions.0.type",
            "status.conditions.0.status",
            "status.conditions.0.reason",
        ],
    )
    c.patch(NODE, "cordon", {"spec": {"unschedulable": None}}, show=["spec.unschedulable"])
    c.until(NODE, "cordon", has("spec.taints.1", None), show=["spec.taints", "spec.unschedulable"])
    c.until(POD, "a", condition("Ready"), show=END)


@script("A node that reports NotReady is tainted, and its pods are not ready.", ["4.12"])
def node_not_ready(c: Dialogue) -> None:
    c.add_node("node-not-ready", taints=[OWN])
    c.create(_on("node-not-ready", "a"), show=["spec.tolerations"])
    c.until(POD, "a", condition("Ready"), show=END)
    c.patch(
        NODE,
        "node-not-ready",
        {"metadata": {"labels": {"assay.dev/not-ready": "true"}}},
        show=["metadata.labels"],
    )
    c.until(
        NODE,
        "node-not-ready",
        condition("Ready", "False") & present("spec.taints.2"),
        show=["spec.taints"],
    )
    c.patch(
        NODE,
        "node-not-ready",
        {"metadata": {"labels": {"assay.dev/not-ready": None}}},
        show=["metadata.labels"],
    )
    c.until(
        NODE,
        "node-not-ready",
        condition("Ready") & has("spec.taints.1", None),
        show=["spec.taints"],
    )
    c.until(POD, "a", condition("Ready"), show=["status.phase"])


@script(
    "A silent node is tainted as unreachable, its pods are not ready, and are evicted later.",
    ["4.12"],
    exclusive=True,
)
def node_lost(c: Dialogue) -> None:
    c.add_node("node-lost", taints=[OWN], separate=True)
    short = {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 2,
    }
    c.create(_on("node-lost", "stays"), show=["spec.tolerations"])
    c.create(_on("node-lost", "goes", tolerations=[short]), show=["spec.tolerations"])
    c.until(POD, "stays", condition("Ready"), show=END)
    c.until(POD, "goes", condition("Ready"), show=END)
    with c.lost("node-lost"):
        c.until(
            NODE,
            "node-lost",
            condition("Ready", "Unknown") & present("spec.taints.2"),
            show=["spec.taints"],
        )
        c.until(POD, "stays", condition("Ready", "False"), show=END)
        c.until(POD, "goes", present("metadata.deletionTimestamp"), show=END)
        c.stays(POD, "goes", exists, for_seconds=1, show=END)
    c.until_gone(POD, "goes")
    c.until(
        NODE, "node-lost", condition("Ready") & has("spec.taints.1", None), show=["spec.taints"]
    )
    c.until(POD, "stays", condition("Ready"), show=END)


@script(
    "The pods of a node that is deleted are collected after a while.",
    ["4.12", "5.5"],
    exclusive=True,
)
def node_deleted(c: Dialogue) -> None:
    c.add_node("node-deleted", taints=[OWN], separate=True)
    held = _on("node-deleted", "held")
    held["metadata"]["finalizers"] = ["tests.assay.dev/hold"]
    c.create(held, show=["metadata.finalizers"])
    c.create(_on("node-deleted", "a"), show=["spec.nodeName"])
    c.until(POD, "a", condition("Ready"), show=END)
    c.until(POD, "held", condition("Ready"), show=END)
    with c.lost("node-deleted"):
        c.delete(NODE, "node-deleted")
        c.until_gone(POD, "a", within=120)
        c.until(POD, "held", present("metadata.deletionTimestamp"), show=END)


@script("A node is created, changed and deleted like any other object.", ["4.12"])
def node_objects(c: Dialogue) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-objects"},
        "spec": {"unschedulable": True},
    }
    c.create(node, show=["metadata.name", "spec.unschedulable"])
    c.patch(NODE, "node-objects", {"spec": {"taints": [{"key": "k", "effect": "Sideways"}]}})
    c.patch(
        NODE,
        "node-objects",
        {"status": {"capacity": {"cpu": "4"}}},
        subresource="status",
        show=["status.capacity"],
    )
    c.delete(NODE, "node-objects")
    c.until_gone(NODE, "node-objects")


@script(
    "A node of a zone that is mostly lost is evicted once one of the lost nodes is deleted.",
    ["4.12"],
)
def lost_nodes_deleted(c: Dialogue) -> None:
    names = [f"{c.namespace}-{number}" for number in range(5)]
    for name in names:
        c.add_node(name, labels={"topology.kubernetes.io/zone": c.namespace}, taints=[OWN])
    unready = {"metadata": {"labels": {"assay.dev/not-ready": "true"}}}
    is_lost, is_evicted = present("spec.taints.1"), present("spec.taints.2")
    for name in names[:2]:
        c.patch(NODE, name, unready, show=["metadata.labels"])
        c.until(NODE, name, condition("Ready", "False") & is_evicted, show=["spec.taints"])
    c.patch(NODE, names[2], unready, show=["metadata.labels"])
    c.until(NODE, names[2], condition("Ready", "False") & is_lost, show=["spec.taints"])
    c.stays(NODE, names[2], has("spec.taints.2", None), for_seconds=12, show=["spec.taints"])
    c.delete(NODE, names[0], show=["kind"])
    c.until(NODE, names[2], is_evicted, show=["spec.taints"])
