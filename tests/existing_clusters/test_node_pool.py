"""The wait for nodes ends with a reason; nodes with foreign pods are not leased."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest

from clusters.simulated.patches.merge_patch import apply_merge_patch
from conformance.left_behind.clean import RUN_LABEL, NotCleanError
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.session import NotLentError, OutOfTimeError
from conformance.worlds.existing import node_pool
from conformance.worlds.existing.node_pool import NodePool
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD
from vocabulary.objects import Object, labels_of, name_of
from vocabulary.requests import Get, List, ObjectList, Patch, Request


class Cluster:
    """Nodes and pods; patches of the nodes in `broken` are rejected."""

    def __init__(self, *names: str) -> None:
        self.nodes: dict[str, Object] = {
            name: {"kind": "Node", "metadata": {"name": name, "resourceVersion": "7"}}
            for name in names
        }
        self.pods: list[Object] = []
        self.broken: set[str] = set()

    def handle(self, request: Request) -> Object | ObjectList:
        if isinstance(request, List) and request.kind == POD:
            return ObjectList(tuple(self.pods), "9")
        assert isinstance(request, Get | Patch) and request.kind == NODE
        if isinstance(request, Patch):
            if request.name in self.broken:
                raise ApiError(500, "InternalError", "etcd is away")
            self.nodes[request.name] = apply_merge_patch(self.nodes[request.name], request.body)
        return self.nodes[request.name]


class Clock:
    """The rest of a session's time, as a number of looks at it."""

    def __init__(self, looks: float = math.inf) -> None:
        self.looks = looks

    def seconds_left(self) -> float:
        self.looks = max(0, self.looks - 1)
        return self.looks


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_pool, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(node_pool, "GUEST_SECONDS", 0.0)


def pool_of(cluster: Cluster, looks: float = math.inf) -> NodePool:
    connection = cast(RetryingConnection, cluster)
    return NodePool(connection, cluster.nodes, Clock(looks).seconds_left)


def pod_on(node: str, owner: str = "ReplicaSet") -> dict[str, Any]:
    metadata = {"name": "guest", "namespace": "theirs", "ownerReferences": [{"kind": owner}]}
    return {"metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": "Running"}}


def test_a_loan_bears_the_runs_label_and_tells_from_when_on() -> None:
    cluster = Cluster("a", "b")
    pool = pool_of(cluster)
    assert pool.lend(pool.take(2), "run-1", {}) == {"a": 7, "b": 7}
    assert {labels_of(node)[RUN_LABEL] for node in cluster.nodes.values()} == {"run-1"}


def test_a_loan_whose_answer_was_lost_is_not_made_twice() -> None:
    cluster = Cluster("a")
    pool = pool_of(cluster)
    pool.lend(pool.take(1), "run-1", {})
    remembered = dict(cluster.nodes["a"]["metadata"]["annotations"])
    pool.lend(["a"], "run-1", {})
    assert cluster.nodes["a"]["metadata"]["annotations"] == remembered


def test_waiting_for_nodes_ends_with_the_sessions_time() -> None:
    pool = pool_of(Cluster("a", "b"), looks=5)
    pool.take(2)
    with pytest.raises(OutOfTimeError, match="the session's time is up"):
        pool.take(1)


def test_a_loan_that_fails_is_that_runs_alone_and_the_nodes_come_back() -> None:
    cluster = Cluster("a", "b")
    cluster.broken.add("b")
    pool = pool_of(cluster)
    taken = pool.take(2)
    with pytest.raises(NotLentError, match=r"^node b cannot be lent: .*etcd is away"):
        pool.lend(taken, "run-1", {})
    cluster.broken.clear()
    pool.put_back(taken)
    assert pool.take(2) == taken


def test_nodes_that_were_not_put_in_order_are_missed_by_runs_that_need_them_alone() -> None:
    pool = pool_of(Cluster("a", "b", "c"))
    pool.lose(pool.take(1), NotCleanError("pods stay"))
    assert pool.take(2) == ("b", "c")
    with pytest.raises(NotLentError, match=r"^a cannot be used any more: pods stay"):
        pool.take(3)


def test_a_node_to_which_somebodys_pod_has_come_is_not_lent() -> None:
    cluster = Cluster("a", "b")
    cluster.pods = [pod_on("b"), pod_on("elsewhere")]
    pool = pool_of(cluster)
    with pytest.raises(NotLentError, match=r"^node b runs theirs/guest, which came after"):
        pool.take(2)
    assert pool.take(1) == ("a",)


def test_a_node_whose_guest_has_gone_is_lent_again() -> None:
    cluster = Cluster("a")
    cluster.pods = [pod_on("a")]
    pool = pool_of(cluster)
    with pytest.raises(NotLentError):
        pool.take(1)
    cluster.pods = []
    assert pool.take(1) == ("a",)


def test_a_guest_is_waited_for_as_long_as_other_runs_have_nodes_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster("a", "b", "c")
    pool = pool_of(cluster)
    (first,) = pool.take(1)
    cluster.pods = [pod_on("b")]

    def comes_back(_: float) -> bool:
        pool.put_back([first])
        return True

    monkeypatch.setattr(pool._changed, "wait", comes_back)
    assert pool.take(2) == ("c", "a")


def test_pods_of_daemon_sets_are_no_guests() -> None:
    cluster = Cluster("a")
    cluster.pods = [pod_on("a", "DaemonSet")]
    assert pool_of(cluster).take(1) == (name_of(cluster.nodes["a"]),)
