"""Tells by an Event that nothing acts on an object on which a real cluster would act.

`kubectl describe` and `kubectl get events` then give the reason that nothing happens.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.flow_control import AUTO_UPDATED
from clusters.simulated.store import Change
from vocabulary.canonical import digest
from vocabulary.clock import to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import EVENT
from vocabulary.objects import Object, name_of, namespace_of, uid_of
from vocabulary.requests import Create

REASON: Final = "NoController"
_MAX_NAME: Final = 253
_OF_CLUSTER: Final = "default"
"""The namespace of Events about objects that have none."""


class UncontrolledTeller(Controller):
    """It has no counterpart in a real cluster."""

    name = "uncontrolled-teller"

    def listen(self) -> None:
        # Only clusters that serve these kinds load them.
        from clusters.simulated.builtin.registry import uncontrolled_kinds

        self._kinds = {str(kind): (kind, missing) for kind, missing in uncontrolled_kinds().items()}
        for kind, _ in self._kinds.values():
            self.on(kind, self._changed)

    def everything(self) -> Iterable[Hashable]:
        for name, (kind, _) in self._kinds.items():
            for obj in self.informers.all_of(kind):
                # What every cluster has from the start is nobody's wish.
                if AUTO_UPDATED not in (obj["metadata"].get("annotations") or {}):
                    yield name, namespace_of(obj), name_of(obj)

    def _changed(self, change: Change) -> None:
        if change.event == "ADDED":
            self.enqueue((change.key.kind, change.key.namespace, change.key.name))

    def sync(self, key: Any) -> Work:
        kind_name, namespace, name = key
        kind, missing = self._kinds[kind_name]
        obj = self.informers.get(kind, namespace, name)
        if obj is None:
            return None
        event = _event(obj, kind.kind, missing, to_rfc3339(self.loop.now_us))
        try:
            yield Create(EVENT, event, namespace_of(event), name_of(event))
        except ApiError as error:
            # It was told before a restart, or its namespace is going.
            if error.is_retriable:
                raise
        return None


def _named(obj: Object) -> str:
    suffix = f".{digest([uid_of(obj), REASON])[:16]}"
    return f"{name_of(obj)[: _MAX_NAME - len(suffix)].rstrip('-.')}{suffix}"


def _event(obj: Object, kind: str, consequence: str, now: str) -> dict[str, Any]:
    namespace = namespace_of(obj) or _OF_CLUSTER
    return {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {
            "name": _named(obj),
            "namespace": namespace,
        },
        "involvedObject": {
            "apiVersion": obj["apiVersion"],
            "kind": kind,
            "name": name_of(obj),
            **({"namespace": namespace_of(obj)} if namespace_of(obj) else {}),
            "uid": uid_of(obj),
        },
        "type": "Warning",
        "reason": REASON,
        "message": f"no controller of the simulation acts on {kind}: {consequence}",
        "source": {"component": UncontrolledTeller.name},
        "reportingComponent": UncontrolledTeller.name,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
