"""A borrowed node remembers by itself what it was like, and becomes that again."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.borrowed_nodes import (
    BEFORE,
    NotAsWrittenError,
    as_before,
    borrowing,
    is_borrowed,
    offering,
    status_before,
)
from fixtures.simulated.patches.merge_patch import apply_merge_patch as merge_patch

RUN = {"assay.dev/run": "assay-1-0"}
MAINTENANCE = {"key": "example.com/maintenance", "effect": "NoSchedule"}
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


def given_back(borrowed: Any) -> Any:
    return merge_patch(merge_patch(borrowed, status_before(borrowed)), as_before(borrowed))


def test_whatever_a_run_did_to_a_node_is_undone() -> None:
    borrowed = merge_patch(merge_patch(node(), borrowing(node(), RUN)), offering({"a.b/c": "4"}))
    assert is_borrowed(borrowed)
    assert borrowed["metadata"]["labels"] == {"zone": "a", "disk": "ssd", **RUN}
    borrowed["metadata"]["labels"] |= {"zone": "b", "autopilot.ibm.com/gpuhealth": "EVICT"}
    del borrowed["metadata"]["labels"]["disk"]
    borrowed["spec"] = {"unschedulable": True, "taints": [{"key": "k", "effect": "NoExecute"}]}
    borrowed["status"]["capacity"]["nvidia.com/gpu"] = "4"
    after = given_back(borrowed)
    assert not is_borrowed(after)
    assert after == {**node(), "metadata": {**node()["metadata"], "annotations": {}}}


def test_what_the_nodes_own_controllers_say_of_it_stays() -> None:
    borrowed = merge_patch(node(), borrowing(node(), RUN))
    borrowed["spec"]["taints"] = [NOT_READY]
    borrowed["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "m5"
    after = given_back(borrowed)
    assert after["spec"]["taints"] == [MAINTENANCE, NOT_READY]
    assert after["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "m5"


def test_both_patches_are_refused_if_the_node_has_changed_meanwhile() -> None:
    borrowed = merge_patch(node(), borrowing(node(), RUN))
    for patch in (borrowing(node(), RUN), as_before(borrowed)):
        assert patch["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"labels": {}}'])
def test_a_node_that_does_not_remember_is_named_and_left_alone(text: str) -> None:
    spoilt = merge_patch(node(), {"metadata": {"annotations": {BEFORE: text}}})
    with pytest.raises(NotAsWrittenError, match=r"node n0: .* put the node in order by hand"):
        as_before(spoilt)
