"""The taint manager: deletes pods from nodes whose NoExecute taints they do not tolerate.

A pod that tolerates all of them for a time only is deleted when the shortest of those times
is over, counted from when it was first seen under them. As in the real controller, taints and
tolerations of other times that come later do not move that moment; a taint that is not
tolerated at all, or tolerations without limit, do. Before a pod is deleted it gets the
condition DisruptionTarget.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.scheduling.node_affinity import tolerates
from clusters.simulated.controllers.workloads.pods import disruption, with_condition
from clusters.simulated.store import Change
from vocabulary.clock import MILLISECOND, SECOND, Micros, to_rfc3339
from vocabulary.kinds import NODE, POD
from vocabulary.objects import Object, is_terminating, name_of, namespace_of, uid_of
from vocabulary.requests import Delete

_FOR_EVER: Final = -1


class TaintManager(Controller):
    """`taint-eviction-controller` of the real controller manager."""

    name = "taint-manager"
    queue_delay_us = (10 * MILLISECOND, 60 * MILLISECOND)

    def __init__(self, environment: Environment) -> None:
        self._evictions: dict[Hashable, tuple[str, Micros]] = {}
        """By pod: its uid, and when the time is over for which it tolerates the taints."""
        super().__init__(environment)

    def listen(self) -> None:
        self.on(NODE, self._node_changed)
        self.on(POD, self._pod_changed)

    def everything(self) -> Iterable[Hashable]:
        for node in self.informers.all_of(NODE):
            if _no_execute(node):
                yield from self._pods_on(name_of(node))

    def forget(self) -> None:
        self._evictions.clear()

    def _node_changed(self, change: Change) -> None:
        before = _no_execute(change.old) if change.old is not None else []
        if before != _no_execute(change.object):
            for key in self._pods_on(change.key.name):
                self.enqueue(key)

    def _pods_on(self, node: str) -> Iterable[Hashable]:
        for pod in self.informers.pods_on(node):
            yield namespace_of(pod), name_of(pod)

    def _pod_changed(self, change: Change) -> None:
        key = change.key.namespace, change.key.name
        if change.event == "DELETED":
            self.drop(key)
            return
        spec, old = change.object["spec"], change.old
        node = spec.get("nodeName")
        if node and (old is None or old["spec"] != spec):
            found = self.informers.get(NODE, "", node)
            if found is not None and _no_execute(found):
                self.enqueue(key)

    def drop(self, key: Hashable) -> None:
        self._evictions.pop(key, None)
        super().drop(key)

    def sync(self, key: Any) -> Work:
        pod = self.informers.get(POD, *key)
        if pod is None or is_terminating(pod):
            self.drop(key)
            return None
        node = self.informers.get(NODE, "", pod["spec"].get("nodeName", ""))
        taints = [] if node is None else _no_execute(node)
        span_us = _tolerated_us(pod["spec"], taints) if taints else _FOR_EVER
        if span_us == _FOR_EVER:
            self.drop(key)
            return None
        if span_us > 0:
            uid, due_us = self._evictions.get(key, ("", 0))
            if uid != uid_of(pod):
                due_us = self.loop.now_us + span_us
                self._evictions[key] = uid_of(pod), due_us
            if self.loop.now_us < due_us:
                return due_us
        self._evictions.pop(key, None)
        entry = disruption(
            pod,
            "DeletionByTaintManager",
            "Taint manager: deleting due to NoExecute taint",
            to_rfc3339(self.loop.now_us),
        )
        yield with_condition(pod, entry)
        namespace, name = key
        yield Delete(POD, namespace, name)
        return None


def _no_execute(node: Object) -> list[Object]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]


def _tolerated_us(spec: Object, taints: list[Object]) -> Micros:
    """How long a pod may stay under the taints: 0 not at all, _FOR_EVER without limit."""
    shortest_us = _FOR_EVER
    for taint in taints:
        tolerating = next(
            (entry for entry in spec.get("tolerations") or () if tolerates(entry, taint)), None
        )
        if tolerating is None:
            return 0
        seconds = tolerating.get("tolerationSeconds")
        if seconds is not None:
            span_us = max(seconds, 0) * SECOND
            shortest_us = span_us if shortest_us == _FOR_EVER else min(shortest_us, span_us)
    return shortest_us
