"""Placement: affinity between pods, node affinity, and who has to wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, phase, present
from tests.differential.script import script
from tests.differential.scripts.manifests import container, pod
from vocabulary.kinds import NODE, POD

OWN = {"key": "tests.assay.dev/own", "effect": "NoSchedule"}
POOL = "tests.assay.dev/pool"
RACK = "tests.assay.dev/rack"
PLACED = ["spec.nodeName"]
WAITING = ["spec.nodeName", "status.phase", "status.conditions.0.reason"]
REASON = ["spec.nodeName", "status.phase", "status.conditions"]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _racks(c: Dialogue, *racks: str) -> None:
    """One node in each rack, for this script's pods alone; an empty name: in no rack."""
    for number, rack in enumerate(racks):
        labels = {POOL: c.namespace} | ({RACK: rack} if rack else {})
        c.add_node(f"{c.namespace}-{number}", labels=labels, taints=[OWN])


def _pod(
    c: Dialogue, name: str, labels: Mapping[str, str] | None = None, rack: str = "", **spec: Any
) -> dict[str, Any]:
    """A pod for the script's own nodes, with a rack if it is to be there."""
    selector = {POOL: c.namespace} | ({RACK: rack} if rack else {})
    tolerations = [{"key": OWN["key"], "operator": "Exists"}]
    obj = pod(name, nodeSelector=selector, tolerations=tolerations, **spec)
    obj["metadata"]["labels"] = dict(labels or {})
    return obj


def term(selector: Any = None, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"topologyKey": RACK, **fields}
    return found if selector is None else {**found, "labelSelector": selector}


def app(value: str) -> dict[str, Any]:
    return {"matchLabels": {"app": value}}


def near(*terms: Any) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms)}}


def apart(*terms: Any) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def _placed(c: Dialogue, obj: dict[str, Any]) -> None:
    c.create(obj, show=["metadata.name"])
    c.until(POD, obj["metadata"]["name"], present("spec.nodeName"), show=PLACED)


def _waits(c: Dialogue, obj: dict[str, Any], show: list[str] | None = None) -> None:
    c.create(obj, show=["metadata.name"])
    name = obj["metadata"]["name"]
    c.until(POD, name, condition("PodScheduled", "False"), show=show or WAITING)


@script("A pod with affinity goes to the topology of the pod it asks for.", ["6.2"])
def affinity_joins(c: Dialogue) -> None:
    _racks(c, "a", "b")
    _placed(c, _pod(c, "anchor", {"app": "db"}, "b"))
    _placed(c, _pod(c, "one", affinity=near(term(app("db")))))
    exists = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
    _placed(c, _pod(c, "two", affinity=near(term(exists))))


@script("A pod whose affinity nobody matches waits until somebody does.", ["6.2"])
def affinity_waits(c: Dialogue) -> None:
    _racks(c, "a", "b")
    _waits(c, _pod(c, "one", affinity=near(term(app("db")))))
    _placed(c, _pod(c, "anchor", {"app": "db"}, "b"))
    c.until(POD, "one", present("spec.nodeName"), show=PLACED)


@script("The first pod of a series that matches its own affinity is placed.", ["6.2"])
def affinity_begins(c: Dialogue) -> None:
    _racks(c, "a", "b")
    _placed(c, _pod(c, "first", {"app": "x"}, "b", affinity=near(term(app("x")))))
    _placed(c, _pod(c, "second", {"app": "x"}, affinity=near(term(app("x")))))
    _waits(c, _pod(c, "third", {"app": "x"}, "a", affinity=near(term(app("x")))))


@script("Affinity requires that the node has the topology's label.", ["6.2"])
def affinity_needs_label(c: Dialogue) -> None:
    _racks(c, "")
    _waits(c, _pod(c, "first", {"app": "x"}, affinity=near(term(app("x")))))
    node = f"{c.namespace}-0"
    c.patch(NODE, node, {"metadata": {"labels": {RACK: "a"}}}, show=["metadata.labels"])
    c.until(POD, "first", present("spec.nodeName"), show=PLACED)


