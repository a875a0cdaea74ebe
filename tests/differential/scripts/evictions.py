"""Taints that evict: the shortest of the tolerated times, and the Jobs whose pods are hit."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, count, has, present
from tests.differential.script import script
from tests.differential.scripts.manifests import PAST, job, pod
from vocabulary.kinds import JOB, NODE, POD

OWN = {"key": "tests.assay.dev/own", "effect": "NoSchedule"}
FIRST = "tests.assay.dev/first"
SECOND = "tests.assay.dev/second"
STAYS = ["metadata.deletionTimestamp", "spec.nodeName", "status.phase"]
STATUS = ["status"]


def tolerates(key: str, seconds: int | None = None, **fields: Any) -> dict[str, Any]:
    found = {"key": key, "operator": "Exists", "effect": "NoExecute", **fields}
    return found if seconds is None else {**found, "tolerationSeconds": seconds}


def taint(key: str, effect: str = "NoExecute", **fields: str) -> dict[str, str]:
    return {"key": key, "effect": effect, **fields}


def placed(c: Dialogue, *tolerations: Any) -> dict[str, Any]:
    """The fields that put a pod on the script's own node."""
    own = {"key": OWN["key"], "operator": "Exists"}
    selector = {"kubernetes.io/hostname": c.namespace}
    return {"nodeSelector": selector, "tolerations": [own, *tolerations]}


def _run(c: Dialogue, name: str, *tolerations: Any) -> None:
    c.create(pod(name, **placed(c, *tolerations)), show=["metadata.name"])
    c.until(POD, name, condition("Ready"), show=STAYS)


def _taint(c: Dialogue, *taints: dict[str, str]) -> None:
    c.patch(NODE, c.namespace, {"spec": {"taints": [OWN, *taints]}}, show=["spec.taints"])


