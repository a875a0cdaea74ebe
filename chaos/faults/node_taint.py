"""Taints: nodes that no longer take pods, or no longer keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from chaos.choice import NodeChoice, current, described
from chaos.fault import Fault, fault
from chaos.faults.editing import edit
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary.kinds import NODE
from vocabulary.objects import Object, get_path

TaintEffect: TypeAlias = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@fault("taint")
class Taint(Fault):
    """Taint a node; a taint of the same key and effect gets the new value."""

    node: Name | NodeChoice
    key: Name
    value: str = ""
    effect: TaintEffect = "NoSchedule"

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        for taint in _taints(current(ground, NODE, str(self.node))):
            if _is_same(taint, self.key, self.effect):
                return (replace(self, value=taint.get("value", "")),)
        return (Untaint(node=self.node, key=self.key, effect=self.effect),)

    def inject(self, ground: Ground) -> None:
        added = {"key": self.key, "effect": self.effect}
        if self.value:
            added["value"] = self.value

        def tainted(node: Object) -> Mapping[str, Any]:
            others = [
                taint for taint in _taints(node) if not _is_same(taint, self.key, self.effect)
            ]
            return {"spec": {"taints": [*others, added]}}

        edit(ground, NODE, str(self.node), tainted)

    def describe(self) -> str:
        value = f"={self.value}" if self.value else ""
        return f"taint {described('node', self.node)} with {self.key}{value}:{self.effect}"


@fault("untaint")
class Untaint(Fault):
    """Take a taint off a node, whatever its value; nothing happens where there is none."""

    node: Name | NodeChoice
    key: Name
    effect: TaintEffect = "NoSchedule"

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        return tuple(
            Taint(node=self.node, key=self.key, value=taint.get("value", ""), effect=self.effect)
            for taint in _taints(current(ground, NODE, str(self.node)))
            if _is_same(taint, self.key, self.effect)
        )

    def inject(self, ground: Ground) -> None:
        def untainted(node: Object) -> Mapping[str, Any] | None:
            kept = _others(node, self.key, self.effect)
            return {"spec": {"taints": kept or None}} if len(kept) < len(_taints(node)) else None

        edit(ground, NODE, str(self.node), untainted)

    def describe(self) -> str:
        return f"remove taint {self.key}:{self.effect} from {described('node', self.node)}"


def _taints(node: Object) -> tuple[Object, ...]:
    return tuple(get_path(node, "spec.taints") or ())


def _others(node: Object, key: str, effect: str) -> list[Object]:
    return [taint for taint in _taints(node) if not _is_same(taint, key, effect)]


def _is_same(taint: Object, key: str, effect: str) -> bool:
    """Kubernetes tells taints apart by key and effect, not by value."""
    return bool(taint.get("key") == key and taint.get("effect") == effect)