@script("A pod on a node outside of every topology does not end a series' beginning.", ["6.2"])
def affinity_outside(c: Dialogue) -> None:
    _racks(c, "", "a")
    outside = _pod(c, "outside", {"app": "x"})
    outside["spec"]["nodeSelector"] = {"kubernetes.io/hostname": f"{c.namespace}-0"}
    _placed(c, outside)
    _placed(c, _pod(c, "first", {"app": "x"}, affinity=near(term(app("x")))))


@script("All terms of an affinity have to match the same pod.", ["6.2"])
def affinity_terms(c: Dialogue) -> None:
    _racks(c, "a")
    _placed(c, _pod(c, "half", {"app": "x"}))
    _placed(c, _pod(c, "other", {"tier": "y"}))
    both = near(term(app("x")), term({"matchLabels": {"tier": "y"}}))
    _waits(c, _pod(c, "one", affinity=both))
    _placed(c, _pod(c, "whole", {"app": "x", "tier": "y"}))
    c.until(POD, "one", present("spec.nodeName"), show=PLACED)


@script("An affinity without a selector matches no pod.", ["6.2"])
def affinity_without_selector(c: Dialogue) -> None:
    _racks(c, "a")
    _placed(c, _pod(c, "anchor", {"app": "x"}))
    _waits(c, _pod(c, "none", affinity=near(term())))
    _placed(c, _pod(c, "every", affinity=near(term({}))))
    _placed(c, _pod(c, "apart", affinity=apart(term())))


@script("Pods that exclude each other need a topology each.", ["6.2"])
def anti_affinity(c: Dialogue) -> None:
    _racks(c, "a", "b")
    alone = apart(term(app("x")))
    _placed(c, _pod(c, "one", {"app": "x"}, "a", affinity=alone))
    _placed(c, _pod(c, "two", {"app": "x"}, affinity=alone))
    _waits(c, _pod(c, "three", {"app": "x"}, affinity=alone))
    c.delete(POD, "one", grace_seconds=0, show=["metadata.name"])
    c.until(POD, "three", present("spec.nodeName"), show=PLACED)


@script("Anti-affinity does not concern nodes without the topology's label.", ["6.2"])
def anti_affinity_outside(c: Dialogue) -> None:
    _racks(c, "a", "")
    alone = apart(term(app("x")))
    _placed(c, _pod(c, "one", {"app": "x"}, "a", affinity=alone))
    _placed(c, _pod(c, "two", {"app": "x"}, affinity=alone))
    _placed(c, _pod(c, "three", {"app": "x"}, affinity=alone))


@script("A bound pod keeps others out that do not mind it themselves.", ["6.2"])
def anti_affinity_of_bound(c: Dialogue) -> None:
    _racks(c, "a")
    _placed(c, _pod(c, "holder", {"app": "h"}, affinity=apart(term(app("x")))))
    _placed(c, _pod(c, "other", {"app": "y"}))
    _waits(c, _pod(c, "one", {"app": "x"}))
    c.delete(POD, "holder", grace_seconds=0, show=["metadata.name"])
    c.until(POD, "one", present("spec.nodeName"), show=PLACED)


@script("A pod that has ended neither attracts nor excludes.", ["6.2"])
def affinity_to_ended(c: Dialogue) -> None:
    _racks(c, "a")
    ended = pod("ended", {"exit": "0"}, restartPolicy="Never")
    ended["metadata"]["labels"] = {"app": "x"}
    ended["spec"] |= _pod(c, "ended", affinity=apart(term(app("x"))))["spec"]
    ended["spec"]["restartPolicy"] = "Never"
    c.create(ended, show=["metadata.name"])
    c.until(POD, "ended", phase("Succeeded"), show=["status.phase"])
    _waits(c, _pod(c, "near", affinity=near(term(app("x")))))
    _placed(c, _pod(c, "apart", {"app": "x"}, affinity=apart(term(app("x")))))


@script("Labels that a bound pod gets later count.", ["6.2"])
def affinity_relabelled(c: Dialogue) -> None:
    _racks(c, "a", "b")
    _placed(c, _pod(c, "anchor", {"app": "x"}, "a"))
    _waits(c, _pod(c, "one", affinity=near(term(app("y")))))
    c.patch(POD, "anchor", {"metadata": {"labels": {"app": "y"}}}, show=["metadata.labels"])
    c.until(POD, "one", present("spec.nodeName"), show=PLACED)


