"""Autopilot's marks on nodes, and the pods that they concern.

`resourceTaints` maps resource names to taints. A node is tagged by a label with a taint's
key and value (by a taint, or either, where `source` says so). A pod is concerned by the
taints of every resource that it requests a non-zero amount of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from conformance.history.tracks import Track
from vocabulary.objects import Object, containers, labels_of
from vocabulary.quantities import parse_quantity

GPU: Final = "nvidia.com/gpu"
GPU_HEALTH: Final = "autopilot.ibm.com/gpuhealth"


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


DEFAULT_TAINTS: Final[Mapping[str, tuple[Taint, ...]]] = {
    GPU: (Taint(GPU_HEALTH, "ERR", "NoSchedule"), Taint(GPU_HEALTH, "EVICT", "NoExecute"))
}


class Autopilot:
    """The Autopilot part of the operator's configuration, and the nodes of the history."""

    def __init__(self, parameters: Mapping[str, Any], nodes: Sequence[Track]) -> None:
        section = parameters.get("autopilot", {})
        enabled = section is not None
        section = section or {}
        self.injects = enabled and section.get("injectAntiAffinities", True)
        self.monitors = enabled and section.get("monitorNodes", True)
        self.source = section.get("source", "labels")
        self.weight: int = section.get("preferNoScheduleWeight", 0)
        """Of the preference for nodes without marks that discourage; 0: the default."""
        configured = section.get("resourceTaints")
        self.taints: Mapping[str, tuple[Taint, ...]] = (
            DEFAULT_TAINTS
            if configured is None
            else {
                resource: tuple(
                    Taint(entry["key"], entry["value"], entry["effect"]) for entry in entries
                )
                for resource, entries in configured.items()
            }
        )
        self.is_default = configured is None
        """True if no taints are configured: its own defaults are effective."""
        self.is_customized = self.taints != DEFAULT_TAINTS
        self.nodes = nodes

    @cached_property
    def was_used(self) -> bool:
        """True if any node ever carried any of the configured taints."""
        every = tuple(taint for taints in self.taints.values() for taint in taints)
        return any(
            self.tags(version.object or {}, every)
            for node in self.nodes
            for version in node.versions
        )

    def taints_for(self, pod_spec: Object) -> tuple[Taint, ...]:
        """The taints that concern a pod: those of the resources that it requests."""
        if not self.taints:
            return ()
        return self._taints_of(tuple(containers(pod_spec)))

    def taints_while_running(self, pod_spec: Object) -> tuple[Taint, ...]:
        """The taints that concern a pod that runs, whatever its init containers requested.

        Those have ended by then, apart from sidecars. Whether the pod still uses what only they
        requested is left open by the source.
        """
        if not self.taints:
            return ()
        return self._taints_of(
            tuple(
                container
                for container in containers(pod_spec)
                if container.get("restartPolicy") == "Always"
                or container in (pod_spec.get("containers") or ())
            )
        )

    def _taints_of(self, requesting: Sequence[Object]) -> tuple[Taint, ...]:
        return tuple(
            taint
            for resource, taints in self.taints.items()
            if any(requests_resource(container, resource) for container in requesting)
            for taint in taints
        )

    def tags(self, node: Object, taints: Sequence[Taint]) -> list[Taint]:
        """Those of the taints that a node carries, in the way the configuration names."""
        found: list[Taint] = []
        labels = labels_of(node)
        on_node = (node.get("spec") or {}).get("taints") or ()
        for taint in taints:
            by_label = self.source != "taints" and labels.get(taint.key) == taint.value
            by_taint = self.source != "labels" and any(
                entry.get("key") == taint.key and entry.get("value") == taint.value
                for entry in on_node
            )
            if by_label or by_taint:
                found.append(taint)
        return found

    def labels_at(self, node: str, taints: Sequence[Taint], n: int) -> list[Taint]:
        """Those of the taints that the node carries as labels: what an affinity can avoid."""
        labels = labels_of(self.node_at(node, n))
        return [taint for taint in taints if labels.get(taint.key) == taint.value]

    def node_at(self, name: str, n: int) -> Object:
        """The node as it is stored after position n; empty if there is none."""
        for track in self.nodes:
            if track.name == name and track.exists_at(n):
                return track.at(n)
        return {}

    def tags_at(self, node: str, taints: Sequence[Taint], n: int) -> list[Taint]:
        """Those of the taints that the node of that name carries after position n."""
        return self.tags(self.node_at(node, n), taints) if taints and node else []


def requests_resource(container: Object, resource: str) -> bool:
    """True if a container requests a non-zero amount; a limit implies a request."""
    resources = container.get("resources") or {}
    for section in ("requests", "limits"):
        amount = (resources.get(section) or {}).get(resource)
        if amount is not None and parse_quantity(amount) != 0:
            return True
    return False
