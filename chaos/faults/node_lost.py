"""Nodes that are lost: silent while their pods may still run, or deleted outright."""

from __future__ import annotations

from typing import Any

from chaos.choice import NodeChoice, current, described
from chaos.fault import Fault, fault
from chaos.faults.create_object import CreateObject
from chaos.faults.process import Resume
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary.kinds import NODE
from vocabulary.objects import Object, meta
from vocabulary.requests import Delete

_SET_BY_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


@fault("node_lost")
class NodeLost(Fault):
    """Cut a node off: its kubelet falls silent, renews no lease and confirms no pod's end."""

    node: Name | NodeChoice

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        was_running = ground.processes.state(self._kubelet) == "running"
        return (Resume(self._kubelet),) if was_running else ()

    def inject(self, ground: Ground) -> None:
        ground.processes.pause(self._kubelet)

    def describe(self) -> str:
        return f"cut off {described('node', self.node)}: its kubelet falls silent"

    @property
    def _kubelet(self) -> str:
        return f"kubelet/{self.node}"


@fault("node_deleted")
class NodeDeleted(Fault):
    """Delete a Node object, as a cloud does with a machine that is gone."""

    node: Name | NodeChoice

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        return (CreateObject(_as_new(current(ground, NODE, str(self.node))), actor="chaos"),)

    def inject(self, ground: Ground) -> None:
        ground.call(Delete(NODE, "", str(self.node)))

    def describe(self) -> str:
        return f"delete {described('node', self.node)}"


def _as_new(obj: Object) -> dict[str, Any]:
    """The object as it would have to be created: without what only a server sets."""
    metadata = {key: value for key, value in meta(obj).items() if key not in _SET_BY_THE_SERVER}
    return {**obj, "metadata": metadata}