@script("A term means pods of its own namespace unless it says otherwise.", ["6.2"])
def affinity_namespaces(c: Dialogue) -> None:
    _racks(c, "a")
    other = f"{c.namespace}-other"
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": other, "labels": {"team": "red"}},
    }
    c.raw("POST", "/api/v1/namespaces", namespace, label="create a namespace", show=["kind"])
    anchor = _pod(c, "anchor", {"app": "x"})
    c.raw("POST", POD.path(other), anchor, label="create an anchor there", show=["kind"])
    anchor_there = Elsewhere(c, other)
    anchor_there.until_placed("anchor")
    by_label = {"matchLabels": {"team": "red"}}
    by_other_label = {"matchLabels": {"team": "blue"}}
    _waits(c, _pod(c, "own", affinity=near(term(app("x")))))
    _waits(c, _pod(c, "wrong", affinity=near(term(app("x"), namespaceSelector=by_other_label))))
    _placed(c, _pod(c, "named", affinity=near(term(app("x"), namespaces=[other]))))
    _placed(c, _pod(c, "all", affinity=near(term(app("x"), namespaceSelector={}))))
    _placed(c, _pod(c, "chosen", affinity=near(term(app("x"), namespaceSelector=by_label))))
    either = term(app("x"), namespaceSelector=by_other_label, namespaces=[other])
    _placed(c, _pod(c, "either", affinity=near(either)))
    _waits(c, _pod(c, "excluded", affinity=apart(term(app("x"), namespaceSelector={}))))


class Elsewhere:
    """Pods of another namespace than the script's own."""

    def __init__(self, c: Dialogue, namespace: str) -> None:
        self._c = c
        self._namespace = namespace

    def until_placed(self, name: str) -> None:
        c = self._c
        own, c.namespace = c.namespace, self._namespace
        try:
            c.until(POD, name, present("spec.nodeName"), show=PLACED)
        finally:
            c.namespace = own


@script("Groups of pods get a topology each to themselves, as exclusive placement does.", ["6.2"])
def exclusive_topology(c: Dialogue) -> None:
    _racks(c, "a", "b")

    def member(name: str, key: str, rack: str = "") -> dict[str, Any]:
        mine = [{"key": "group", "operator": "In", "values": [key]}]
        others = [
            {"key": "group", "operator": "Exists"},
            {"key": "group", "operator": "NotIn", "values": [key]},
        ]
        rules = {
            **near(term({"matchExpressions": mine}, namespaceSelector={})),
            **apart(term({"matchExpressions": others}, namespaceSelector={})),
        }
        return _pod(c, name, {"group": key}, rack, affinity=rules)

    _placed(c, member("a-leader", "a", "b"))
    _placed(c, member("b-leader", "b"))
    _placed(c, member("a-follower", "a"))
    _placed(c, member("b-follower", "b"))
    _waits(c, member("c-leader", "c"))
    for name in ("b-leader", "b-follower"):
        c.delete(POD, name, grace_seconds=0, show=["metadata.name"])
    c.until(POD, "c-leader", present("spec.nodeName"), show=PLACED)


@script("The scheduler reports which rules between pods refuse the nodes.", ["6.2"], exclusive=True)
def affinity_reasons(c: Dialogue) -> None:
    _racks(c, "a", "b", "")
    holder = apart(term(app("x")))
    _placed(c, _pod(c, "holder", {"app": "x"}, "a", affinity=holder))
    _waits(c, _pod(c, "far", affinity=near(term(app("nobody")))), REASON)
    _waits(c, _pod(c, "apart", {"app": "z"}, "a", affinity=apart(term(app("x")))), REASON)
    _waits(c, _pod(c, "kept-out", {"app": "x"}, "a"), REASON)
    _waits(c, _pod(c, "near", {"app": "x"}, "b", affinity=near(term(app("x")))), REASON)
    both = {**near(term(app("x"))), **apart(term(app("x")))}
    _waits(c, _pod(c, "both", affinity=both), REASON)


