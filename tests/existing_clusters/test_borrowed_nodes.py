"""A leased node's annotations remember its original state, which is restored."""

from __future__ import annotations

from typing import Any, cast

import pytest

from clusters.simulated.patches.merge_patch import apply_merge_patch as merge_patch
from conformance.leased.nodes import (
    BEFORE,
    WROTE,
    NotAsWrittenError,
    as_before,
    borrowing,
    is_borrowed,
    noting,
    offering,
    status_before,
)
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.existing.session import ExistingSession
from vocabulary.kinds import NODE, POD
from vocabulary.objects import Object
from vocabulary.requests import Get, Patch, Request

RUN = {"assay.dev/run": "assay-1-0"}
MAINTENANCE = {"key": "example.com/maintenance", "effect": "NoSchedule"}
OURS = {"key": "k", "effect": "NoExecute"}
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}


def node() -> dict[str, Any]:
    return {
        "metadata": {"name": "n0", "resourceVersion": "7", "labels": {"zone": "a", "disk": "ssd"}},
        "spec": {"taints": [MAINTENANCE]},
        "status": {
            "capacity": {"cpu": "4", "nvidia.com/gpu": "8"},
            "allocatable": {"cpu": "4", "nvidia.com/gpu": "6"},
        },
    }


def lent() -> Any:
    return merge_patch(node(), borrowing(node(), RUN))


def written(borrowed: Any, **patch: Any) -> Any:
    """A write by a run."""
    return merge_patch(borrowed, noting(patch, borrowed))


def given_back(borrowed: Any) -> Any:
    return merge_patch(merge_patch(borrowed, status_before(borrowed)), as_before(borrowed))


def returned() -> Any:
    """The node as it was, with a place for annotations."""
    return {**node(), "metadata": {**node()["metadata"], "annotations": {}}}


def test_whatever_a_run_did_to_a_node_is_undone() -> None:
    borrowed = merge_patch(lent(), offering({"a.b/c": "4"}))
    assert is_borrowed(borrowed)
    assert borrowed["metadata"]["labels"] == {"zone": "a", "disk": "ssd", **RUN}
    labels = {"zone": "b", "autopilot.ibm.com/gpuhealth": "EVICT", "disk": None}
    borrowed = written(borrowed, metadata={"labels": labels})
    borrowed = written(borrowed, spec={"taints": [{**MAINTENANCE, "value": "now"}, OURS]})
    borrowed = written(borrowed, spec={"unschedulable": True})
    borrowed["status"]["capacity"]["nvidia.com/gpu"] = "4"
    after = given_back(borrowed)
    assert not is_borrowed(after)
    assert after == returned()


def test_what_a_run_took_away_comes_back() -> None:
    assert given_back(written(lent(), spec={"taints": None})) == returned()


def test_what_others_wrote_meanwhile_stays() -> None:
    borrowed = written(lent(), spec={"taints": [MAINTENANCE, OURS]})
    borrowed = merge_patch(borrowed, {"spec": {"taints": [MAINTENANCE, NOT_READY, OURS]}})
    borrowed = merge_patch(borrowed, {"spec": {"unschedulable": True}})
    borrowed = merge_patch(borrowed, {"metadata": {"labels": {"gpu.example.com/model": "h100"}}})
    after = given_back(borrowed)
    assert after["spec"] == {"taints": [MAINTENANCE, NOT_READY], "unschedulable": True}
    assert after["metadata"]["labels"] == {
        "zone": "a",
        "disk": "ssd",
        "gpu.example.com/model": "h100",
    }


def test_what_others_made_of_what_a_run_wrote_stays_too() -> None:
    borrowed = written(lent(), metadata={"labels": {"disk": "hdd"}})
    borrowed = written(borrowed, spec={"unschedulable": True})
    borrowed = written(borrowed, spec={"unschedulable": None})
    borrowed = merge_patch(borrowed, {"metadata": {"labels": {"disk": "nvme"}}})
    borrowed = merge_patch(borrowed, {"spec": {"unschedulable": True}})
    after = given_back(borrowed)
    assert after["spec"]["unschedulable"] is True
    assert after["metadata"]["labels"]["disk"] == "nvme"


def test_nothing_is_noted_on_a_node_that_is_not_borrowed() -> None:
    patch = {"spec": {"unschedulable": True}}
    assert noting(patch, node()) == patch


def test_both_patches_are_refused_if_the_node_has_changed_meanwhile() -> None:
    for patch in (borrowing(node(), RUN), as_before(lent())):
        assert patch["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize("annotation", [BEFORE, WROTE])
@pytest.mark.parametrize("text", ["", "{}", "[]", '{"labels": {}}', None])
def test_a_node_that_does_not_remember_is_named_and_left_alone(
    text: str | None, annotation: str
) -> None:
    spoilt = merge_patch(lent(), {"metadata": {"annotations": {annotation: text}}})
    with pytest.raises(NotAsWrittenError, match=r"node n0: .* put the node in order by hand"):
        as_before(spoilt)


def test_every_write_of_a_run_to_a_borrowed_node_bears_its_note() -> None:
    class Cluster:
        def handle(self, request: Request) -> Object:
            assert request == Get(NODE, "", "n0", live=True)
            return dict(lent())

    session = ExistingSession.__new__(ExistingSession)
    session.connections = {"harness": cast(RetryingConnection, Cluster())}
    cordon = {"spec": {"unschedulable": True}}
    sent = session.as_sent(Patch(NODE, "", "n0", cordon))
    assert isinstance(sent, Patch)
    assert sent.body == noting(cordon, lent()) != cordon
    for other in (Patch(POD, "a", "n0", cordon), Patch(NODE, "", "n0", {}, subresource="status")):
        assert session.as_sent(other) is other
