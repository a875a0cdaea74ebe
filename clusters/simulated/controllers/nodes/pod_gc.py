"""Pod garbage collection: what no kubelet will ever end.

- Pods of a node that no longer exists: after a time of quarantine they get the condition
  DisruptionTarget and phase Failed, and are deleted by force.
- Pods that are being deleted and were never bound: phase Failed, deleted by force.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.workloads.pods import (
    FINAL_PHASES,
    disruption,
    phase_of,
    with_condition,
)
from clusters.simulated.store import Change
from vocabulary.clock import MILLISECOND, SECOND, Micros, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD
from vocabulary.objects import Object, is_terminating, meta, name_of, namespace_of, uid_of
from vocabulary.requests import Delete, Get, Request, Update

_NODE: Final = "node"
_POD: Final = "pod"


class PodGarbageCollector(Controller):
    """`pod-garbage-collector-controller` of the real controller manager."""

    name = "pod-gc"
    queue_delay_us = (1 * MILLISECOND, 600 * MILLISECOND)

    def __init__(self, environment: Environment) -> None:
        self._born_us: Micros = environment.loop.now_us
        super().__init__(environment)

    def listen(self) -> None:
        self.on(NODE, self._node_changed)
        self.on(POD, self._pod_changed)

    def everything(self) -> Iterable[Hashable]:
        self._born_us = self.loop.now_us
        for pod in self.informers.all_of(POD):
            self._look_at(pod)
        return ()

    def _node_changed(self, change: Change) -> None:
        if change.event == "DELETED" and self.informers.pods_on(change.key.name):
            self._quarantine(change.key.name)

    def _pod_changed(self, change: Change) -> None:
        if change.event != "DELETED":
            self._look_at(change.object)

    def _look_at(self, pod: Object) -> None:
        node = pod["spec"].get("nodeName")
        if node:
            if self.informers.get(NODE, "", node) is None:
                self._quarantine(node)
        elif is_terminating(pod):
            period_us = self.settings.pod_gc_period_us
            wait_us = period_us - (self.loop.now_us - self._born_us) % period_us
            self.enqueue_after((_POD, namespace_of(pod), name_of(pod)), wait_us)

    def _quarantine(self, node: str) -> None:
        settings = self.settings
        wait_us = settings.pod_gc_quarantine_us + settings.pod_gc_period_us
        self.enqueue_after((_NODE, node), wait_us + self.draw(0, SECOND))

    def sync(self, key: Any) -> Work:
        return self._collect_node(key[1]) if key[0] == _NODE else self._collect_pod(*key[1:])

    def _collect_node(self, node: str) -> Work:
        try:
            yield Get(NODE, "", node, live=True)
        except ApiError as refused:
            if not refused.is_not_found:
                raise
        else:
            return None
        for pod in self.informers.pods_on(node):
            latest = self.informers.get(POD, namespace_of(pod), name_of(pod))
            if latest is not None and uid_of(latest) == uid_of(pod):
                now = to_rfc3339(self.loop.now_us)
                entry = disruption(latest, "DeletionByPodGC", "PodGC: node no longer exists", now)
                yield from _end(latest, entry)
        return None

    def _collect_pod(self, namespace: str, name: str) -> Work:
        pod = self.informers.get(POD, namespace, name)
        if pod is not None and is_terminating(pod) and not pod["spec"].get("nodeName"):
            yield from _end(pod, None)
        return None


def _end(pod: Object, entry: Object | None) -> Generator[Request, Any, None]:
    """Phase Failed, where it is not final yet, and deletion by force."""
    try:
        if phase_of(pod) not in FINAL_PHASES:
            ended = {"phase": "Failed", "observedGeneration": meta(pod)["generation"]}
            if entry is not None:
                yield with_condition(pod, entry, **ended)
            else:
                status = {**pod.get("status", {}), **ended}
                yield Update(POD, {**pod, "status": status}, subresource="status")
        yield Delete(POD, namespace_of(pod), name_of(pod), grace_period_seconds=0, uid=uid_of(pod))
    except ApiError as refused:
        if not refused.is_not_found:
            raise
