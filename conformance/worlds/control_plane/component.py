"""A component of the control plane in the hands of one run, which has the plane to itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from chaos.ground import ProcessState
from clusters.control_plane import kwok
from clusters.control_plane.launch import ControlPlane

MANAGER: Final = "kube-controller-manager"
SCHEDULER: Final = "kube-scheduler"
CONTROLLERS: Final = (
    "deployment-controller",
    "endpointslice-controller",
    "garbage-collector",
    "job-controller",
    "node-lifecycle",
    "pod-gc",
    "replicaset-controller",
    "statefulset-controller",
    "taint-manager",
)
"""They share one process on a real control plane: pausing one pauses all of them."""
_CONDITIONS: Final[dict[str, ProcessState]] = {"paused": "paused", "ended": "down"}


class Component(Protocol):
    """A process of the cluster's own under the name that faults use for it."""

    @property
    def state(self) -> ProcessState:
        """True if it runs, stands still, or is down."""

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def stop(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class PlaneComponent:
    """A process of a control plane that Assay started itself."""

    def __init__(
        self, name: str, component: str, plane: ControlPlane, record: Callable[[str, Any], None]
    ) -> None:
        """`record` is called with (name, change) on each change in its life."""
        self.name = name
        self._component = component
        self._plane = plane
        self._record = record

    @property
    def state(self) -> ProcessState:
        found = next(each for each in self._plane.status() if each.name == self._component)
        return _CONDITIONS.get(found.condition, "running")

    def start(self) -> None:
        with self._plane.turn:
            if self.state == "down":
                self._plane.restart(self._component)
                self._record(self.name, "started")

    def kill(self) -> None:
        with self._plane.turn:
            if self.state != "down":
                self._plane.kill(self._component)
                self._record(self.name, "killed")

    def stop(self) -> None:
        """It has nothing to put in order: ended is ended."""
        self.kill()

    def pause(self) -> None:
        with self._plane.turn:
            if self.state == "running":
                self._plane.pause(self._component)
                self._record(self.name, "paused")

    def resume(self) -> None:
        with self._plane.turn:
            if self.state == "paused":
                self._plane.resume(self._component)
                self._record(self.name, "resumed")


def components(
    plane: ControlPlane, zones: Mapping[str, str], record: Callable[[str, Any], None]
) -> dict[str, Component]:
    """All of them, by the names of faults; `zones` says which zone a node is in."""
    processes = {
        **dict.fromkeys(CONTROLLERS, MANAGER),
        "scheduler": SCHEDULER,
        **{f"kubelet/{node}": kwok.component(zone) for node, zone in zones.items()},
    }
    return {
        name: PlaneComponent(name, component, plane, record)
        for name, component in processes.items()
    }
