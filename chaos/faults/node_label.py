"""Faults which are a field or label of a node: a cordon, not ready."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from chaos.choice import NodeChoice, current, described
from chaos.fault import Fault, fault
from chaos.faults.edit_object import EditObject
from chaos.faults.editing import edit, inverse_patch
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary.kinds import NODE
from vocabulary.objects import uid_of

NOT_READY_LABEL: Final = "assay.dev/not-ready"
"""The simulated kubelets and the KWOK stages report NotReady for a node with this label."""


@dataclass(frozen=True, slots=True)
class NodePatch(Fault):
    """A fault that is one merge patch on a node, and its inverse."""

    node: Name | NodeChoice

    @abstractmethod
    def patch(self) -> Mapping[str, Any]:
        """The merge patch, and so what its inverse puts back."""

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        name = str(self.node)
        old = current(ground, NODE, name)
        undo = inverse_patch(old, self.patch())
        return (EditObject("Node", name, undo, actor="chaos", uid=uid_of(old)),)

    def inject(self, ground: Ground) -> None:
        edit(ground, NODE, str(self.node), lambda _: self.patch())


@fault("label_node")
class LabelNode(NodePatch):
    """Set a label of a node; null removes it."""

    key: Name
    value: str | None = ""

    def patch(self) -> Mapping[str, Any]:
        return {"metadata": {"labels": {self.key: self.value}}}

    def describe(self) -> str:
        node = described("node", self.node)
        if self.value is None:
            return f"remove label {self.key} from {node}"
        return f"label {node} with {self.key}={self.value}"


@fault("cordon")
class Cordon(NodePatch):
    """Mark a node unschedulable, as `kubectl cordon` does; its pods stay."""

    def patch(self) -> Mapping[str, Any]:
        return {"spec": {"unschedulable": True}}

    def describe(self) -> str:
        return f"cordon {described('node', self.node)}"


@fault("uncordon")
class Uncordon(NodePatch):
    """Make a node schedulable again, as `kubectl uncordon` does."""

    def patch(self) -> Mapping[str, Any]:
        return {"spec": {"unschedulable": None}}

    def describe(self) -> str:
        return f"uncordon {described('node', self.node)}"


@fault("node_not_ready")
class NodeNotReady(NodePatch):
    """Have a node's kubelet report NotReady; it still runs, and still stops pods on request."""

    def patch(self) -> Mapping[str, Any]:
        return {"metadata": {"labels": {NOT_READY_LABEL: "true"}}}

    def describe(self) -> str:
        return f"make the kubelet of {described('node', self.node)} report NotReady"
