"""The containers that play a kind cluster's nodes: commands in them, and their way to us."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.worlds.kind.configuration import AUDIT, AUDIT_LOG
from conformance.worlds.kind.programs import KindError, asked


@dataclass(frozen=True, slots=True)
class NodeContainers:
    """Every node is a container of the same name; KindError if Docker refuses anything."""

    docker: str
    cluster: str

    @property
    def control_plane(self) -> str:
        return f"{self.cluster}-control-plane"

    def names(self) -> list[str]:
        """The names of all nodes."""
        label = f"label=io.x-k8s.kind.cluster={self.cluster}"
        listed = asked(self.docker, "ps", "--all", "--filter", label, "--format", "{{.Names}}")
        return sorted(listed.split())

    def execute(self, node: str, *command: str) -> str:
        """The output of a command in a node's container."""
        return asked(self.docker, "exec", node, *command)

    def images(self, node: str) -> list[str]:
        """The names of the images that a node has for its pods."""
        return self.execute(node, "ctr", "--namespace=k8s.io", "images", "ls", "--quiet").split()

    def pause(self, node: str) -> None:
        """Freeze everything in a node, its kubelet and its pods alike."""
        asked(self.docker, "pause", node)

    def unpause(self, node: str) -> None:
        asked(self.docker, "unpause", node)

    def revive(self, node: str) -> None:
        """Let a node, its kubelet and its pods go on, whatever a killed run has stopped."""
        if self._inspected("{{json .State.Paused}}", node):
            self.unpause(node)
        self.execute(node, "systemctl", "start", "kubelet")
        # Kubelet, shims, and what containers run: who was not stopped takes no notice.
        self.execute(node, "kill", "-CONT", "--", "-1")

    def gateway(self) -> str:
        """The address at which nodes reach this machine."""
        networks = self._inspected("{{json .NetworkSettings.Networks}}", self.control_plane)
        found = next((n["Gateway"] for n in networks.values() if n.get("Gateway")), "")
        if not found:
            raise KindError(
                f"{self.control_plane}: its Docker network has no gateway; name the address at "
                "which it reaches this machine: --webhook-host"
            )
        return str(found)

    def audit_log(self) -> Path | None:
        """Where this machine finds the API server's audit log; None if it writes none."""
        for mount in self._inspected("{{json .Mounts}}", self.control_plane):
            if mount.get("Destination") == AUDIT:
                return Path(mount["Source"]) / AUDIT_LOG
        return None

    def _inspected(self, form: str, node: str) -> Any:
        return json.loads(asked(self.docker, "inspect", "--format", form, node))
