"""Fake nodes, played by a zone's KWOK process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clusters.control_plane import kwok
from clusters.control_plane.api import Api
from clusters.control_plane.waiting import wait_until
from vocabulary.errors import ApiError

NODES = "/api/v1/nodes"
CAPACITY = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
READY_LIMIT_SECONDS = 120.0


@dataclass(frozen=True)
class FakeNode:
    """A node to create; `capacity` adds to (or replaces parts of) an ordinary machine's."""

    name: str
    zone: str = "a"
    labels: Mapping[str, str] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=dict)
    """For instance {"nvidia.com/gpu": "8"}."""

    def manifest(self) -> dict[str, Any]:
        """Return the Node object, with the status that a kubelet registers with."""
        capacity = {**CAPACITY, **self.capacity}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": self.name,
                "labels": {
                    "kubernetes.io/hostname": self.name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    kwok.ZONE: self.zone,
                    **self.labels,
                },
            },
            "status": {"capacity": capacity, "allocatable": capacity},
        }


def spread(count: int, zones: tuple[str, ...], prefix: str = "node") -> list[FakeNode]:
    """Return `count` ordinary nodes, assigned to the zones in turn."""
    return [FakeNode(f"{prefix}-{index}", zones[index % len(zones)]) for index in range(count)]


def create(api: Api, nodes: Iterable[FakeNode]) -> None:
    """Create nodes; they can be used after `wait_ready`. An existing node is not an error: the
    response to its creation may have been lost."""
    for node in nodes:
        try:
            api.post(NODES, node.manifest())
        except ApiError as error:
            if not error.is_already_exists:
                raise


def wait_ready(api: Api, names: Iterable[str], limit_seconds: float = READY_LIMIT_SECONDS) -> None:
    """Return when every node is Ready and has no taints, so that pods can be scheduled."""
    expected = set(names)

    def all_usable() -> bool:
        listed = api.get(NODES)["items"]
        return expected <= {node["metadata"]["name"] for node in listed if is_usable(node)}

    wait_until(
        all_usable,
        f"the nodes {', '.join(sorted(expected))} are ready and untainted",
        limit_seconds=limit_seconds,
    )


def is_usable(node: Mapping[str, Any]) -> bool:
    """True if the node is Ready, not cordoned, and has no taints."""
    conditions = node.get("status", {}).get("conditions", [])
    ready = any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )
    spec = node.get("spec", {})
    return ready and not spec.get("taints") and not spec.get("unschedulable")


def delete(api: Api, names: Iterable[str]) -> None:
    """Delete nodes; a missing node is not an error."""
    for name in names:
        try:
            api.delete(f"{NODES}/{name}")
        except ApiError as error:
            if not error.is_not_found:
                raise