@script("Of the terms of a node affinity one must match, of a term's expressions all.", ["6.1"])
def node_affinity_terms(c: Dialogue) -> None:
    _racks(c, "a", "b", "c")

    def node_affinity(*terms: Any) -> dict[str, Any]:
        return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}

    def on(*racks: str) -> dict[str, Any]:
        return {"key": RACK, "operator": "In", "values": list(racks)}

    pool = {"key": POOL, "operator": "Exists"}
    absent = {"key": POOL, "operator": "DoesNotExist"}
    not_a = {"key": RACK, "operator": "NotIn", "values": ["a", "c"]}
    name = {
        "key": "metadata.name",
        "operator": "In",
        "values": [f"{c.namespace}-2"],
    }
    one_of = node_affinity(
        {"matchExpressions": [on("a"), absent]}, {"matchExpressions": [pool, not_a]}
    )
    _placed(c, _pod(c, "one", affinity=one_of))
    _placed(c, _pod(c, "field", affinity=node_affinity({"matchFields": [name]})))
    both = node_affinity({"matchFields": [name], "matchExpressions": [on("c")]})
    _placed(c, _pod(c, "both", affinity=both))
    empty_and_b = node_affinity({}, {"matchExpressions": [on("b")]})
    _placed(c, _pod(c, "beside-empty", affinity=empty_and_b))
    _waits(c, _pod(c, "empty", affinity=node_affinity({})))
    neither = node_affinity({"matchFields": [name], "matchExpressions": [on("a")]})
    _waits(c, _pod(c, "neither", affinity=neither))
    _waits(c, _pod(c, "against-selector", rack="a", affinity=one_of))


@script("The scheduler reports why nodes refuse a pod for themselves.", ["6.1"], exclusive=True)
def placement_reasons(c: Dialogue) -> None:
    _racks(c, "a", "b", "c")
    c.patch(
        NODE, f"{c.namespace}-1", {"spec": {"unschedulable": True}}, show=["spec.unschedulable"]
    )
    hard = {"key": "tests.assay.dev/hard", "effect": "NoExecute", "value": "v"}
    c.patch(NODE, f"{c.namespace}-2", {"spec": {"taints": [OWN, hard]}}, show=["kind"])
    c.until(NODE, f"{c.namespace}-1", present("spec.taints.1"), show=["spec.taints"])
    _waits(c, _pod(c, "cordoned", rack="b"), REASON)
    _waits(c, _pod(c, "tainted", rack="c"), REASON)
    _waits(c, _pod(c, "nowhere", rack="z"), REASON)
    _waits(c, pod("own", nodeSelector={POOL: c.namespace}), REASON)
    huge = {"containers": [container(resources={"requests": {"cpu": "9999", "memory": "9999Ti"}})]}
    _waits(c, _pod(c, "huge", **huge), REASON)

    def named(*names: str, operator: str = "In") -> dict[str, Any]:
        fields = [
            {"key": "metadata.name", "operator": operator, "values": [name]} for name in names
        ]
        terms = [{"matchFields": fields}]
        return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}

    _waits(c, _pod(c, "unknown", affinity=named("nobody")), REASON)
    _waits(c, _pod(c, "one-name", affinity=named(f"{c.namespace}-1")), REASON)
    others = named(*(f"{c.namespace}-{number}" for number in range(3)), operator="NotIn")
    _waits(c, _pod(c, "other-names", affinity=others), REASON)


@script("A pod's own labels complete its affinity, by the keys that it names.", ["6.2"])
def affinity_label_keys(c: Dialogue) -> None:
    _racks(c, "a", "b")
    show = ["spec.affinity"]
    same = near(term(app("x"), matchLabelKeys=["version", "absent"]))
    c.create(_pod(c, "one", {"app": "x", "version": "1"}, "a", affinity=same), show=show)
    c.until(POD, "one", present("spec.nodeName"), show=PLACED)
    c.create(_pod(c, "two", {"app": "x", "version": "2"}, "b", affinity=same), show=show)
    c.until(POD, "two", present("spec.nodeName"), show=PLACED)
    c.create(_pod(c, "three", {"app": "x", "version": "1"}, affinity=same), show=show)
    c.until(POD, "three", present("spec.nodeName"), show=PLACED)
    other = apart(term(app("x"), mismatchLabelKeys=["version"]))
    c.create(_pod(c, "four", {"app": "x", "version": "2"}, affinity=other), show=show)
    c.until(POD, "four", present("spec.nodeName"), show=PLACED)


