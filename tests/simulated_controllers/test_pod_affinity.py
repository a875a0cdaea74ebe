"""Affinity between pods, where recordings of a real scheduler cannot look: inside, and at size."""

from __future__ import annotations

from typing import Any

from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.scheduling.pod_affinity import PodAffinity
from clusters.simulated.store import Change, Key
from tests.simulated_controllers.lab import DEFAULT, Lab, NodeSpec, pod
from vocabulary.kinds import NAMESPACE, NODE, POD
from vocabulary.objects import labels_of, name_of

RACK = "example.com/rack"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def racks(*names: str) -> list[NodeSpec]:
    return [NodeSpec(f"n{at}", labels={RACK: name}) for at, name in enumerate(names)]


def labelled(name: str, labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    obj = pod(name, **spec)
    obj["metadata"]["labels"] = labels
    return obj


def term(selector: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"topologyKey": RACK, "labelSelector": selector, **fields}


def near(*terms: Any) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms)}}


def apart(*terms: Any) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def node_of(lab: Lab, name: str) -> str:
    return str(lab.pod(name)["spec"].get("nodeName", ""))


def member(name: str, group: str) -> dict[str, Any]:
    """A pod that shares its rack with its own group only."""
    mine = {"matchExpressions": [{"key": "group", "operator": "In", "values": [group]}]}
    others = {
        "matchExpressions": [
            {"key": "group", "operator": "Exists"},
            {"key": "group", "operator": "NotIn", "values": [group]},
        ]
    }
    rules = {
        **near(term(mine, namespaceSelector={})),
        **apart(term(others, namespaceSelector={})),
    }
    return labelled(name, {"group": group}, affinity=rules)


def test_groups_of_many_pods_have_a_rack_each() -> None:
    lab = Lab(nodes=racks("a", "a", "b", "b", "c", "c"))
    for number in range(60):
        lab.create(member(f"p{number}", f"g{number % 3}"))
    lab.run(60)
    used: dict[str, set[str]] = {}
    for each in lab.pods:
        rack = labels_of(lab.get(NODE, each["spec"]["nodeName"]))
        used.setdefault(labels_of(each)["group"], set()).add(rack[RACK])
    assert sorted(len(found) for found in used.values()) == [1, 1, 1]
    assert len(set.union(*used.values())) == 3


def test_the_labels_of_a_namespace_decide_whom_a_term_means() -> None:
    lab = Lab(nodes=racks("a"))
    lab.create(labelled("anchor", {"app": "x"}))
    lab.run(1)
    red = term({"matchLabels": {"app": "x"}}, namespaceSelector={"matchLabels": {"team": "red"}})
    lab.create(labelled("early", {}, affinity=near(red)))
    lab.run(5)
    assert node_of(lab, "early") == ""
    lab.patch(NAMESPACE, DEFAULT, {"metadata": {"labels": {"team": "red"}}})
    lab.create(labelled("late", {}, affinity=near(red)))
    lab.run(5)
    assert node_of(lab, "late") == "n0"


def test_a_waiting_pod_is_tried_again_only_for_a_pod_that_it_asks_for() -> None:
    lab = Lab(nodes=racks("a"))
    lab.create(labelled("waiting", {}, affinity=near(term({"matchLabels": {"app": "x"}}))))
    lab.run(5)
    before = len(lab.writes(POD, name="waiting"))
    for number in range(5):
        lab.create(labelled(f"other{number}", {"app": "y"}))
    lab.run(60)
    assert len(lab.writes(POD, name="waiting")) == before
    lab.create(labelled("anchor", {"app": "x"}))
    lab.run(15)
    assert node_of(lab, "waiting") == "n0"


def test_a_waiting_pod_may_get_labels_that_help_it() -> None:
    lab = Lab(nodes=racks("a"))
    lab.create(labelled("holder", {}, affinity=apart(term({"matchLabels": {"app": "x"}}))))
    lab.run(1)
    lab.create(labelled("waiting", {"app": "x"}))
    lab.run(5)
    assert node_of(lab, "waiting") == ""
    lab.patch(POD, "waiting", {"metadata": {"labels": {"app": "y"}}})
    lab.run(1)
    assert node_of(lab, "waiting") == "n0"


def test_a_restarted_scheduler_knows_the_rules_of_bound_pods() -> None:
    lab = Lab(nodes=racks("a"))
    lab.create(labelled("holder", {}, affinity=apart(term({"matchLabels": {"app": "x"}}))))
    lab.run(1)
    lab.processes.kill("scheduler")
    lab.create(labelled("kept-out", {"app": "x"}))
    lab.run(1)
    lab.processes.start("scheduler")
    lab.run(30)
    assert node_of(lab, "kept-out") == ""


def test_more_distinct_terms_than_are_kept_give_the_same_answers() -> None:
    lab = Lab(nodes=[NodeSpec("n0", pods=500, labels={RACK: "a"})])
    for number in range(100):
        lab.create(labelled(f"anchor{number}", {"app": f"x{number}"}))
    lab.run(5)
    for number in [*range(100), *range(100)]:
        wanted = near(term({"matchLabels": {"app": f"x{number}"}}))
        name = f"p{number}" if lab.get(POD, f"p{number}") is None else f"q{number}"
        lab.create(labelled(name, {}, affinity=wanted))
    lab.run(5)
    assert all(each["spec"].get("nodeName") for each in lab.pods)


def test_pods_without_affinity_cost_no_look_at_others() -> None:
    lab = Lab(nodes=racks("a", "b"))
    for number in range(20):
        lab.create(pod(f"p{number}"))
    lab.run(5)

    class Unasked(Informers):
        def all_of(self, *arguments: Any) -> Any:
            raise AssertionError("looked at all pods")

    affinity = PodAffinity(Unasked(lab.cluster.store))
    for at, each in enumerate(lab.pods):
        key = Key(str(POD), DEFAULT, name_of(each))
        affinity.pod_changed(Change("ADDED", key, each, None, at))
        assert affinity.rules_for(each) is None