@script("Of several taints the shortest tolerated time counts.", ["6.3"])
def taint_times(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    _run(c, "one-short", tolerates(FIRST, 3600), tolerates(SECOND, 1))
    _run(c, "one-missing", tolerates(FIRST, 3600))
    _run(c, "one-for-ever", tolerates(FIRST), tolerates(SECOND, 3600))
    _run(c, "both-for-ever", tolerates(FIRST), tolerates(SECOND))
    _taint(c, taint(FIRST), taint(SECOND))
    c.until_gone(POD, "one-missing")
    c.until_gone(POD, "one-short")
    c.stays(POD, "one-for-ever", condition("Ready"), for_seconds=2, show=STAYS)
    c.get(POD, "both-for-ever", show=STAYS)


@script("A tolerated time of zero, or less, is none.", ["6.3"])
def taint_without_time(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    _run(c, "zero", tolerates(FIRST, 0))
    _run(c, "negative", tolerates(FIRST, -5))
    _taint(c, taint(FIRST))
    c.until_gone(POD, "zero")
    c.until_gone(POD, "negative")


@script("A second taint does not shorten the time that a pod was given under the first.", ["6.3"])
def taint_added(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    _run(c, "a", tolerates(FIRST, 3600), tolerates(SECOND, 2))
    _taint(c, taint(FIRST))
    c.stays(POD, "a", condition("Ready"), for_seconds=1, show=STAYS)
    _taint(c, taint(FIRST), taint(SECOND))
    c.stays(POD, "a", condition("Ready"), for_seconds=4, show=STAYS)
    _taint(c, taint(FIRST), taint("tests.assay.dev/third"))
    c.until_gone(POD, "a")


@script("A pod may go to a tainted node for the time that it tolerates it.", ["6.1", "6.3"])
def taint_before_binding(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN, taint(FIRST)])
    c.create(pod("a", **placed(c, tolerates(FIRST, 2))), show=["metadata.name"])
    c.until(POD, "a", present("spec.nodeName"), show=["spec.nodeName"])
    c.until_gone(POD, "a")
    c.create(pod("b", **placed(c)), show=["metadata.name"])
    c.until(
        POD,
        "b",
        condition("PodScheduled", "False"),
        show=["spec.nodeName", "status.conditions.0.reason"],
    )


@script("A longer toleration does not prolong the time, an unlimited one ends it.", ["6.3"])
def taint_tolerated_later(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    for name, seconds in (("longer", 3600), ("unlimited", None)):
        _run(c, name, tolerates(FIRST, 3))
        _taint(c, taint(FIRST))
        c.settle(0.5)
        mine = c.get(POD, name, show=["status.phase"]).body["spec"]["tolerations"]
        others = [entry for entry in mine if entry["key"] != FIRST]
        changed = [*others, tolerates(FIRST, seconds)]
        c.patch(POD, name, {"spec": {"tolerations": changed}}, show=["spec.tolerations"])
        if seconds is None:
            c.stays(POD, name, condition("Ready"), for_seconds=5, show=STAYS)
        else:
            c.until_gone(POD, name)
        _taint(c)


@script("Tolerations match by key, value and effect, and without a key all.", ["6.1"])
def tolerations(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN, taint(FIRST, "NoSchedule", value="x")])
    equal = {"key": FIRST, "operator": "Equal", "value": "x", "effect": "NoSchedule"}
    for name, toleration, fits in (
        ("equal", equal, True),
        ("by-default", {"key": FIRST, "value": "x"}, True),
        ("other-value", {**equal, "value": "y"}, False),
        ("other-effect", {**equal, "effect": "NoExecute"}, False),
        ("exists", {"key": FIRST, "operator": "Exists"}, True),
        ("other-key", {"key": SECOND, "operator": "Exists"}, False),
        ("everything", {"operator": "Exists"}, True),
        ("every-effect", {"operator": "Exists", "effect": "NoSchedule"}, True),
    ):
        c.create(pod(name, **placed(c, toleration)), show=["metadata.name"])
        wanted = present("spec.nodeName") if fits else condition("PodScheduled", "False")
        c.until(POD, name, wanted, show=["spec.nodeName"])


@script("A taint that only prefers other nodes keeps nobody away.", ["6.1"])
def soft_taint(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN, taint(FIRST, "PreferNoSchedule")])
    _run(c, "a")


@script(
    "A Job's pod that a taint evicts counts as failed, and waits for another node.", ["6.3", "5.4"]
)
def taint_hits_job(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    body = job("a", {"finished_at": PAST}, backoffLimit=2, pod=placed(c))
    c.create(body, show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    _taint(c, taint(FIRST))
    c.until(JOB, "a", has("status.failed", 1) & has("status.active", 1), within=40, show=STATUS)
    _taint(c)
    c.until(JOB, "a", has("status.ready", 1), within=60, show=STATUS)


@script("An eviction by taint is a disruption, which a rule of a Job can ignore.", ["6.3", "5.5"])
def taint_ignored(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    policy = {"podFailurePolicy": {"rules": [rule]}}
    body = job("a", {"finished_at": PAST}, backoffLimit=0, pod=placed(c), **policy)
    c.create(body, show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 1), show=STATUS)
    _taint(c, taint(FIRST))
    waiting = count(1, has("spec.nodeName", None))
    c.until_listed(POD, waiting, within=40, show=["status.phase"])
    c.until(JOB, "a", has("status.terminating", 0), show=STATUS)


@script(
    "An eviction by taint can fail a Job by rule, with the condition as reason.", ["6.3", "5.5"]
)
def taint_fails_job(c: Dialogue) -> None:
    c.add_node(c.namespace, taints=[OWN])
    rule = {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget"}]}
    policy = {"podFailurePolicy": {"rules": [rule]}}
    body = job("a", completions=2, parallelism=2, pod=placed(c), **policy)
    c.create(body, show=["metadata.name"])
    c.until(JOB, "a", has("status.ready", 2), show=STATUS)
    c.list(POD, show=["status.phase"])
    _taint(c, taint(FIRST))
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    c.list(POD, show=["status.phase", "status.conditions", "metadata.finalizers"])
