"""RuntimeClasses: what a class adds to its pods, and what counts it."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, present
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, container, pod, unscheduled
from vocabulary.kinds import POD, RESOURCE_QUOTA, RUNTIME_CLASS

_SHOW = ["spec.overhead", "spec.nodeSelector", "spec.tolerations", "spec.runtimeClassName"]
_SEEN_SECONDS = 1.0
"""The API server's cache of RuntimeClasses has followed by then."""


def _class(name: str, handler: str = "runc", **fields: Any) -> Manifest:
    metadata = {"name": f"differential-{name}"}
    kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}
    return {**kind, "metadata": metadata, "handler": handler, **fields}


def _overhead(**amounts: str) -> Manifest:
    return {"podFixed": amounts}


def _of_class(name: str, class_: str, /, **spec: Any) -> Manifest:
    obj = unscheduled(name)
    obj["spec"] |= {"runtimeClassName": f"differential-{class_}", **spec}
    return obj


@script("A pod gets overhead, node selector and tolerations of its class.", ["4.16"])
def runtime_class_of_pods(c: Dialogue) -> None:
    scheduling = {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [
            {"key": "heavy", "operator": "Exists"},
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
        ],
    }
    c.create(_class("heavy", overhead=_overhead(cpu="0.5", memory="64Mi"), scheduling=scheduling))
    c.create(_class("plain"))
    c.settle(_SEEN_SECONDS)
    c.create(_of_class("a", "heavy"), show=_SHOW)
    c.create(_of_class("b", "plain"), show=_SHOW)
    c.create(_of_class("c", "heavy", nodeSelector={"zone": "a"}), show=_SHOW)
    same = [{"key": "heavy", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}]
    c.create(_of_class("d", "heavy", tolerations=same), show=_SHOW)
    c.create(_of_class("e", "heavy", nodeSelector={"disk": "slow"}))
    c.create(_of_class("f", "heavy", overhead={"cpu": "1"}))
    c.create(_of_class("g", "heavy", overhead={"cpu": "500m", "memory": "64Mi"}), show=_SHOW)
    c.create(_of_class("h", "plain", overhead={"cpu": "1"}))
    c.create(_of_class("i", "absent"))
    for name in ("heavy", "plain"):
        c.delete(RUNTIME_CLASS, f"differential-{name}")


@script("A quota counts overhead; a limit only where there is one.", ["4.16"])
def overhead_in_quota(c: Dialogue) -> None:
    c.create(_class("counted", overhead=_overhead(cpu="250m", memory="32Mi")), show=["overhead"])
    hard = {"requests.cpu": "2", "limits.cpu": "3", "limits.memory": "1Gi"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}}
    c.create({**quota, "spec": {"hard": hard}}, show=["spec"])
    c.until(RESOURCE_QUOTA, "q", present("status.used"), show=["status"])
    c.settle(_SEEN_SECONDS)
    asking = container(resources={"limits": {"cpu": "1", "memory": "64Mi"}})
    c.create(_of_class("a", "counted", containers=[asking]), show=_SHOW)
    c.create(_of_class("b", "counted", containers=[asking]))
    c.delete(RUNTIME_CLASS, "differential-counted", show=["handler"])


@script("The scheduler leaves room for overhead.", ["6.1"], exclusive=True)
def overhead_on_nodes(c: Dialogue) -> None:
    c.create(_class("roomy", overhead=_overhead(cpu="100000")), show=["overhead"])
    c.settle(_SEEN_SECONDS)
    c.create(pod("a", runtimeClassName="differential-roomy"), show=_SHOW)
    c.until(POD, "a", condition("PodScheduled", "False"), show=["status"])
    c.delete(RUNTIME_CLASS, "differential-roomy", show=["handler"])


@script("An invalid RuntimeClass is rejected.", ["4.16"])
def runtime_class_validation(c: Dialogue) -> None:
    c.create(_class("none", handler=""))
    c.create(_class("wrong", handler="Not A Label"))
    c.create(_class("named", overhead=_overhead(apples="1")))
    c.create(_class("negative", overhead=_overhead(cpu="-1")))
    c.create(_class("label", scheduling={"nodeSelector": {"disk": "not a label"}}))
    twice = {"key": "a", "operator": "Exists"}
    c.create(_class("twice", scheduling={"tolerations": [twice, twice]}))
    c.create(_class("good"))
    c.table(RUNTIME_CLASS, "differential-good")
    c.patch(RUNTIME_CLASS, "differential-good", {"handler": "other"})
    c.patch(RUNTIME_CLASS, "differential-good", {"metadata": {"labels": {"a": "b"}}})
    c.delete(RUNTIME_CLASS, "differential-good", show=["handler"])
    c.create(_of_class("a", "Not A Name"))


@script("Of tolerations that cover one another the widest is left.", ["4.16"])
def merged_tolerations(c: Dialogue) -> None:
    wide = {"key": "a", "operator": "Exists"}
    of_class = {
        "wide": wide,
        "timed": {**wide, "effect": "NoExecute", "tolerationSeconds": 60},
        "equal": {"key": "a", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
        "all": {"operator": "Exists"},
    }
    for name, toleration in of_class.items():
        c.create(_class(f"merged-{name}", scheduling={"tolerations": [toleration]}), show=["kind"])
    c.settle(_SEEN_SECONDS)
    for position, toleration in enumerate(
        (
            wide,
            {"key": "a", "operator": "Exists", "effect": "NoExecute"},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 61},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
            {"key": "a", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "a", "operator": "Equal", "value": "x"},
            {"key": "a", "operator": "Equal", "value": "y", "effect": "NoSchedule"},
            {"key": "a", "value": "x", "effect": "NoSchedule"},
            {"key": "b", "operator": "Exists"},
            {"operator": "Exists"},
            {"operator": "Exists", "effect": "NoSchedule"},
        )
    ):
        for name in of_class:
            body = _of_class(f"p-{position}", f"merged-{name}", tolerations=[toleration])
            c.create(body, dry_run=True, show=["spec.tolerations"])
    for name in of_class:
        c.delete(RUNTIME_CLASS, f"differential-merged-{name}", show=["handler"])


@script("A pod's overhead is that of its class, to the digit.", ["4.16"])
def overhead_of_classes(c: Dialogue) -> None:
    c.create(_class("fixed", overhead=_overhead(cpu="1")), show=["overhead"])
    c.create(_class("bare", overhead={}), show=["overhead"])
    c.settle(_SEEN_SECONDS)
    for name, overhead in (
        ("same", {"cpu": "1000m"}),
        ("more", {"cpu": "1", "memory": "1Mi"}),
        ("less", {"cpu": "999m"}),
        ("odd", {"cpu": "x"}),
    ):
        for of in ("fixed", "bare"):
            body = _of_class(name, of, overhead=overhead)
            c.create(body, dry_run=True, show=["spec.overhead"])
    for of in ("fixed", "bare"):
        c.delete(RUNTIME_CLASS, f"differential-{of}", show=["handler"])
