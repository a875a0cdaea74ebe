"""Kubelets, whole nodes and controllers of a kind cluster, by the names that faults use.

Processes' states are remembered here: no other client stops anything in the cluster.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final

from chaos.ground import FaultRefusedError, ProcessState
from conformance.worlds.control_plane.component import (
    CONTROLLERS,
    MANAGER,
    SCHEDULER,
    Component,
)
from conformance.worlds.kind.node_containers import NodeContainers
from conformance.worlds.kind.programs import KindError

MANIFESTS: Final = "/etc/kubernetes/manifests"
AWAY: Final = "/etc/kubernetes"
"""Where the manifest of a component is put that is to stay down: the kubelet looks elsewhere."""
COMM_BYTES: Final = 15
"""As much of a program's name as the kernel remembers of its processes."""
_REVIVE: Final = "if [ -e $0 ]; then mv $0 $1; fi; pkill -CONT -x $2 || true"
"""$0: where the manifest is if it was put away; $1: where it belongs; $2: the process, which may
not have begun yet."""


class NodeComponent:
    """Implements `Component` for one process; several names may stand for the same one."""

    def __init__(self, name: str, process: NodeProcess, record: Callable[[str, Any], None]) -> None:
        """`record` is called with (name, change) on each change in its life. Docker's errors are
        raised as FaultRefusedError, and nothing has changed."""
        self.name = name
        self._process = process
        self._record = record

    @property
    def state(self) -> ProcessState:
        return self._process.state

    def start(self) -> None:
        with self._process.turn:
            if self.state == "down":
                self._do(self._process.start)
                self._now("running", "started")

    def kill(self) -> None:
        with self._process.turn:
            if self.state != "down":
                self._do(self._process.kill)
                self._now("down", "killed")

    def stop(self) -> None:
        """None of them has anything to put in order: ended is ended."""
        self.kill()

    def pause(self) -> None:
        with self._process.turn:
            if self.state == "running":
                self._do(self._process.pause)
                self._now("paused", "paused")

    def resume(self) -> None:
        with self._process.turn:
            if self.state == "paused":
                self._do(self._process.resume)
                self._now("running", "resumed")

    def _do(self, change: Callable[[], None]) -> None:
        try:
            change()
        except KindError as error:
            raise FaultRefusedError(str(error)) from error

    def _now(self, state: ProcessState, change: str) -> None:
        self._process.state = state
        self._record(self.name, change)


class NodeProcess(ABC):
    """Something in a node's container that can be stopped, paused, and brought back."""

    def __init__(self, nodes: NodeContainers, node: str) -> None:
        self.state: ProcessState = "running"
        self.turn = threading.RLock()
        self._nodes = nodes
        self._node = node

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def kill(self) -> None: ...

    @abstractmethod
    def pause(self) -> None: ...

    @abstractmethod
    def resume(self) -> None: ...


class Kubelet(NodeProcess):
    """A node's kubelet, which is a unit of the systemd in the node's container."""

    def start(self) -> None:
        self._systemctl("start")

    def kill(self) -> None:
        self._systemctl("kill", "--signal=KILL")
        # systemd would start a unit again that was not stopped as such.
        self._systemctl("stop")

    def pause(self) -> None:
        self._systemctl("kill", "--signal=STOP")

    def resume(self) -> None:
        self._systemctl("kill", "--signal=CONT")

    def _systemctl(self, verb: str, *options: str) -> None:
        self._nodes.execute(self._node, "systemctl", verb, *options, "kubelet")


class WholeNode(NodeProcess):
    """A node with all that runs on it, which can hang as a machine can."""

    def start(self) -> None:
        self.resume()

    def kill(self) -> None:
        raise FaultRefusedError(f"node {self._node} cannot be killed and come back; pause it")

    def pause(self) -> None:
        self._nodes.pause(self._node)

    def resume(self) -> None:
        self._nodes.unpause(self._node)


class StaticPod(NodeProcess):
    """A component of the control plane, which its node's kubelet runs from a manifest."""

    def __init__(self, nodes: NodeContainers, component: str) -> None:
        super().__init__(nodes, nodes.control_plane)
        self._component = component

    def start(self) -> None:
        self._move(AWAY, MANIFESTS)

    def revive(self) -> None:
        """Resume it, whatever an earlier process did to it."""
        away, manifest = (f"{folder}/{self._component}.yaml" for folder in (AWAY, MANIFESTS))
        comm = self._component[:COMM_BYTES]
        self._nodes.execute(self._node, "sh", "-c", _REVIVE, away, manifest, comm)

    def kill(self) -> None:
        self._move(MANIFESTS, AWAY)
        self._signal("KILL")

    def pause(self) -> None:
        self._signal("STOP")

    def resume(self) -> None:
        self._signal("CONT")

    def _move(self, old: str, new: str) -> None:
        file = f"{self._component}.yaml"
        self._nodes.execute(self._node, "mv", f"{old}/{file}", f"{new}/{file}")

    def _signal(self, signal: str) -> None:
        signal_component(self._nodes, self._component, signal)


def signal_component(nodes: NodeContainers, component: str, signal: str) -> None:
    """Send a signal to a process of the control plane; killed, its kubelet starts it again."""
    comm = component[:COMM_BYTES]
    nodes.execute(nodes.control_plane, "pkill", f"-{signal}", "-x", comm)


def components(
    nodes: NodeContainers, names: Iterable[str], record: Callable[[str, Any], None]
) -> dict[str, Component]:
    """All that a run may stop which has the cluster to itself; `names` are its nodes'."""
    manager = StaticPod(nodes, MANAGER)
    processes: dict[str, NodeProcess] = {
        **dict.fromkeys(CONTROLLERS, manager),
        "scheduler": StaticPod(nodes, SCHEDULER),
    }
    for node in names:
        processes[f"kubelet/{node}"] = Kubelet(nodes, node)
        processes[f"node/{node}"] = WholeNode(nodes, node)
    return {name: NodeComponent(name, process, record) for name, process in processes.items()}


def revive(nodes: NodeContainers) -> None:
    """Let everything go on that a killed run may have stopped, on all nodes."""
    for node in nodes.names():
        nodes.revive(node)
    for component in (MANAGER, SCHEDULER):
        StaticPod(nodes, component).revive()
