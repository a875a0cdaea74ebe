"""RuntimeClasses: a class adds its overhead to its pods, and nodes and quotas count it."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.cluster import NodeSpec, SimulatedCluster
from tests.simulated_api.cluster import Cluster, pod
from vocabulary.clock import MINUTE
from vocabulary.kinds import POD, RESOURCE_QUOTA, RUNTIME_CLASS
from vocabulary.objects import Object, condition, get_path, name_of
from vocabulary.requests import Create, List, Update

HEAVY: Object = {
    "metadata": {"name": "heavy"},
    "handler": "heavy",
    "overhead": {"podFixed": {"cpu": "500m", "memory": "64Mi"}},
    "scheduling": {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "heavy", "operator": "Exists"}],
    },
}


def asking(cpu: str, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    container = {"name": "main", "image": "x", "resources": resources}
    return {"containers": [container], "runtimeClassName": "heavy", **spec}


def refusal(cluster: Cluster, **spec: Any) -> str:
    error = cluster.refused(Create(POD, pod(**spec)))
    assert error.code == 403
    return error.message.partition("forbidden: ")[2]


@pytest.fixture
def heavy(cluster: Cluster) -> Cluster:
    cluster.create(dict(HEAVY), RUNTIME_CLASS)
    return cluster


def test_a_pod_gets_what_its_class_adds(heavy: Cluster) -> None:
    spec = heavy.create(pod(**asking("1")), POD)["spec"]
    assert spec["overhead"] == {"cpu": "500m", "memory": "64Mi"}
    assert spec["nodeSelector"] == {"disk": "fast"}
    assert spec["tolerations"][-1] == {"key": "heavy", "operator": "Exists"}


def test_a_quota_counts_overhead(heavy: Cluster) -> None:
    metadata = {"name": "q", "namespace": "default"}
    heavy.create({"metadata": metadata, "spec": {"hard": {"requests.cpu": "2"}}}, RESOURCE_QUOTA)
    heavy.create(pod("a", **asking("1")), POD)
    assert refusal(heavy, **asking("1")).endswith(
        "requested: requests.cpu=1500m, used: requests.cpu=1500m, limited: requests.cpu=2"
    )


@pytest.mark.parametrize(
    ("spec", "because"),
    [
        ({"runtimeClassName": "none"}, 'pod rejected: RuntimeClass "none" not found'),
        (
            asking("1", overhead={"cpu": "1"}),
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            asking("1", nodeSelector={"disk": "slow"}),
            "conflict: runtimeClass.scheduling.nodeSelector[disk] = fast; "
            "pod.spec.nodeSelector[disk] = slow",
        ),
    ],
)
def test_a_pod_that_contradicts_its_class_is_refused(
    heavy: Cluster, spec: dict[str, Any], because: str
) -> None:
    assert refusal(heavy, **spec) == because


def test_a_handler_is_required_and_stays(heavy: Cluster) -> None:
    error = heavy.refused(Create(RUNTIME_CLASS, {"metadata": {"name": "none"}}))
    assert "handler: Required value" in error.message
    (stored,) = heavy.user(List(RUNTIME_CLASS)).items
    error = heavy.refused(Update(RUNTIME_CLASS, {**stored, "handler": "other"}))
    assert "handler: Invalid value" in error.message and "immutable" in error.message


def test_the_scheduler_leaves_room_for_overhead() -> None:
    cluster = SimulatedCluster(1, nodes=[NodeSpec("n0", cpu="2")])
    light = {name: value for name, value in HEAVY.items() if name != "scheduling"}
    cluster.api.handle(Create(RUNTIME_CLASS, light), "user")
    for name in ("a", "b"):
        cluster.api.handle(Create(POD, pod(name, **asking("1"))), "user")
    cluster.loop.run_until(lambda: False, cluster.loop.now_us + MINUTE)
    pods = {name_of(each): each for each in cluster.api.handle(List(POD, "default"), "user").items}
    assert get_path(pods["a"], "spec.nodeName") == "n0"
    waiting = condition(pods["b"], "PodScheduled")
    assert waiting is not None and "Insufficient cpu" in waiting["message"]
