"""The operators of a run that lead, by the Leases that their replicas compete for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from conformance.worlds.control_plane.recorder import Commit
from vocabulary.history import label_of
from vocabulary.objects import get_path, name_of


class Leaders:
    """One run's."""

    def __init__(self, operators: Iterable[str], record: Callable[[str, Any], None]) -> None:
        """`record` is called with (name, change) for each operator that leads, or no longer."""
        self._by_label = {label_of(name): name for name in operators}
        self._record = record
        self._by_lease: dict[str, str] = {}

    def of(self, operators: Collection[str]) -> str:
        """The one of these that leads; empty if none does."""
        return next((name for name in self._by_lease.values() if name in operators), "")

    def has_one_of(self, operators: Collection[str]) -> bool:
        """True if one of these leads."""
        return bool(self.of(operators))

    def seen(self, lease: Commit) -> None:
        """Note the Lease's holder; no operator, if its holder released or lost it."""
        identity = str(get_path(lease.object, "spec.holderIdentity", ""))
        before = self._by_lease.get(name_of(lease.object), "")
        leader = self._by_lease[name_of(lease.object)] = self._by_label.get(identity, "")
        if before == leader:
            return
        if before:
            self._record(before, "following")
        if leader:
            self._record(leader, "leading")
