"""The equivalent of etcd: immutable snapshots by key, with one revision for all of them.

The store has no rules. It gives every committed change the next resourceVersion and notifies
its watchers, in order, immediately; how late a watcher acts on it is the watcher's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from clusters.simulated.mistakes import SimulationError, mistake
from vocabulary.objects import Object


class Key(NamedTuple):
    """Where an object lives. `kind` is `Kind.__str__`; cluster-scoped objects have namespace ""."""

    kind: str
    namespace: str
    name: str


Place: TypeAlias = tuple[str, str, str]
"""A `Key` as a plain tuple, which equals it: enough to look something up, and made faster."""


class Change(msgspec.Struct, frozen=True):
    """One committed change, as watchers hear of it."""

    event: Literal["ADDED", "MODIFIED", "DELETED"]
    key: Key
    object: Object
    """The stored object; for DELETED the last state, with the deletion's resourceVersion."""
    old: Object | None
    """The object stored before; None for ADDED."""
    rv: int


Watcher = Callable[[Change], None]


class Store:
    """All objects of one cluster."""

    def __init__(self) -> None:
        self.revision = 0
        self.compacted = 0
        """Older revisions are forgotten: to watch or to page on from them is to start anew."""
        self._objects: dict[Place, dict[str, Any]] = {}
        self._by_kind: dict[str, dict[Key, dict[str, Any]]] = {}
        self._by_label: dict[tuple[str, str, str], dict[Key, None]] = {}
        self._watchers: list[tuple[frozenset[str] | None, Watcher]] = []
        self._watching: dict[str, tuple[Watcher, ...]] = {}
        """Per kind those of the watchers that hear of it, in order; found when first needed."""
        self.changes: list[Change] = []
        """Every change since the beginning: that of revision n is at n - 1."""

    def get(self, key: Key | Place) -> dict[str, Any] | None:
        return self._objects.get(key)

    def of_kind(self, kind: str, namespace: str = "") -> Iterator[dict[str, Any]]:
        """The objects of a kind in order of creation; of one namespace, or all for ""."""
        for key, obj in self._by_kind.get(kind, {}).items():
            if not namespace or key.namespace == namespace:
                yield obj

    def labelled(self, kind: str, label: str, value: str) -> Iterator[dict[str, Any]]:
        """The objects of a kind that carry a label; in no time, however many others there are."""
        for key in self._by_label.get((kind, label, value), ()):
            yield self._objects[key]

    def count_labelled(self, kind: str, label: str, value: str) -> int:
        """How many objects of a kind carry a label."""
        return len(self._by_label.get((kind, label, value), ()))

    def of_kind_at(self, kind: str, namespace: str, revision: int) -> dict[Key, Object]:
        """The objects of a kind as they were at a revision: now, with what came since undone."""
        then: dict[Key, Object] = dict(self._by_kind.get(kind, {}))
        for change in reversed(self.changes[revision:]):
            if change.key.kind == kind:
                if change.old is None:
                    del then[change.key]
                else:
                    then[change.key] = change.old
        if namespace:
            then = {key: obj for key, obj in then.items() if key.namespace == namespace}
        return then

    def compact(self, revision: int | None = None) -> None:
        """Forget what lies before a revision; before the present one if none is given."""
        self.compacted = max(self.compacted, self.revision if revision is None else revision)

    def found(self, key: Key, obj: dict[str, Any]) -> None:
        """Store an object that existed before the first change; watchers do not see it appear."""
        obj["metadata"]["resourceVersion"] = "1"
        self._objects[key] = obj
        self._by_kind.setdefault(key.kind, {})[key] = obj
        self._index(key, None, obj)

    def put(self, key: Key, obj: dict[str, Any]) -> Change:
        """Commit a new or changed object; its metadata.resourceVersion is set here."""
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        old = self._objects.get(key)
        self._objects[key] = obj
        self._by_kind.setdefault(key.kind, {})[key] = obj
        self._index(key, old, obj)
        return self._tell(
            Change("ADDED" if old is None else "MODIFIED", key, obj, old, self.revision)
        )

    def remove(self, key: Key) -> Change:
        """Commit a deletion."""
        self.revision += 1
        old = self._objects.pop(key)
        del self._by_kind[key.kind][key]
        self._index(key, old, None)
        last = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.revision)}}
        return self._tell(Change("DELETED", key, last, old, self.revision))

    def watch(self, watcher: Watcher, kinds: frozenset[str] | None = None) -> Callable[[], None]:
        """Call the watcher for every change of these kinds (None: all); returns how to stop."""
        entry = (kinds, watcher)
        self._watchers.append(entry)
        self._watching.clear()

        def stop() -> None:
            if entry in self._watchers:
                self._watchers.remove(entry)
                self._watching.clear()

        return stop

    def _index(self, key: Key, old: Object | None, new: Object | None) -> None:
        """Keep track of labels; most changes leave them as they are, which costs nothing."""
        before = old["metadata"].get("labels") if old is not None else None
        after = new["metadata"].get("labels") if new is not None else None
        if before == after:
            return
        for label, value in (before or {}).items():
            del self._by_label[key.kind, label, value][key]
        for label, value in (after or {}).items():
            self._by_label.setdefault((key.kind, label, value), {})[key] = None

    def _tell(self, change: Change) -> Change:
        self.changes.append(change)
        kind = change.key.kind
        watching = self._watching.get(kind)
        if watching is None:
            watching = self._watching[kind] = tuple(
                watcher for kinds, watcher in self._watchers if kinds is None or kind in kinds
            )
        for watcher in watching:
            try:
                watcher(change)
            except (SimulationError, MemoryError):
                raise
            except Exception as error:
                raise SimulationError(mistake(watcher, (change,), error)) from error
        return change
