"""Lost nodes, and nodes that report NotReady."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clusters.behaviour import NOT_READY_LABEL
from clusters.control_plane import ControlPlane, FakeNode, kwok, nodes, wait_until

from .namespace import LIMIT_SECONDS, Namespace, is_ready, phase_of

pytestmark = pytest.mark.control_plane

EVICTED_AT_ONCE = [
    {
        "key": f"node.kubernetes.io/{why}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 0,
    }
    for why in ("not-ready", "unreachable")
]


def until_node(
    plane: ControlPlane, name: str, holds: Callable[[dict[str, Any]], bool], what: str
) -> None:
    wait_until(
        lambda: holds(plane.api().get(f"{nodes.NODES}/{name}")),
        f"node {name} {what}",
        limit_seconds=LIMIT_SECONDS,
    )


def ready_status(node: dict[str, Any]) -> str:
    return next(
        str(condition["status"])
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    )


def test_a_paused_zone_is_a_lost_node_whose_pods_are_stuck_until_it_is_back(
    plane: ControlPlane, namespace: Namespace
) -> None:
    namespace.pod("there", node="b0", tolerations=EVICTED_AT_ONCE)
    namespace.pod("patient", node="b1")
    for name in ("there", "patient"):
        namespace.until_phase(name, "Running")
    plane.pause(kwok.component("b"))
    try:
        until_node(plane, "b0", lambda node: ready_status(node) == "Unknown", "is Unknown")
        pod = namespace.until(
            "there", lambda pod: "deletionTimestamp" in pod["metadata"], "is being evicted"
        )
        assert phase_of(pod) == "Running"
        reasons = [condition.get("reason") for condition in pod["status"]["conditions"]]
        assert "DeletionByTaintManager" in reasons
        namespace.until("patient", lambda pod: not is_ready(pod), "is marked as not ready")
    finally:
        plane.resume(kwok.component("b"))
    namespace.until_gone("there")
    namespace.until("patient", is_ready, "is ready again")
    nodes.wait_ready(plane.api(), ["b0", "b1"])


def test_what_a_paused_kubelet_planned_for_a_pod_never_hits_its_namesake(
    plane: ControlPlane, namespace: Namespace
) -> None:
    namespace.pod("twin", {"assay.dev/exit": "1", "assay.dev/run-for": "300ms"}, nodeName="c1")
    namespace.until_phase("twin", "Running")
    plane.pause(kwok.component("c"))
    try:
        namespace.chaos.delete(f"{namespace.path}/pods/twin", {"gracePeriodSeconds": 0})
        namespace.pod("twin", {"assay.dev/hold": "pending"}, nodeName="c1")
        # Another zone's pod is the clock: the first twin's time is up when it has failed.
        clock = {"assay.dev/exit": "1", "assay.dev/run-for": "400ms"}
        namespace.pod("clock", clock, nodeName="a1")
        namespace.until_phase("clock", "Failed")
    finally:
        plane.resume(kwok.component("c"))
    namespace.pod("later", nodeName="c1")
    namespace.until_phase("later", "Running")
    assert phase_of(namespace.get("twin")) == "Pending"


def test_a_node_labelled_not_ready_is_tainted_and_heals(plane: ControlPlane) -> None:
    path = f"{nodes.NODES}/c0"
    plane.api().patch(path, {"metadata": {"labels": {NOT_READY_LABEL: "true"}}})
    until_node(plane, "c0", lambda node: ready_status(node) == "False", "is not ready")
    until_node(
        plane,
        "c0",
        lambda node: (
            {"NoSchedule", "NoExecute"}
            <= {
                taint["effect"]
                for taint in node["spec"].get("taints", [])
                if taint["key"] == "node.kubernetes.io/not-ready"
            }
        ),
        "is tainted",
    )
    plane.api().patch(path, {"metadata": {"labels": {NOT_READY_LABEL: None}}})
    nodes.wait_ready(plane.api(), ["c0"])


def test_a_node_can_be_added_and_deleted(plane: ControlPlane, namespace: Namespace) -> None:
    nodes.create(plane.api(), [FakeNode("late", "c", capacity={"example.org/fpga": "1"})])
    nodes.wait_ready(plane.api(), ["late"])
    namespace.pod("guest", node="late")
    namespace.until_phase("guest", "Running")
    namespace.api.delete(f"{namespace.path}/pods/guest")
    namespace.until_gone("guest")
    nodes.delete(plane.api(), ["late", "late"])
    assert not plane.api().exists(f"{nodes.NODES}/late")
