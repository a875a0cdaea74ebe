"""The scheduler: what fits where, why something fits nowhere, and when it is tried again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_controllers.lab import Lab, NodeSpec, condition, pod, requests
from vocabulary.kinds import NODE, POD, PRIORITY_CLASS
from vocabulary.objects import condition_status


def node_of(lab: Lab, name: str = "p") -> str:
    return str(lab.pod(name)["spec"].get("nodeName", ""))


def unschedulable(lab: Lab, name: str = "p") -> str:
    entry = condition(lab.pod(name), "PodScheduled")
    assert entry is not None
    assert (entry["status"], entry["reason"]) == ("False", "Unschedulable")
    return str(entry["message"])


def affinity(key: str, operator: str, *values: str) -> dict[str, Any]:
    expression: dict[str, Any] = {"key": key, "operator": operator}
    if values:
        expression["values"] = list(values)
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    }


def test_pods_are_spread_to_the_least_loaded_nodes() -> None:
    lab = Lab(nodes=3)
    for number in range(6):
        lab.create(pod(f"p{number}", **requests(cpu="1")))
    lab.run(1)
    used = sorted(node_of(lab, f"p{number}") for number in range(6))
    assert used == ["n0", "n0", "n1", "n1", "n2", "n2"]
    assert condition_status(lab.pod("p0"), "PodScheduled") == "True"


def test_the_same_seed_places_alike_and_other_seeds_differ() -> None:
    def places(seed: int) -> list[str]:
        lab = Lab(seed, nodes=4)
        for number in range(4):
            lab.create(pod(f"p{number}"))
        lab.run(1)
        return [node_of(lab, f"p{number}") for number in range(4)]

    assert places(5) == places(5)
    assert len({tuple(places(seed)) for seed in range(6)}) > 1


def test_extended_resources_are_counted_and_an_ended_pod_gives_them_back() -> None:
    lab = Lab(nodes=1, gpus=2)
    lab.create(pod("a", behaviour="run 10s, exit 0", **gpu(2)))
    lab.create(pod("b", **gpu(1)))
    lab.run(5)
    assert {node_of(lab, "a"), node_of(lab, "b")} == {"n0", ""} or node_of(lab, "b") == "n0"
    waiting = "b" if not node_of(lab, "b") else "a"
    assert unschedulable(lab, waiting).startswith(
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    )
    if waiting == "a":
        lab.delete(POD, "b")
    lab.run(30)
    assert node_of(lab, waiting) == "n0"


def gpu(count: int) -> dict[str, Any]:
    limits = {"limits": {"nvidia.com/gpu": str(count)}}
    return {"containers": [{"name": "main", "image": "busybox", "resources": limits}]}


def test_a_node_takes_no_more_pods_than_it_has_places() -> None:
    lab = Lab(nodes=[NodeSpec("n0", pods=1)])
    for name in ("a", "b"):
        lab.create(pod(name))
    lab.run(5)
    waiting = next(name for name in ("a", "b") if not node_of(lab, name))
    assert "1 Too many pods" in unschedulable(lab, waiting)


def test_a_pod_goes_only_to_nodes_that_its_selector_chooses() -> None:
    lab = Lab(nodes=[NodeSpec("n0"), NodeSpec("n1", labels={"disk": "ssd"})])
    lab.create(pod(nodeSelector={"disk": "ssd"}))
    lab.run(1)
    assert node_of(lab) == "n1"


@pytest.mark.parametrize(
    ("operator", "values", "node"),
    [
        ("In", ("ERR", "EVICT"), "bad"),
        ("NotIn", ("ERR", "EVICT"), "good"),
        ("Exists", (), "bad"),
        ("DoesNotExist", (), "good"),
    ],
)
def test_required_node_affinity_is_honoured(
    operator: str, values: tuple[str, ...], node: str
) -> None:
    bad = NodeSpec("bad", labels={"autopilot.ibm.com/gpuhealth": "ERR"})
    lab = Lab(nodes=[NodeSpec("good"), bad])
    lab.create(pod(**affinity("autopilot.ibm.com/gpuhealth", operator, *values)))
    lab.run(1)
    assert node_of(lab) == node


@pytest.mark.parametrize(("operator", "node"), [("Gt", "big"), ("Lt", "small")])
def test_node_affinity_compares_whole_numbers(operator: str, node: str) -> None:
    lab = Lab(
        nodes=[
            NodeSpec("big", labels={"size": "9"}),
            NodeSpec("small", labels={"size": "1"}),
            NodeSpec("odd", labels={"size": "huge"}),
        ]
    )
    lab.create(pod(**affinity("size", operator, "5")))
    lab.run(1)
    assert node_of(lab) == node


def test_nothing_fits_is_said_in_the_words_of_the_real_scheduler() -> None:
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    lab = Lab(nodes=[NodeSpec("n0", cpu="1"), NodeSpec("n1", taints=[taint]), NodeSpec("n2")])
    lab.patch(NODE, "n2", {"spec": {"unschedulable": True}})
    lab.create(pod(**requests(cpu="2")))
    lab.run(1)
    assert unschedulable(lab) == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are "
        "available: 3 Preemption is not helpful for scheduling."
    )


def test_a_cordoned_node_is_used_again_once_it_is_uncordoned() -> None:
    lab = Lab(nodes=1)
    lab.patch(NODE, "n0", {"spec": {"unschedulable": True}})
    lab.run(1)
    lab.create(pod())
    lab.run(30)
    assert node_of(lab) == ""
    lab.patch(NODE, "n0", {"spec": {"unschedulable": None}})
    lab.run(15)
    assert node_of(lab) == "n0"


def test_a_tolerated_taint_does_not_keep_a_pod_away() -> None:
    lab = Lab(nodes=[NodeSpec("n0", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])])
    lab.create(pod("refused"))
    lab.create(pod("let-in", tolerations=[{"key": "k", "operator": "Equal", "value": "v"}]))
    lab.create(pod("all", tolerations=[{"operator": "Exists"}]))
    lab.run(5)
    assert [node_of(lab, name) for name in ("refused", "let-in", "all")] == ["", "n0", "n0"]


def test_a_pod_of_another_scheduler_is_left_alone() -> None:
    lab = Lab()
    lab.create(pod(schedulerName="my-scheduler"))
    lab.run(60)
    assert node_of(lab) == ""
    assert condition(lab.pod(), "PodScheduled") is None


def test_a_gated_pod_waits_until_its_gates_are_gone() -> None:
    lab = Lab()
    lab.create(pod(schedulingGates=[{"name": "example.com/wait"}]))
    lab.run(60)
    assert node_of(lab) == ""
    lab.patch(POD, "p", {"spec": {"schedulingGates": None}})
    lab.run(1)
    assert node_of(lab) != ""


def test_a_new_node_lets_a_parked_pod_in() -> None:
    lab = Lab(nodes=1)
    lab.create(pod(**requests(cpu="16")))
    lab.run(30)
    assert node_of(lab) == ""
    lab.cluster.add_node(NodeSpec("big", cpu="32"))
    lab.run(15)
    assert node_of(lab) == "big"


def create_priorities(lab: Lab, **classes: int) -> None:
    for name, value in classes.items():
        lab.create(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            }
        )


def test_a_pod_with_priority_pushes_out_the_lowest_and_youngest() -> None:
    lab = Lab(nodes=[NodeSpec("n0", cpu="2")])
    create_priorities(lab, low=1, high=1000)
    for name in ("old", "young"):
        lab.create(pod(name, priorityClassName="low", priority=1, **requests(cpu="1")))
        lab.run(2)
    lab.create(pod("urgent", priorityClassName="high", priority=1000, **requests(cpu="1")))
    lab.run(15)
    assert node_of(lab, "urgent") == "n0"
    assert lab.get(POD, "old") is not None
    last = lab.writes(POD, name="young", event="DELETED")[0].object
    assert last is not None
    entry = condition(last, "DisruptionTarget")
    assert entry is not None
    assert entry["reason"] == "PreemptionByScheduler"
    assert lab.all(PRIORITY_CLASS)


def test_of_equal_victims_those_go_whose_oldest_started_last() -> None:
    lab = Lab(nodes=[NodeSpec("n0", cpu="2"), NodeSpec("n1", cpu="2")])
    create_priorities(lab, high=1000)
    for name, node in (("a", "n0"), ("b", "n1"), ("c", "n1"), ("d", "n0")):
        on_node = {"nodeSelector": {"kubernetes.io/hostname": node}}
        lab.create(pod(name, **on_node, **requests(cpu="1")))
        lab.run(10)
    lab.create(pod("urgent", priorityClassName="high", **requests(cpu="2")))
    lab.run(60)
    assert node_of(lab, "urgent") == "n1"
    assert {each["metadata"]["name"] for each in lab.pods} == {"a", "d", "urgent"}


def test_a_pod_that_asks_for_less_is_tried_where_another_does_not_fit() -> None:
    lab = Lab(nodes=[NodeSpec("n0", cpu="2")])
    lab.create(pod("large", **requests(cpu="3")))
    lab.run(1)
    lab.create(pod("small", **requests(cpu="1")))
    lab.run(1)
    assert (node_of(lab, "large"), node_of(lab, "small")) == ("", "n0")


def test_a_pod_that_is_being_deleted_is_not_placed() -> None:
    lab = Lab()
    lab.processes.pause("scheduler")
    waiting = pod()
    waiting["metadata"]["finalizers"] = ["example.com/hold"]
    lab.create(waiting)
    lab.delete(POD, "p")
    lab.processes.resume("scheduler")
    lab.run(60)
    assert lab.writes(actor="scheduler") == []


def test_a_killed_scheduler_finds_waiting_pods_when_it_starts() -> None:
    lab = Lab()
    lab.processes.kill("scheduler")
    lab.create(pod())
    lab.run(60)
    assert node_of(lab) == ""
    lab.processes.start("scheduler")
    lab.run(1)
    assert node_of(lab) != ""
