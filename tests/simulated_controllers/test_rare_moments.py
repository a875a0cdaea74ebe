"""Moments that few scenarios have: what goes while it is awaited, and what is just as long."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.crds import load_crd
from clusters.simulated.cluster import NodeSpec
from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab, pod, requests
from tests.simulated_controllers.test_garbage_collector import config_map, names, reference
from tests.simulated_controllers.test_late_answers import ADMIN, Intercepted
from tests.simulated_controllers.test_pytorchjob import pytorch_job
from vocabulary.clock import SECOND, parse_rfc3339, to_rfc3339
from vocabulary.kinds import (
    CONFIG_MAP,
    NODE,
    POD,
    POD_DISRUPTION_BUDGET,
    PYTORCH_JOB,
)
from vocabulary.objects import condition, get_path, is_terminating, name_of
from vocabulary.requests import Get, Patch

NO_EXECUTE = {"key": "example.org/gone", "effect": "NoExecute"}


def a_class(name: str, value: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def restarts(lab: Lab) -> int:
    found: int = get_path(lab.pod(), "status.containerStatuses.0.restartCount", 0)
    return found


def test_a_container_that_has_run_for_ten_minutes_is_restarted_at_once_again() -> None:
    lab = Lab()
    lab.create(pod(behaviour="run 599s, exit 1", restartPolicy="Always"))
    lab.until(lambda: restarts(lab) == 2)
    short_us = lab.loop.elapsed_us
    lab.delete(POD, "p", grace_period_seconds=0)
    began_us = lab.loop.elapsed_us
    lab.create(pod(behaviour="run 601s, exit 1", restartPolicy="Always"))
    lab.until(lambda: restarts(lab) == 2)
    assert 1208 * SECOND <= short_us <= 1209 * SECOND
    assert 1202 * SECOND <= lab.loop.elapsed_us - began_us <= 1203 * SECOND


def test_a_kubelet_that_starts_waits_with_a_container_that_has_crashed() -> None:
    lab = Lab(nodes=1)
    lab.create(pod(behaviour="run 1s, exit 1", restartPolicy="Always"))
    lab.until(lambda: restarts(lab) == 2)
    lab.run(2)
    kubelet = f"kubelet/{lab.pod()['spec']['nodeName']}"
    finished = get_path(lab.pod(), "status.containerStatuses.0.lastState.terminated.finishedAt")
    lab.processes.kill(kubelet)
    lab.processes.start(kubelet)
    lab.until(lambda: restarts(lab) == 3)
    waited_us = lab.loop.now_us - parse_rfc3339(finished)
    assert 20 * SECOND <= waited_us < 22 * SECOND


@pytest.mark.parametrize("behaviour", ["image missing", "init stuck", "run 5s, exit 0"])
def test_a_kubelet_that_starts_knows_what_has_not_crashed(behaviour: str) -> None:
    lab = Lab(nodes=1)
    lab.create(pod(behaviour=behaviour))
    lab.run(10)
    before = lab.pod()["status"]
    kubelet = f"kubelet/{lab.pod()['spec']['nodeName']}"
    lab.processes.kill(kubelet)
    lab.processes.start(kubelet)
    lab.run(30)
    assert lab.pod()["status"] == before


def test_a_machine_that_is_gone_plays_its_pods_no_more() -> None:
    lab = Lab(nodes=1)
    lab.create(pod(behaviour="run 10s, exit 0"))
    lab.run(5)
    lab.delete(NODE, lab.pod()["spec"]["nodeName"])
    lab.run(20)
    assert lab.phase() == "Running"


def test_a_pod_that_goes_before_it_is_evicted_is_not_evicted() -> None:
    lab = Lab(nodes=1)
    tolerated = {**NO_EXECUTE, "operator": "Exists", "tolerationSeconds": 60}
    lab.create(pod(behaviour="run forever, stop 200s", tolerations=[tolerated]))
    lab.run(5)
    lab.taint(lab.pod()["spec"]["nodeName"], NO_EXECUTE)
    lab.run(10)
    lab.delete(POD, "p")
    lab.run(100)
    assert is_terminating(lab.pod())
    assert lab.writes(POD, actor="taint-manager") == []


def test_a_pod_of_another_name_has_an_eviction_of_its_own() -> None:
    lab = Lab(nodes=1)
    tolerated = {**NO_EXECUTE, "operator": "Exists", "tolerationSeconds": 60}
    lab.create(pod(behaviour="run forever", tolerations=[tolerated]))
    lab.run(5)
    lab.taint(lab.pod()["spec"]["nodeName"], NO_EXECUTE)
    lab.run(30)
    lab.delete(POD, "p", grace_period_seconds=0)
    lab.create(pod(behaviour="run forever", tolerations=[tolerated, {"operator": "Exists"}]))
    lab.run(45)
    assert not is_terminating(lab.pod())
    lab.until(lambda: lab.get(POD, "p") is None, within_seconds=30)


def test_no_node_is_said_so() -> None:
    lab = Lab(nodes=[])
    lab.create(pod())
    lab.run(5)
    entry = condition(lab.pod(), "PodScheduled")
    assert entry is not None
    assert entry["message"] == "no nodes available to schedule pods"


def test_a_place_for_a_pod_is_made_by_preemption_too() -> None:
    lab = Lab(nodes=[NodeSpec("n0", pods=2)])
    for name, value in (("low", 1), ("high", 100)):
        lab.create(a_class(name, value))
    for name in ("a", "b"):
        lab.create(pod(name, "run forever", priorityClassName="low"))
        lab.run(5)
    lab.create(pod("urgent", "run forever", priorityClassName="high"))
    lab.run(60)
    assert sorted(map(name_of, lab.pods)) == ["a", "urgent"]


def test_a_preemption_waits_for_the_victims_of_the_one_before() -> None:
    lab = Lab(nodes=[NodeSpec("n0", cpu="2"), NodeSpec("n1", cpu="2")])
    for name, value in (("low", 1), ("high", 100)):
        lab.create(a_class(name, value))
    for name in ("a", "b"):
        own = {"nodeSelector": {"kubernetes.io/hostname": f"n{'ab'.index(name)}"}}
        body = pod(
            name, "run forever, stop 20s", priorityClassName="low", **requests(cpu="2"), **own
        )
        lab.create(body)
        lab.run(5)
    lab.create(pod("urgent", "run forever", priorityClassName="high", **requests(cpu="2")))
    lab.run(10)
    first = get_path(lab.pod("urgent"), "status.nominatedNodeName")
    assert [is_terminating(each) for each in lab.pods].count(True) == 1
    lab.patch(POD, "urgent", {"metadata": {"labels": {"looked": "again"}}})
    lab.run(3)
    assert [is_terminating(each) for each in lab.pods].count(True) == 1
    lab.run(60)
    assert lab.pod("urgent")["spec"]["nodeName"] == first


def test_an_elastic_training_that_shrinks_loses_its_last_workers() -> None:
    lab = Lab(crds=[load_crd("pytorchjob")])
    body = pytorch_job("run forever")
    lab.create(body)
    lab.run(10)
    for count in (1, 0):
        specs = {"Worker": {"replicas": count}}
        lab.patch(PYTORCH_JOB, "t", {"spec": {"pytorchReplicaSpecs": specs}})
        lab.run(60)
        workers = [f"t-worker-{index}" for index in range(count)]
        assert sorted(map(name_of, lab.pods)) == ["t-master-0", *workers]


def test_a_training_that_is_suspended_from_the_start_was_created_too() -> None:
    lab = Lab(crds=[load_crd("pytorchjob")])
    lab.create(pytorch_job(suspend=True))
    lab.run(10)
    shown = lab.conditions(lab.get(PYTORCH_JOB, "t"))
    assert {type_: status for type_, (status, _) in shown.items()} == {
        "Created": "True",
        "Suspended": "True",
    }


BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "a", "namespace": DEFAULT},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
}


def budgeted(owner: dict[str, Any] | None = None, **spec: Any) -> Lab:
    lab = Lab(settings=Settings(every_kind=True), nodes=1)
    for name in ("p", "q", "r"):
        body = pod(name, "run forever")
        body["metadata"] |= {"labels": {"app": "a"}}
        if owner:
            body["metadata"]["ownerReferences"] = [owner]
            body["metadata"]["finalizers"] = ["example.org/hold"]
        lab.create(body)
    lab.create({**BUDGET, "spec": {**BUDGET["spec"], **spec}} if spec else BUDGET)
    lab.run(5)
    return lab


def test_an_evicted_pod_counts_as_disrupted_until_two_minutes_are_over() -> None:
    lab = budgeted()
    status = lab.get(POD_DISRUPTION_BUDGET, "a")["status"]
    assert (status["currentHealthy"], status["disruptionsAllowed"]) == (3, 2)
    since = to_rfc3339(lab.loop.now_us)
    old = to_rfc3339(lab.loop.now_us - 121 * SECOND)
    disrupted = {"p": since, "q": old, "gone": since}
    body = {"status": {"disruptedPods": disrupted}}
    lab.patch(POD_DISRUPTION_BUDGET, "a", body, subresource="status")
    lab.run(5)
    status = lab.get(POD_DISRUPTION_BUDGET, "a")["status"]
    assert status["disruptedPods"] == {"p": since}
    assert (status["currentHealthy"], status["disruptionsAllowed"]) == (2, 1)
    lab.run(113)
    assert "disruptedPods" in lab.get(POD_DISRUPTION_BUDGET, "a")["status"]
    lab.run(10)
    status = lab.get(POD_DISRUPTION_BUDGET, "a")["status"]
    assert "disruptedPods" not in status
    assert (status["currentHealthy"], status["disruptionsAllowed"]) == (3, 2)


@pytest.mark.parametrize(
    ("kind", "version", "because"),
    [
        ("Odd", "example.org/v1", 'no matches for kind "Odd" in version "example.org/v1"'),
        ("Odd", "v1", 'no matches for kind "Odd" in version "v1"'),
        ("ConfigMap", "v1", "configmaps does not implement the scale subresource"),
        ("Job", "batch/v1", "jobs.batch does not implement the scale subresource"),
        ("Deployment", "apps/v1", 'found no controllers for pod "'),
        ("ReplicaSet", "apps/v1", 'found no controllers for pod "'),
    ],
)
def test_pods_whose_owner_cannot_be_counted_fail_the_budget(
    kind: str, version: str, because: str
) -> None:
    owner = {"kind": kind, "apiVersion": version, "name": "o", "uid": "u", "controller": True}
    lab = budgeted(owner, minAvailable="50%")
    status = lab.get(POD_DISRUPTION_BUDGET, "a")["status"]
    (entry,) = status["conditions"]
    assert (entry["status"], entry["reason"]) == ("False", "SyncFailed")
    assert entry["message"].startswith(because)
    assert status["disruptionsAllowed"] == 0


def test_dependents_that_disagree_on_their_owner_are_judged_each_by_its_own_claim() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    lab.run(1)
    for name, claimed in (("right", "owner"), ("wrong", "other")):
        body = config_map(name, owner)
        body["metadata"]["ownerReferences"][0]["name"] = claimed
        lab.create(body)
    lab.run(10)
    assert names(lab) == {"owner", "right"}
    lab.delete(CONFIG_MAP, "owner")
    lab.run(10)
    assert names(lab) == set()


@pytest.mark.parametrize("claimed", [["a", "b"], ["b", "a"], ["a", "a", "b"]])
def test_owners_that_nobody_has_seen_are_looked_for_under_each_claimed_name(
    claimed: list[str],
) -> None:
    lab = Lab()
    ghost = {**config_map("x"), "metadata": {"name": "x", "uid": "no-such-uid"}}
    for number, name in enumerate(claimed):
        body = config_map(f"child-{number}")
        body["metadata"]["ownerReferences"] = [reference(ghost, name=name)]
        lab.create(body)
    lab.run(30)
    assert names(lab) == set()


def test_an_owner_that_is_seen_after_its_dependents_keeps_those_that_name_it_rightly() -> None:
    lab = Lab()
    lab.processes.kill("garbage-collector")
    owner = lab.create(config_map("z-owner"))
    for name, claimed in (("a-right", "z-owner"), ("b-wrong", "other")):
        body = config_map(name)
        body["metadata"]["ownerReferences"] = [reference(owner, name=claimed)]
        lab.create(body)
    lab.processes.start("garbage-collector")
    lab.run(30)
    assert names(lab) == {"z-owner", "a-right"}


def test_a_dependent_without_a_namespace_is_left_alone_by_an_owner_in_one() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    node = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "c", "ownerReferences": [reference(owner)]},
        "value": 1,
    }
    lab.create(node)
    lab.delete(CONFIG_MAP, "owner")
    lab.run(30)
    kinds = {entry.kind for entry in lab.writes(verb="delete", actor="garbage-collector")}
    assert kinds == set()


@pytest.mark.parametrize("finalizer", ["orphan", "foregroundDeletion"])
def test_a_dependent_is_deleted_as_its_own_finalizer_says(finalizer: str) -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    child = config_map("child", owner)
    child["metadata"]["finalizers"] = [finalizer]
    made = lab.create(child)
    lab.create(config_map("grandchild", made))
    lab.run(2)
    lab.delete(CONFIG_MAP, "owner")
    lab.run(30)
    (deletion, *_) = lab.writes(CONFIG_MAP, name="child", verb="delete")
    policy = {"orphan": "Orphan", "foregroundDeletion": "Foreground"}[finalizer]
    assert deletion.options["propagationPolicy"] == policy
    assert names(lab) == ({"grandchild"} if finalizer == "orphan" else set())


def test_a_dependent_of_a_type_that_is_not_known_is_left_alone() -> None:
    lab = Lab()
    body = config_map("child")
    owner = {"apiVersion": "example.org/v1", "kind": "Odd", "name": "t", "uid": "u"}
    body["metadata"]["ownerReferences"] = [owner]
    lab.create(body)
    lab.run(60)
    assert names(lab) == {"child"}


def test_a_pod_that_a_job_does_not_own_is_not_released_by_its_controller() -> None:
    lab = Lab()
    tracking = "batch.kubernetes.io/job-tracking"
    body = pod("stray")
    body["metadata"]["finalizers"] = [tracking]
    of_other = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "x",
        "uid": "u",
        "controller": True,
    }
    body["metadata"]["ownerReferences"] = [of_other]
    lab.create(body)
    lab.create(
        {
            **pod("free"),
            "metadata": {"name": "free", "namespace": DEFAULT, "finalizers": [tracking]},
        }
    )
    lab.run(10)
    lab.handle(Patch(POD, DEFAULT, "stray", {"metadata": {"labels": {"a": "b"}}}), ADMIN)
    lab.run(10)
    kept = {name_of(each): each["metadata"].get("finalizers") for each in lab.pods}
    assert kept.get("stray") == [tracking]


def test_a_pod_that_does_not_fit_for_another_reason_has_not_fitted_since_the_first() -> None:
    lab = Lab(nodes=[NodeSpec("n0", cpu="1")])
    lab.create(pod(**requests(cpu="2")))
    lab.run(5)
    first = condition(lab.pod(), "PodScheduled")
    lab.cluster.add_node(NodeSpec("n1", cpu="1"))
    lab.run(10)
    second = condition(lab.pod(), "PodScheduled")
    assert first is not None
    assert second is not None
    assert first["message"] != second["message"]
    assert first["lastTransitionTime"] == second["lastTransitionTime"]


def test_an_owner_that_is_known_to_be_gone_is_not_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    lab.create(config_map("first", owner))
    lab.run(2)
    reads = Intercepted(lab, "garbage-collector", Get, CONFIG_MAP, lambda _: None)
    reads.watch(monkeypatch)
    lab.delete(CONFIG_MAP, "owner")
    lab.run(10)
    lab.create(config_map("second", owner))
    lab.run(10)
    assert names(lab) == set()
    assert [each.name for each in reads.seen].count("owner") <= 1


def test_a_pod_that_did_not_fit_is_tried_again_a_second_later_at_the_earliest() -> None:
    lab = Lab(nodes=[NodeSpec("n0", cpu="1")])
    lab.create(pod(**requests(cpu="2")))
    parked_us = lab.until(lambda: condition(lab.pod(), "PodScheduled") is not None)
    lab.cluster.add_node(NodeSpec("n1", cpu="4"))
    bound_us = lab.until(lambda: bool(lab.pod()["spec"].get("nodeName")))
    assert 0.9 * SECOND <= bound_us - parked_us < 1.5 * SECOND
