"""Lost and tainted nodes: node life-cycle, taint manager, pod garbage collection."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import Lab, NodeSpec, condition, job, pod
from vocabulary.clock import SECOND
from vocabulary.kinds import NODE, POD
from vocabulary.objects import condition_status, get_path, name_of

UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"
FAST = Settings(node_monitor_grace_us=5 * SECOND, node_eviction_interval_us=SECOND // 10)


def taints(lab: Lab, node: str = "n0") -> set[str]:
    found = lab.get(NODE, node)["spec"].get("taints") or ()
    return {f"{taint['key']}:{taint['effect']}" for taint in found}


def ready(lab: Lab, node: str = "n0") -> str:
    return condition_status(lab.get(NODE, node), "Ready")


def tolerating(seconds: int | None, key: str = UNREACHABLE) -> dict[str, Any]:
    entry: dict[str, Any] = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        entry["tolerationSeconds"] = seconds
    return {"tolerations": [entry]}


def on_n0(name: str = "p", behaviour: str = "", **spec: Any) -> dict[str, Any]:
    selector = {"kubernetes.io/hostname": "n0"}
    return pod(name, behaviour, nodeSelector=selector, **spec)


def test_a_silent_node_becomes_unknown_after_the_grace_period() -> None:
    lab = Lab()
    lab.create(on_n0(**tolerating(None)))
    lab.run(10)
    lab.processes.kill("kubelet/n0")
    unknown_us = lab.until(lambda: ready(lab) == "Unknown")
    # The last sign of life is up to ten seconds old, and the monitor looks every five.
    assert 50 * SECOND <= unknown_us <= 65 * SECOND
    lab.run(1)
    assert taints(lab) == {f"{UNREACHABLE}:NoSchedule", f"{UNREACHABLE}:NoExecute"}
    entry = condition(lab.get(NODE, "n0"), "Ready")
    assert entry is not None
    assert entry["reason"] == "NodeStatusUnknown"
    assert condition_status(lab.pod(), "Ready") == "False"
    assert lab.phase() == "Running"


@pytest.mark.parametrize("stop", ["kill", "pause"])
def test_a_node_that_comes_back_in_time_is_never_unknown(stop: str) -> None:
    lab = Lab()
    getattr(lab.processes, stop)("kubelet/n0")
    lab.run(30)
    getattr(lab.processes, "start" if stop == "kill" else "resume")("kubelet/n0")
    lab.run(300)
    assert not lab.writes(NODE, actor="node-lifecycle")
    assert lab.cluster.is_quiet()


def test_a_node_whose_kubelet_was_paused_heals_when_it_goes_on() -> None:
    lab = Lab(settings=FAST)
    lab.processes.pause("kubelet/n0")
    lab.run(60)
    assert ready(lab) == "Unknown"
    lab.processes.resume("kubelet/n0")
    lab.run(2)
    assert (ready(lab), taints(lab)) == ("True", set())


def test_a_restarted_node_controller_counts_the_silence_anew() -> None:
    lab = Lab(settings=FAST)
    lab.processes.kill("node-lifecycle")
    lab.processes.kill("kubelet/n0")
    lab.run(600)
    assert ready(lab) == "True"
    lab.processes.start("node-lifecycle")
    lab.run(15)
    assert ready(lab) == "Unknown"


def test_a_healed_node_loses_its_taints_and_its_pods_are_ready_again() -> None:
    lab = Lab(settings=FAST)
    lab.create(on_n0(**tolerating(None)))
    lab.run(1)
    lab.processes.kill("kubelet/n0")
    lab.run(30)
    assert ready(lab) == "Unknown"
    lab.processes.start("kubelet/n0")
    lab.run(2)
    assert (ready(lab), taints(lab)) == ("True", set())
    assert condition_status(lab.pod(), "Ready") == "True"


def test_a_pod_of_a_lost_node_is_deleted_when_its_toleration_ends_and_stays_terminating() -> None:
    lab = Lab(settings=FAST)
    lab.create(on_n0(**tolerating(20)))
    lab.run(1)
    lab.processes.kill("kubelet/n0")
    tainted_us = lab.until(lambda: f"{UNREACHABLE}:NoExecute" in taints(lab))
    deleted_us = lab.until(lambda: "deletionTimestamp" in lab.pod()["metadata"])
    assert 20 * SECOND <= deleted_us - tainted_us < 20 * SECOND + SECOND // 10
    lab.run(3600)
    assert lab.phase() == "Running"
    entry = condition(lab.pod(), "DisruptionTarget")
    assert entry is not None
    assert entry["reason"] == "DeletionByTaintManager"
    lab.processes.start("kubelet/n0")
    lab.run(1)
    assert lab.get(POD, "p") is None


def test_a_kubelet_that_reports_not_ready_gets_the_other_taints() -> None:
    lab = Lab(settings=FAST)
    lab.patch(NODE, "n0", {"metadata": {"labels": {"assay.dev/not-ready": "true"}}})
    lab.run(2)
    assert taints(lab) == {f"{NOT_READY}:NoSchedule", f"{NOT_READY}:NoExecute"}
    lab.patch(NODE, "n0", {"metadata": {"labels": {"assay.dev/not-ready": None}}})
    lab.run(2)
    assert taints(lab) == set()


def test_nothing_is_evicted_when_every_node_is_lost() -> None:
    lab = Lab(settings=FAST)
    lab.create(on_n0(**tolerating(0)))
    lab.run(1)
    for node in ("n0", "n1"):
        lab.processes.kill(f"kubelet/{node}")
    lab.run(600)
    assert taints(lab, "n1") == {f"{UNREACHABLE}:NoSchedule"}
    assert not lab.writes(POD, actor="taint-manager")


def test_a_zone_that_is_mostly_lost_is_not_evicted_in_a_small_cluster() -> None:
    lab = Lab(nodes=4, settings=FAST)
    for number in range(3):
        lab.processes.kill(f"kubelet/n{number}")
    lab.run(600)
    evicted = [n for n in range(4) if f"{UNREACHABLE}:NoExecute" in taints(lab, f"n{n}")]
    assert len(evicted) < 3


def test_half_of_the_nodes_lost_are_evicted_one_after_the_other() -> None:
    settings = Settings(node_monitor_grace_us=5 * SECOND)
    lab = Lab(nodes=4, settings=settings)
    for number in range(2):
        lab.processes.kill(f"kubelet/n{number}")
    times = [
        lab.until(lambda n=n: f"{UNREACHABLE}:NoExecute" in taints(lab, f"n{n}")) for n in range(2)
    ]
    first, second = sorted(
        entry.t
        for entry in lab.writes(NODE, actor="node-lifecycle", verb="patch")
        if any(t["effect"] == "NoExecute" for t in (entry.object or {})["spec"]["taints"])
    )
    assert max(times) == second
    assert second - first >= 10 * SECOND


def test_a_node_that_is_created_again_waits_for_its_turn_anew() -> None:
    lab = Lab()
    evicted = f"{NOT_READY}:NoExecute"

    def create_lost() -> None:
        node = lab.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}})
        lab.set_status(node, {"conditions": [{"type": "Ready", "status": "False"}]})

    create_lost()
    lab.run(2)
    assert evicted in taints(lab, "x")
    lab.delete(NODE, "x")
    create_lost()
    lab.run(2)
    assert taints(lab, "x") == {f"{NOT_READY}:NoSchedule"}
    lab.run(10)
    assert evicted in taints(lab, "x")


def test_nothing_is_evicted_once_the_last_node_that_was_ready_is_deleted() -> None:
    lab = Lab(settings=FAST)
    lab.patch(NODE, "n0", {"metadata": {"labels": {"assay.dev/not-ready": "true"}}})
    lab.run(2)
    assert f"{NOT_READY}:NoExecute" in taints(lab)
    lab.delete(NODE, "n1")
    lab.run(2)
    assert taints(lab) == {f"{NOT_READY}:NoSchedule"}


def test_a_cordoned_node_gets_the_unschedulable_taint() -> None:
    lab = Lab()
    lab.patch(NODE, "n0", {"spec": {"unschedulable": True}})
    lab.run(1)
    assert taints(lab) == {"node.kubernetes.io/unschedulable:NoSchedule"}
    lab.patch(NODE, "n0", {"spec": {"unschedulable": None}})
    lab.run(1)
    assert taints(lab) == set()


def test_a_taint_that_is_not_tolerated_evicts_at_once_with_a_condition() -> None:
    lab = Lab()
    lab.create(on_n0(behaviour="stop 30s"))
    lab.run(1)
    lab.taint("n0", {"key": "k", "value": "v", "effect": "NoExecute"})
    deleted_us = lab.until(lambda: "deletionTimestamp" in lab.pod()["metadata"])
    assert deleted_us - SECOND <= SECOND // 10
    entry = condition(lab.pod(), "DisruptionTarget")
    assert entry is not None
    assert entry["message"] == "Taint manager: deleting due to NoExecute taint"


@pytest.mark.parametrize("effect", ["NoSchedule", "PreferNoSchedule"])
def test_other_effects_leave_running_pods_alone(effect: str) -> None:
    lab = Lab()
    lab.create(on_n0())
    lab.run(1)
    lab.taint("n0", {"key": "k", "effect": effect})
    lab.run(60)
    assert lab.phase() == "Running"


def test_the_shortest_of_several_tolerations_counts() -> None:
    lab = Lab()
    lab.create(
        on_n0(
            tolerations=[
                *tolerating(50, "a")["tolerations"],
                *tolerating(20, "b")["tolerations"],
            ]
        )
    )
    lab.run(1)
    lab.taint("n0", {"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoExecute"})
    gone_us = lab.until(lambda: lab.get(POD, "p") is None)
    assert 20 * SECOND <= gone_us - SECOND < 20 * SECOND + SECOND // 10


def test_a_taint_that_is_taken_back_in_time_evicts_nobody() -> None:
    lab = Lab()
    lab.create(on_n0(**tolerating(20, "k")))
    lab.run(1)
    lab.taint("n0", {"key": "k", "effect": "NoExecute"})
    lab.run(15)
    lab.taint("n0")
    lab.run(60)
    assert lab.phase() == "Running"
    assert lab.cluster.is_quiet()


def test_a_restarted_taint_manager_evicts_what_it_missed() -> None:
    lab = Lab()
    lab.create(on_n0())
    lab.run(1)
    lab.processes.kill("taint-manager")
    lab.taint("n0", {"key": "k", "effect": "NoExecute"})
    lab.run(60)
    assert lab.phase() == "Running"
    lab.processes.start("taint-manager")
    lab.run(1)
    assert lab.get(POD, "p") is None


def test_5_5_pods_of_a_deleted_node_fail_and_are_forced_away_after_a_minute() -> None:
    lab = Lab()
    lab.create(on_n0())
    lab.run(1)
    lab.delete(NODE, "n0")
    gone_us = lab.until(lambda: lab.get(POD, "p") is None)
    assert 60 * SECOND <= gone_us - SECOND <= 62 * SECOND
    assert lab.events(POD, "p")[-2] == "MODIFIED Failed"
    last = lab.writes(POD, event="DELETED")[0]
    assert last.actor == "pod-gc"
    assert last.options["gracePeriodSeconds"] == 0
    entry = condition(last.object or {}, "DisruptionTarget")
    assert entry is not None
    assert (entry["reason"], entry["message"]) == (
        "DeletionByPodGC",
        "PodGC: node no longer exists",
    )


def test_a_node_that_is_back_within_the_quarantine_keeps_its_pods() -> None:
    lab = Lab()
    lab.create(on_n0())
    lab.run(1)
    lab.delete(NODE, "n0")
    lab.run(30)
    lab.cluster.add_node(NodeSpec("n0"))
    lab.run(120)
    assert lab.phase() == "Running"


def test_a_pod_that_was_never_bound_and_cannot_go_is_failed_by_pod_gc() -> None:
    lab = Lab()
    obj = pod(nodeSelector={"no": "such-node"})
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    lab.create(obj)
    lab.run(5)
    lab.delete(POD, "p")
    lab.run(40)
    assert lab.phase() == "Failed"
    lab.patch(POD, "p", {"metadata": {"finalizers": None}})
    assert lab.get(POD, "p") is None


def test_a_job_recovers_from_a_lost_node() -> None:
    lab = Lab(settings=FAST)
    lab.create(job(pods=2, template=tolerating(5)))
    lab.run(5)
    lost = lab.pods[0]["spec"]["nodeName"]
    lab.processes.kill(f"kubelet/{lost}")
    lab.run(60)
    running = [
        obj
        for obj in lab.pods
        if get_path(obj, "status.phase") == "Running" and "deletionTimestamp" not in obj["metadata"]
    ]
    assert len(running) == 2
    assert {obj["spec"]["nodeName"] for obj in running}.isdisjoint({lost})
    assert name_of(running[0]) != name_of(running[1])
