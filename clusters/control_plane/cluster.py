"""Up, down and status of a control plane, as in the `assay cluster` commands.

The functions return data; the commands print it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusters.control_plane import nodes
from clusters.control_plane.health import ComponentStatus
from clusters.control_plane.launch import ControlPlane
from clusters.control_plane.settings import Settings

NODE_COUNT = 4


@dataclass(frozen=True)
class ClusterStatus:
    """The output of `assay cluster status`."""

    folder: Path
    server: str
    kubeconfig: Path
    components: tuple[ComponentStatus, ...]

    @property
    def ready(self) -> bool:
        return bool(self.components) and all(component.ready for component in self.components)


def up(
    folder: Path,
    *,
    detached: bool = False,
    settings: Settings | None = None,
    crds: Iterable[Mapping[str, Any]] = (),
    node_count: int = NODE_COUNT,
) -> ControlPlane:
    """Start a control plane with `node_count` ordinary nodes, ready for pods.

    With `detached`, its processes outlive the caller, until `down`.
    """
    plane = ControlPlane(folder, settings, detached=detached).start(crds)
    try:
        wanted = nodes.spread(node_count, plane.settings.zones)
        nodes.create(plane.api(), wanted)
        nodes.wait_ready(plane.api(), [node.name for node in wanted])
    except BaseException:
        plane.stop()
        raise
    return plane


def down(folder: Path) -> bool:
    """Stop the control plane recorded in `folder`; False if there is none."""
    try:
        plane = ControlPlane.attach(folder)
    except FileNotFoundError:
        return False
    plane.stop()
    return True


def status(folder: Path) -> ClusterStatus | None:
    """Observe the control plane recorded in `folder`; None if there is none."""
    try:
        plane = ControlPlane.attach(folder)
    except FileNotFoundError:
        return None
    return ClusterStatus(
        folder=plane.layout.folder,
        server=plane.server,
        kubeconfig=plane.layout.admin_kubeconfig,
        components=tuple(plane.status()),
    )
