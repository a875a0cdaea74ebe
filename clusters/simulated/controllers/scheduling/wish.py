"""One pod's wish for a place: the nodes where it fits, and the reasons of those where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from clusters.simulated.controllers.scheduling.node_affinity import (
    nodes_by_name,
    selects_node,
    untolerated,
)
from clusters.simulated.controllers.scheduling.node_ledger import NodeAccount
from clusters.simulated.controllers.scheduling.pod_affinity import APART_FROM_WANTED, Rules
from clusters.simulated.controllers.scheduling.resources import Amounts
from vocabulary.objects import Object, name_of

_CORDON_TAINT: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_CORDONED: Final = "node(s) were unschedulable"
_NOT_SELECTED: Final = "node(s) didn't match Pod's node affinity/selector"
_NOT_NAMED: Final = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
_TAINTED: Final = "node(s) had untolerated taint(s)"


@dataclass(frozen=True, slots=True)
class Wish:
    """The parts of a pod that decide where it may go."""

    spec: Object
    requests: Amounts
    rules: Rules | None
    """The rules by affinity to other pods; None if there are none."""

    def refusal(self, node: Object) -> str:
        """The reason why a node refuses the pod for itself; empty if it does not."""
        node_spec = node.get("spec") or {}
        if node_spec.get("unschedulable") and untolerated(
            self.spec, (_CORDON_TAINT,), ("NoSchedule",)
        ):
            return _CORDONED
        taints = node_spec.get("taints")
        if taints and untolerated(self.spec, taints, ("NoSchedule", "NoExecute")) is not None:
            return _TAINTED
        if not selects_node(self.spec, node):
            return _NOT_SELECTED
        return ""

    def refusal_by_pods(self, node: Object) -> str:
        """The reason why other pods keep the pod from a node; empty if they do not."""
        return "" if self.rules is None else self.rules.refusal(node)

    def fits(self, account: NodeAccount) -> bool:
        """True if an existing node can take the pod as things stand."""
        assert account.node is not None
        return (
            not account.lacks(self.requests)
            and not self.refusal(account.node)
            and (self.rules is None or not self.rules.refusal(account.node))
        )

    def why_nowhere(self, accounts: list[NodeAccount], *, preempted: bool) -> str:
        """`0/4 nodes are available: …`: reasons counted and sorted as the real scheduler does.

        If it preempts others, it says nothing of why that would not help.
        """
        if not accounts:
            return "no nodes available to schedule pods"
        named = nodes_by_name(self.spec)
        reasons: dict[str, int] = {}
        beyond_help = 0
        for account in accounts:
            assert account.node is not None
            if named is not None and name_of(account.node) not in named:
                refusal = _NOT_NAMED
            else:
                refusal = self.refusal(account.node)
            lacks = [] if refusal else account.lacks(self.requests)
            by_pods = "" if refusal or lacks else self.refusal_by_pods(account.node)
            for reason in lacks or [refusal or by_pods]:
                reasons[reason] = reasons.get(reason, 0) + 1
            beyond_help += (
                bool(refusal)
                or by_pods == APART_FROM_WANTED
                or not account.could_hold(self.requests)
            )
        counted = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        available = f"0/{len(accounts)} nodes are available:"
        if preempted:
            return f"{available} {counted}."
        full = len(accounts) - beyond_help
        unhelped = sorted(
            text
            for count, text in (
                (full, f"{full} No preemption victims found for incoming pod"),
                (beyond_help, f"{beyond_help} Preemption is not helpful for scheduling"),
            )
            if count
        )
        return (
            f"{available} {counted}. no new claims to deallocate, "
            f"preemption: {available} {', '.join(unhelped)}."
        )
