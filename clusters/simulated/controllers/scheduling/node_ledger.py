"""The scheduler's ledger of nodes: capacity and requested resources.

Kept up to date change by change, so that placing a pod costs one look at each node and not
one at each pod.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from clusters.simulated.controllers.scheduling.resources import Amounts, amounts, pod_requests
from clusters.simulated.store import Change, Key
from vocabulary.objects import Object, get_path

_ENDED: Final = ("Succeeded", "Failed")


@dataclass(slots=True)
class NodeAccount:
    """One node: its object, what may be allocated, what pods have taken."""

    node: Object | None = None
    """None while pods are bound to a node that does not exist."""
    allocatable: Amounts = field(default_factory=dict)
    taken: Amounts = field(default_factory=dict)
    pods: dict[Key, Amounts] = field(default_factory=dict)

    order: tuple[float, float] = (0.0, 0.0)
    """Its load, and a draw that decides among equals."""

    def lacks(self, requests: Amounts) -> list[str]:
        """The reasons why a pod with these requests does not fit; empty if it does."""
        reasons = []
        if len(self.pods) + 1 > self.allocatable.get("pods", 0):
            reasons.append("Too many pods")
        for name, wanted in requests.items():
            if wanted and wanted > self.allocatable.get(name, 0) - self.taken.get(name, 0):
                reasons.append(f"Insufficient {name}")
        return reasons

    def could_hold(self, requests: Amounts) -> bool:
        """True if the pod would fit if the node were empty."""
        return all(
            wanted <= self.allocatable.get(name, 0) for name, wanted in requests.items() if wanted
        )

    def load(self) -> float:
        """The shares of CPU, memory and places that are taken, added up."""
        share = len(self.pods) / max(self.allocatable.get("pods", 0), 1)
        for name in ("cpu", "memory"):
            have = self.allocatable.get(name)
            if have:
                share += self.taken.get(name, 0) / have
        return share

    def take(self, key: Key, requests: Amounts) -> None:
        """A pod was bound."""
        self.pods[key] = requests
        for name, value in requests.items():
            self.taken[name] = self.taken.get(name, 0) + value

    def give_back(self, key: Key) -> None:
        """A pod has ended or gone: what it took is free again."""
        for name, value in self.pods.pop(key).items():
            self.taken[name] -= value


class NodeLedger:
    """The accounts of all nodes, by node name; `least_loaded` walks them in that order."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self.accounts: dict[str, NodeAccount] = {}
        self._draw = draw
        self._where: dict[Key, str] = {}
        self._by_load: list[tuple[float, float, str]] = []

    def least_loaded(self) -> Iterator[tuple[str, NodeAccount]]:
        """Every existing node, the least loaded first; equals in an order drawn by lot."""
        for _, _, name in self._by_load:
            yield name, self.accounts[name]

    def node_changed(self, change: Change) -> None:
        """A node came, changed or went."""
        name = change.key.name
        account = self.accounts.setdefault(name, NodeAccount())
        if change.event == "DELETED":
            self._unrank(name, account)
            account.node = None
            account.allocatable = {}
            return
        before = account.node
        allocatable = get_path(change.object, "status.allocatable") or {}
        if before is not None and allocatable == get_path(before, "status.allocatable"):
            account.node = change.object
            return
        if before is not None:
            self._unrank(name, account)
        account.node = change.object
        account.allocatable = amounts(allocatable)
        self._rank(name, account)

    def pod_changed(self, change: Change) -> bool:
        """A pod was bound, ended or went; whether that has freed something."""
        key, pod = change.key, change.object
        held_by = self._where.get(key)
        if change.event == "DELETED" or get_path(pod, "status.phase") in _ENDED:
            if held_by is None:
                return False
            del self._where[key]
            account = self.accounts[held_by]
            self._unrank(held_by, account)
            account.give_back(key)
            self._rank(held_by, account)
            return True
        node = pod["spec"].get("nodeName")
        if node and held_by is None:
            self._where[key] = node
            account = self.accounts.setdefault(node, NodeAccount())
            self._unrank(node, account)
            account.take(key, pod_requests(pod["spec"]))
            self._rank(node, account)
        return False

    def _rank(self, name: str, account: NodeAccount) -> None:
        if account.node is not None:
            account.order = account.load(), self._draw()
            insort(self._by_load, (*account.order, name))

    def _unrank(self, name: str, account: NodeAccount) -> None:
        if account.node is not None:
            position = bisect_left(self._by_load, (*account.order, name))
            del self._by_load[position]
