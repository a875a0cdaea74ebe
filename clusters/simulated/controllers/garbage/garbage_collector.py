"""The garbage collector: deletes what has lost its owners, with a picture that lags behind.

It is not a part of DELETE but an actor of its own. One graph is built from the events of
all kinds; events of one kind keep their order, those of different kinds do not. Workers
take items off a queue and judge each in two steps: live reads of the item and its owners,
then one conditional DELETE or patch. Anybody may act between the two.

- Owners that are all gone: the item is deleted, with the policy that its own finalizers
  ask for, else in the background.
- An owner that is being deleted in the foreground waits until every dependent that has
  `blockOwnerDeletion` is gone, as far as the graph knows them.
- An owner that is being deleted with `orphan`: its dependents lose the reference.

A resource type that was installed after this process started is unknown to it until it
looks again at what the server serves, which it does every 30 seconds.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable
from typing import Any, Final, TypeAlias

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.garbage.graph_builder import (
    FOREGROUND,
    ORPHAN,
    GraphBuilder,
    matters,
)
from clusters.simulated.controllers.garbage.ownership_graph import GraphNode, Identity
from clusters.simulated.store import Change
from vocabulary.clock import MILLISECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import EVENT, Kind
from vocabulary.objects import (
    Object,
    finalizers_of,
    is_terminating,
    meta,
    owner_references,
    uid_of,
)
from vocabulary.requests import Delete, Get, Patch, PropagationPolicy, Request

_DELETE: Final = "delete"
_RELEASE: Final = "release"
_DISCOVERY: Final = ("discovery", "")
_FINALIZER_RETRIES: Final = 5
_IGNORED: Final = frozenset({str(EVENT)})

Classes: TypeAlias = tuple[list[Object], list[Object], list[Object]]
"""Owner references: to owners that exist, that are gone, that wait for their dependents."""


class GarbageCollector(Controller):
    """Both halves of the real one: the graph's builder, and the workers."""

    name = "garbage-collector"
    queue_delay_us = (1 * MILLISECOND, 10 * MILLISECOND)
    watch_lag_us: tuple[Micros, Micros] = (1 * MILLISECOND, 20 * MILLISECOND)
    """From a change in the store until the graph has it."""

    def __init__(self, environment: Environment) -> None:
        self._builder = self._new_builder()
        self._known: frozenset[str] = frozenset()
        """Resource types that discovery has shown so far; others do not exist to this process."""
        self._undiscovered: dict[str, None] = {}
        """Items whose owner is of no type known so far."""
        self._last_delivery_us: dict[str, Micros] = {}
        self._born_us = 0
        super().__init__(environment)

    def _new_builder(self) -> GraphBuilder:
        return GraphBuilder(
            lambda uid: self.enqueue((_DELETE, uid)), lambda uid: self.enqueue((_RELEASE, uid))
        )

    def listen(self) -> None:
        self.informers.on_any(self._changed)

    def everything(self) -> Iterable[Hashable]:
        self._born_us = self.loop.now_us
        self._known = frozenset()
        self._discover()
        return ()

    def forget(self) -> None:
        self._builder = self._new_builder()
        self._undiscovered.clear()
        self._last_delivery_us.clear()

    # Hearing, late.

    def _discover(self) -> None:
        """Take in the resource types that are served now, and list those that are new."""
        before, self._known = self._known, frozenset(self.api.kinds) - _IGNORED
        for name, kind in self.api.kinds.items():
            if name in self._known and name not in before:
                for obj in self.informers.store.of_kind(name):
                    self._builder.seen(kind, obj, None)
        waiting, self._undiscovered = self._undiscovered, {}
        for uid in waiting:
            self.enqueue((_DELETE, uid))

    def _rediscover_later(self) -> None:
        """Look again at what is served, at the next turn."""
        period_us = self.settings.gc_discovery_period_us
        since_us = self.loop.now_us - self._born_us
        self.enqueue_after(_DISCOVERY, period_us - since_us % period_us)

    def _changed(self, change: Change) -> None:
        if not self.running or not matters(change):
            return
        if self.hears_later(self._changed, change):
            return
        kind = change.key.kind
        if kind not in self._known:
            if kind not in _IGNORED:
                self._rediscover_later()
            return
        due_us = self.loop.now_us + self.draw(*self.watch_lag_us)
        due_us = max(due_us, self._last_delivery_us.get(kind, 0))
        self._last_delivery_us[kind] = due_us
        self.loop.call_at(due_us, self._deliver, change, self._life)

    def _deliver(self, change: Change, life: int) -> None:
        if life != self._life or self.hears_later(self._deliver, change, life):
            return
        if change.event == "DELETED":
            self._builder.gone(uid_of(change.object))
            return
        kind = self.api.kinds.get(change.key.kind)
        if kind is not None:
            self._builder.seen(kind, change.object, change.old)

    # The workers.

    def sync(self, key: Any) -> Work:
        task, uid = key
        if key == _DISCOVERY:
            self._discover()
            return _nothing()
        node = self._builder.graph.nodes.get(uid)
        if node is None:
            return _nothing()
        return self._orphan(node) if task == _RELEASE else self._attempt_to_delete(node)

    def _attempt_to_delete(self, node: GraphNode) -> Work:
        if node.being_deleted and not node.deleting_dependents:
            # Its deletion is under way; its dependents follow when it is gone.
            return None
        identity = node.identity
        kind = self._kind(identity.api_version, identity.kind)
        if kind is None:
            self._await_discovery(identity.uid)
            return None
        latest = yield from self._read(kind, identity)
        if latest is None:
            self._builder.found_absent(identity)
            return None
        if node.deleting_dependents:
            yield from self._await_dependents(node, kind)
            return None
        references = owner_references(latest)
        if not references:
            return None
        classes = yield from self._classify(node, references)
        if classes is None:
            self._await_discovery(identity.uid)
            return None
        solid, dangling, waiting = classes
        if solid:
            if dangling or waiting:
                lost = [reference["uid"] for reference in (*dangling, *waiting)]
                yield self._without_owners(kind, identity, latest, lost)
        elif waiting and node.dependents:
            if any(
                other.deleting_dependents
                for uid in node.dependents
                if (other := self._builder.graph.nodes.get(uid)) is not None
            ):
                # A circle of owners: nothing in it may block any more.
                latest = yield _unblocked(kind, identity, latest)
            yield from self._delete(kind, identity, latest, "Foreground")
        else:
            policy: PropagationPolicy = "Background"
            if ORPHAN in finalizers_of(latest):
                policy = "Orphan"
            elif FOREGROUND in finalizers_of(latest):
                policy = "Foreground"
            yield from self._delete(kind, identity, latest, policy)
        return None

    def _await_discovery(self, uid: str) -> None:
        """Judge the item again once more resource types are known."""
        self._undiscovered[uid] = None

    def _read(self, kind: Kind, identity: Identity) -> Generator[Request, Any, Object | None]:
        """The live object of that identity; None if it is gone, or another has its name."""
        try:
            found: Object = yield Get(kind, identity.namespace, identity.name, live=True)
        except ApiError as refused:
            if refused.is_not_found:
                return None
            raise
        return found if uid_of(found) == identity.uid else None

    def _classify(
        self, node: GraphNode, references: tuple[Object, ...]
    ) -> Generator[Request, Any, Classes | None]:
        """Sort the owners by a live look at each; None if a type of owner is not known."""
        solid: list[Object] = []
        dangling: list[Object] = []
        waiting: list[Object] = []
        for reference in references:
            kind = self._kind(reference["apiVersion"], reference["kind"])
            if kind is None:
                return None
            namespace = node.identity.namespace if kind.namespaced else ""
            owner = Identity.of(reference, namespace)
            if self._builder.is_absent(owner):
                dangling.append(reference)
                continue
            if kind.namespaced and not namespace:
                # A cluster-scoped object cannot have an owner in a namespace: leave it alone.
                solid.append(reference)
                continue
            found = yield from self._read(kind, owner)
            if found is None:
                self._builder.remember_absent(owner)
                dangling.append(reference)
            elif is_terminating(found) and FOREGROUND in finalizers_of(found):
                waiting.append(reference)
            else:
                solid.append(reference)
        return solid, dangling, waiting

    def _delete(
        self, kind: Kind, identity: Identity, judged: Object, policy: PropagationPolicy
    ) -> Generator[Request, Any, None]:
        """Delete just what was judged. If only something else than its owners has changed
        since, it is deleted all the same; if its owners have, it is judged again later."""
        version = str(meta(judged)["resourceVersion"])
        careful = self.settings.gc_resource_version_precondition
        try:
            yield _delete_request(kind, identity, policy, version if careful else None)
        except ApiError as refused:
            if refused.is_not_found:
                self._builder.found_absent(identity)
                return
            if not refused.is_conflict or not careful:
                raise
            latest = yield from self._read(kind, identity)
            if latest is None:
                self._builder.found_absent(identity)
                return
            if owner_references(latest) != owner_references(judged):
                raise
            yield _delete_request(kind, identity, policy, None)

    def _await_dependents(self, node: GraphNode, kind: Kind) -> Generator[Request, Any, None]:
        """Let an owner go once nothing that the graph knows blocks it any more.

        The real one queues those whose deletion has begun as well, and then finds nothing to do:
        work that is quadratic in the number of a Job's pods.
        """
        graph = self._builder.graph
        if not graph.is_blocked(node):
            yield from self._remove_finalizer(node, kind, FOREGROUND)
            return
        for dependent in graph.undeleted_blockers(node):
            self.enqueue((_DELETE, dependent.identity.uid))

    def _orphan(self, node: GraphNode) -> Work:
        """Take the owner out of its dependents' references, then let it go."""
        kind = self._kind(node.identity.api_version, node.identity.kind)
        if kind is None:
            return None
        for uid in tuple(node.dependents):
            dependent = self._builder.graph.nodes.get(uid)
            if dependent is None:
                continue
            its_kind = self._kind(dependent.identity.api_version, dependent.identity.kind)
            if its_kind is None:
                continue
            latest = yield from self._read(its_kind, dependent.identity)
            if latest is not None:
                owner = [node.identity.uid]
                try:
                    yield self._without_owners(its_kind, dependent.identity, latest, owner)
                except ApiError as refused:
                    if not refused.is_not_found:
                        raise
        yield from self._remove_finalizer(node, kind, ORPHAN)
        return None

    def _remove_finalizer(
        self, node: GraphNode, kind: Kind, finalizer: str
    ) -> Generator[Request, Any, None]:
        identity = node.identity
        for attempt in range(_FINALIZER_RETRIES):
            latest = yield from self._read(kind, identity)
            if latest is None or finalizer not in finalizers_of(latest):
                return
            left = [entry for entry in finalizers_of(latest) if entry != finalizer]
            body = {
                "metadata": {
                    "resourceVersion": meta(latest)["resourceVersion"],
                    "finalizers": left or None,
                }
            }
            try:
                yield Patch(kind, identity.namespace, identity.name, body)
            except ApiError as refused:
                if refused.is_not_found:
                    return
                if not refused.is_conflict or attempt + 1 == _FINALIZER_RETRIES:
                    raise
            else:
                return

    @staticmethod
    def _without_owners(kind: Kind, identity: Identity, latest: Object, lost: list[str]) -> Patch:
        left = [entry for entry in owner_references(latest) if entry["uid"] not in lost]
        body = {
            "metadata": {
                "uid": identity.uid,
                "resourceVersion": meta(latest)["resourceVersion"],
                "ownerReferences": left or None,
            }
        }
        return Patch(kind, identity.namespace, identity.name, body)

    def _kind(self, api_version: str, kind: str) -> Kind | None:
        """The served resource of an owner reference; None while discovery has not shown it."""
        group = api_version.rpartition("/")[0]
        name = f"{kind}.{group}" if group else kind
        return self.api.kinds[name] if name in self._known and name in self.api.kinds else None


def _nothing() -> Work:
    """Work that is done before it begins."""
    yield from ()
    return None


def _delete_request(
    kind: Kind, identity: Identity, policy: PropagationPolicy, version: str | None
) -> Delete:
    return Delete(
        kind,
        identity.namespace,
        identity.name,
        propagation_policy=policy,
        uid=identity.uid,
        resource_version=version,
    )


def _unblocked(kind: Kind, identity: Identity, latest: Object) -> Patch:
    references = [{**entry, "blockOwnerDeletion": False} for entry in owner_references(latest)]
    body = {"metadata": {"uid": identity.uid, "ownerReferences": references}}
    return Patch(kind, identity.namespace, identity.name, body)
