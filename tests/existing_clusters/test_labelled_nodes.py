"""A node with a run's label is deleted only if a run has made it; every other one is given back."""

from __future__ import annotations

from typing import Any, cast

import pytest

from clusters.control_plane import FakeNode
from clusters.simulated.patches.merge_patch import apply_merge_patch
from conformance.leased.nodes import NotAsWrittenError, borrowing
from conformance.left_behind.clean import RUN_LABEL, _Cleaning
from conformance.stored_objects.retrying_connection import RetryingConnection
from vocabulary.kinds import NODE
from vocabulary.objects import Object, labels_of, name_of
from vocabulary.requests import Delete, List, ObjectList, Patch, Request

RUN = "assay-a1-0"


class Cluster:
    """One node, and nothing else."""

    def __init__(self, node: Object) -> None:
        self.node: Object | None = node

    def handle(self, request: Request) -> Object | ObjectList:
        if isinstance(request, List):
            is_there = self.node is not None and RUN_LABEL in labels_of(self.node)
            found = (self.node,) if self.node and is_there and request.kind == NODE else ()
            return ObjectList(found, "9")
        assert isinstance(request, Patch | Delete) and self.node is not None
        assert request.name == name_of(self.node)
        if isinstance(request, Delete):
            gone, self.node = self.node, None
            return gone
        self.node = apply_merge_patch(self.node, request.body)
        return self.node


def fake(name: str) -> dict[str, Any]:
    node = FakeNode(name, labels={RUN_LABEL: RUN}).manifest()
    return {**node, "metadata": {**node["metadata"], "resourceVersion": "7"}}


def cleaned(cluster: Cluster) -> list[str]:
    return _Cleaning(cast(RetryingConnection, cluster), RUN_LABEL, ()).remove()


def test_a_node_that_a_run_made_is_deleted() -> None:
    cluster = Cluster(fake(f"{RUN}-n0"))
    assert cleaned(cluster) == [f"Node {RUN}-n0"]
    assert cluster.node is None


def test_a_node_that_has_lost_its_memory_is_named_and_not_deleted() -> None:
    cluster = Cluster(fake("worker-1"))
    with pytest.raises(NotAsWrittenError, match=r"^node worker-1: .* in order by hand"):
        cleaned(cluster)
    assert cluster.node is not None


def test_a_borrowed_node_is_given_back() -> None:
    node = fake("worker-1")
    del node["metadata"]["labels"][RUN_LABEL]
    cluster = Cluster(apply_merge_patch(node, borrowing(node, {RUN_LABEL: RUN})))
    assert cleaned(cluster) == ["loan of Node worker-1"]
    assert cluster.node is not None
    assert RUN_LABEL not in labels_of(cluster.node)
