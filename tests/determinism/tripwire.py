"""Finds out who changes an object that is stored: everybody shares the same snapshots."""

from __future__ import annotations

from dataclasses import dataclass, field

from clusters.simulated.store import Change, Store
from vocabulary import canonical
from vocabulary.objects import Object


@dataclass
class Tripwire:
    """Digests every object as it is committed, to be compared when the run is over."""

    committed: list[tuple[Change, str]] = field(default_factory=list)

    def watch(self, store: Store) -> None:
        """Digest what the store commits from now on, and what it holds already."""
        for change in store.changes:
            self._keep(change)
        store.watch(self._keep)

    def changed(self) -> list[str]:
        """The objects that no longer are what was committed, as `Kind namespace/name rvN`."""
        return [
            f"{change.key.kind} {change.key.namespace}/{change.key.name} rv{change.rv}"
            for change, digest in self.committed
            if _digest(change.object) != digest
        ]

    def _keep(self, change: Change) -> None:
        self.committed.append((change, _digest(change.object)))


def _digest(obj: Object) -> str:
    return canonical.digest(obj)
