"""One watch of the store for all built-in controllers, and the indexes that they read.

A real kube-controller-manager shares one informer cache per kind among its controllers;
this is that cache. Reading it is a look-up, never a scan: pods by node, and dependents by
the uid of their controller. It does not lag: what makes the built-in controllers late is
their queues and request latencies. (The garbage collector does not use it: it keeps a graph
of its own, which does lag.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, TypeVar

from clusters.simulated.store import Change, Key, Store
from vocabulary.kinds import CONTROLLER_REVISION, POD, REPLICA_SET, Kind
from vocabulary.objects import Object, controller_of

_K = TypeVar("_K")
Handler: TypeAlias = Callable[[Change], None]

POD_KEY: Final = str(POD)
_INDEXED_BY_CONTROLLER: Final = frozenset({POD_KEY, str(REPLICA_SET), str(CONTROLLER_REVISION)})
_NONE: Final[Mapping[Key, Object]] = {}


class Informers:
    """The shared view of the cluster, and who wants to hear of changes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._handlers: dict[str, list[Handler]] = {}
        self._of_owners: dict[tuple[str, str], list[Handler]] = {}
        self._for_any: list[Handler] = []
        self._pods_by_node: dict[str, dict[Key, Object]] = {}
        self._by_controller: dict[tuple[str, str], dict[Key, Object]] = {}
        self._orphan_pods: dict[str, dict[Key, Object]] = {}
        store.watch(self._on_change)

    def on(self, kind: Kind, handler: Handler, *, owner: Kind | None = None) -> None:
        """Call the handler for every change of a kind, after the indexes have it.

        With an `owner`, only for objects whose controller is of that kind, or was.
        """
        if owner is None:
            self._handlers.setdefault(kind.group_kind, []).append(handler)
        else:
            self._of_owners.setdefault((kind.group_kind, owner.kind), []).append(handler)

    def on_any(self, handler: Handler) -> None:
        """Call the handler for every change of every kind."""
        self._for_any.append(handler)

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        return self.store.get((kind.group_kind, namespace, name))

    def all_of(self, kind: Kind, namespace: str = "") -> Iterable[Object]:
        """All objects of a kind, oldest first: for starting up, not for every event."""
        return self.store.of_kind(kind.group_kind, namespace)

    def pods_on(self, node: str) -> list[Object]:
        """The pods that are bound to a node, oldest first, ended ones included."""
        return list(self._pods_by_node.get(node, _NONE).values())

    def controlled_by(self, uid: str, kind: Kind = POD) -> list[Object]:
        """The pods, replica sets or revisions whose controller has this uid, oldest first."""
        return list(self._by_controller.get((uid, kind.group_kind), _NONE).values())

    def orphan_pods(self, namespace: str) -> list[Object]:
        """The pods of a namespace that have no controller, oldest first."""
        return list(self._orphan_pods.get(namespace, _NONE).values())

    def _on_change(self, change: Change) -> None:
        kind = change.key.kind
        if kind in _INDEXED_BY_CONTROLLER:
            for owner in self._index(change):
                for handler in self._of_owners.get((kind, owner), ()):
                    handler(change)
        for handler in self._handlers.get(kind, ()):
            handler(change)
        for handler in self._for_any:
            handler(change)

    def _index(self, change: Change) -> tuple[str, ...]:
        """Keep the indexes; the kinds of the object's controller, now and before."""
        key, old = change.key, change.old
        gone = change.event == "DELETED"
        new = None if gone else change.object
        if key.kind == POD_KEY:
            before = "" if old is None else old["spec"].get("nodeName", "")
            after = "" if new is None else new["spec"].get("nodeName", "")
            if before or after:
                _move(self._pods_by_node, before, after, key, new)
        owner = controller_of(change.object)
        was = None
        if old is not None:
            was = owner if _same_owners(old, change.object) else controller_of(old)
        if key.kind == POD_KEY and (was is None or owner is None):
            _move(
                self._orphan_pods,
                key.namespace if was is None and old is not None else None,
                key.namespace if owner is None and not gone else None,
                key,
                new,
            )
        if was is None and owner is None:
            return ()
        _move(
            self._by_controller,
            None if was is None else (was["uid"], key.kind),
            None if owner is None or gone else (owner["uid"], key.kind),
            key,
            new,
        )
        if owner is None:
            assert was is not None
            return (was["kind"],)
        if was is None or was["kind"] == owner["kind"]:
            return (owner["kind"],)
        return was["kind"], owner["kind"]


def _same_owners(old: Object, new: Object) -> bool:
    """True if both have the same owner references; most updates share the same list."""
    before, after = old["metadata"].get("ownerReferences"), new["metadata"].get("ownerReferences")
    return before is after or before == after


def _move(
    index: dict[_K, dict[Key, Object]],
    before: _K | None,
    after: _K | None,
    key: Key,
    new: Object | None,
) -> None:
    """Put the object under `after` and take it from `before`, where those differ."""
    if before and before != after:
        bucket = index[before]
        del bucket[key]
        if not bucket:
            del index[before]
    if after and new is not None:
        index.setdefault(after, {})[key] = new