@script("An invalid affinity is rejected, each error with its field.", ["6.1", "6.2"])
def affinity_validation(c: Dialogue) -> None:
    def node_terms(*terms: Any) -> dict[str, Any]:
        return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}

    def expression(**fields: Any) -> dict[str, Any]:
        return {"matchExpressions": [fields]}

    def field(**fields: Any) -> dict[str, Any]:
        return {"matchFields": [fields]}

    for affinity in (
        {},
        near({}),
        near(term(app("x"), topologyKey="")),
        near(term(app("x"), topologyKey="bad key")),
        near(term(expression(key="a", operator="Between", values=["1"]))),
        near(term(expression(key="a", operator="In"))),
        near(term(expression(key="a", operator="Exists", values=["1"]))),
        near(term(expression(key="bad key", operator="Exists"))),
        near(term({"matchLabels": {"a": "bad value"}})),
        near(term(app("x"), namespaces=["Bad_Name"])),
        near(term(app("x"), namespaceSelector=expression(key="a", operator="Sometimes"))),
        near(term(app("x"), matchLabelKeys=["a", "a"])),
        near(term(matchLabelKeys=["a"])),
        near(term(app("x"), matchLabelKeys=["a"], mismatchLabelKeys=["a"])),
        near(term(app("x"), matchLabelKeys=["bad key"])),
        apart({}),
        apart(term(expression(key="a", operator="Gt", values=["1"]))),
        {"nodeAffinity": {REQUIRED: {}}},
        node_terms(),
        node_terms({}),
        node_terms(expression(key="a", operator="In")),
        node_terms(expression(key="a", operator="Exists", values=["1"])),
        node_terms(expression(key="a", operator="Gt", values=["1", "2"])),
        node_terms(expression(key="a", operator="Gt", values=["x"])),
        node_terms(expression(key="a", operator="Between", values=["1"])),
        node_terms(expression(key="bad key", operator="Exists")),
        node_terms(expression(key="a", operator="In", values=["bad value"])),
        node_terms(field(key="metadata.name", operator="In", values=["a", "b"])),
        node_terms(field(key="metadata.name", operator="Exists")),
        node_terms(field(key="metadata.uid", operator="In", values=["a"])),
        node_terms(field(key="metadata.name", operator="In", values=["Bad_Name"])),
        node_terms(field(key="metadata.name", operator="NotIn", values=["a"])),
        node_terms(field(key="metadata.name", operator="NotIn")),
        node_terms(field(key="metadata.name", operator="Gt", values=["1"])),
        node_terms(field(key="metadata.name")),
        node_terms(expression(key="a", operator="NotIn")),
        node_terms(expression(key="a", operator="NotIn", values=["1", "2"])),
        node_terms(expression(key="a", operator="DoesNotExist", values=["1"])),
        node_terms(expression(key="a", operator="Lt")),
        node_terms(expression(key="a", operator="Lt", values=["1"])),
        near(term(expression(key="a", operator="NotIn"))),
        near(term(expression(key="a", operator="NotIn", values=["1", "2"]))),
        near(term(expression(key="a", operator="DoesNotExist", values=["1"]))),
        near(term(expression(key="a", operator="Lt", values=["1"]))),
    ):
        c.create(pod("a", affinity=affinity), dry_run=True, show=["spec.affinity"])


@script("A pod stays off the nodes that its node affinity excludes by name.", ["6.1"])
def node_affinity_names(c: Dialogue) -> None:
    _racks(c, "a", "b")

    def named(operator: str, *numbers: int) -> dict[str, Any]:
        """Each name has a term of its own field; all fields must match."""
        fields = [
            {
                "key": "metadata.name",
                "operator": operator,
                "values": [f"{c.namespace}-{number}"],
            }
            for number in numbers
        ]
        return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}

    _placed(c, _pod(c, "off-0", affinity=named("NotIn", 0)))
    _placed(c, _pod(c, "off-1", affinity=named("NotIn", 1)))
    _waits(c, _pod(c, "off-both", affinity=named("NotIn", 0, 1)))
    _waits(c, _pod(c, "on-both", affinity=named("In", 0, 1)))
