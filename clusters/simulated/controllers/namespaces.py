"""The namespace controller: empties a namespace that is being deleted, then lets it go.

Pods go first; everything else only when no pod is left. What stays, because it needs time
to stop or has a finalizer, is waited for and asked for again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.controllers.namespace_conditions import emptying
from clusters.simulated.store import Change
from vocabulary.clock import SECOND, Micros, to_rfc3339
from vocabulary.kinds import NAMESPACE, POD, Kind
from vocabulary.objects import is_terminating, meta, name_of
from vocabulary.requests import DeleteCollection, Update

_SETTLE_US: Final = 5 * SECOND
"""Creations that were let in before the namespace was terminating get this long to arrive."""
_FINALIZER_ESTIMATE_SECONDS: Final = 15
_OWN_FINALIZER: Final = "kubernetes"


class NamespaceController(Controller):
    """`namespace-controller` of the real controller manager."""

    name = "namespace-controller"

    def listen(self) -> None:
        self.on(NAMESPACE, self._namespace_changed)

    def everything(self) -> Iterable[Hashable]:
        for namespace in self.informers.all_of(NAMESPACE):
            if is_terminating(namespace):
                self.enqueue_after(name_of(namespace), _SETTLE_US)
        return ()

    def _namespace_changed(self, change: Change) -> None:
        if change.event != "DELETED" and is_terminating(change.object):
            self.enqueue_after(change.key.name, _SETTLE_US)

    def sync(self, key: Any) -> Work:
        namespace = self.informers.get(NAMESPACE, "", key)
        if namespace is None or not is_terminating(namespace):
            return None
        kinds = sorted(
            (kind for kind in self.api.kinds.values() if kind.namespaced and kind != POD), key=str
        )
        left_seconds = 0
        for group in ([POD], kinds):
            for kind in group:
                if self._holds_any(kind, key):
                    yield DeleteCollection(kind, key, propagation_policy="Background")
                    left_seconds = max(left_seconds, self._estimate_seconds(kind, key))
            if left_seconds:
                break
        namespace = self.informers.get(NAMESPACE, "", key)
        if namespace is not None:
            left = {kind: list(self.informers.all_of(kind, key)) for kind in (POD, *kinds)}
            status = emptying(namespace, left, to_rfc3339(self.loop.now_us))
            if status != namespace.get("status"):
                namespace = yield Update(
                    NAMESPACE, {**namespace, "status": status}, subresource="status"
                )
        if left_seconds:
            return self._later_us(left_seconds)
        if namespace is not None:
            # Those of others are theirs to take off.
            finalizers = namespace["spec"].get("finalizers") or ()
            others = [each for each in finalizers if each != _OWN_FINALIZER]
            emptied = {**namespace, "spec": {**namespace["spec"], "finalizers": others}}
            yield Update(NAMESPACE, emptied, subresource="finalize")
        return None

    def _holds_any(self, kind: Kind, namespace: str) -> bool:
        return next(iter(self.informers.all_of(kind, namespace)), None) is not None

    def _estimate_seconds(self, kind: Kind, namespace: str) -> int:
        """How long what is left of a kind may still take; 0 if nothing is left."""
        left = list(self.informers.all_of(kind, namespace))
        if not left:
            return 0
        waits = [
            _FINALIZER_ESTIMATE_SECONDS
            if meta(obj).get("finalizers")
            else int(meta(obj).get("deletionGracePeriodSeconds") or 0)
            for obj in left
        ]
        return max(*waits, 1) if waits else 1

    def _later_us(self, estimate_seconds: int) -> Micros:
        return self.loop.now_us + (estimate_seconds // 2 + 1) * SECOND
