"""The node life-cycle controller: taints nodes that are not ready, cordoned or silent.

A real one counts heartbeats. Here there are none: this controller is notified when a kubelet
falls silent, and acts once that has lasted for the grace period. Then the node's conditions become
Unknown, its pods are marked not ready, and taints follow: NoSchedule immediately, NoExecute at the
allowed rate of evictions. If no node at all is ready, nothing is evicted: then a network failure is
more likely than the failure of every node.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.kubelets.node_status import ready_condition
from clusters.simulated.controllers.workloads.pods import (
    FINAL_PHASES,
    is_ready,
    phase_of,
    with_condition,
)
from clusters.simulated.store import Change
from vocabulary.clock import MILLISECOND, SECOND, Micros, to_rfc3339
from vocabulary.kinds import NODE, POD
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Patch, Request, Update

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_CONDITION_TAINTS: Final[tuple[str, ...]] = (NOT_READY, UNREACHABLE)
_ZONE_LABELS: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
_HEARTBEAT_US: Final = 10 * SECOND
"""A kubelet renews its lease that often, so the last sign of life is up to that old."""
_UNHEALTHY_SHARE: Final = 0.55
_LARGE_ZONE: Final = 50
_NO_EXECUTE_DELAY_US: Final = (100 * MILLISECOND, 500 * MILLISECOND)


class NodeLifecycle(Controller):
    """`node-lifecycle-controller` of the real controller manager."""

    name = "node-lifecycle"
    queue_delay_us = (20 * MILLISECOND, 80 * MILLISECOND)

    def __init__(self, environment: Environment, is_alive: Callable[[str], bool]) -> None:
        self._is_alive = is_alive
        self._silent_until_us: dict[str, Micros] = {}
        """By node whose kubelet is silent: when its conditions are to become Unknown."""
        self._eviction_us: dict[str, Micros] = {}
        """By node: when it is its turn to be tainted NoExecute."""
        self._next_eviction_us: dict[tuple[str, ...], Micros] = {}
        super().__init__(environment)

    def listen(self) -> None:
        self.on(NODE, self._node_changed)

    def everything(self) -> Iterable[Hashable]:
        for node in self.informers.all_of(NODE):
            name = name_of(node)
            if not self._is_alive(name):
                self._count_silence(name)
            yield name

    def forget(self) -> None:
        self._silent_until_us.clear()
        self._eviction_us.clear()
        self._next_eviction_us.clear()

    def kubelet_changed(self, node: str) -> None:
        """A kubelet has started, stopped, paused or gone on."""
        if self._is_alive(node):
            self._silent_until_us.pop(node, None)
            if self.running:
                self.enqueue(node)
        elif self.running and node not in self._silent_until_us:
            self._count_silence(node)

    def _count_silence(self, node: str) -> None:
        settings = self.settings
        at_us = (
            self.loop.now_us
            - self.draw(0, min(_HEARTBEAT_US, settings.node_monitor_grace_us))
            + settings.node_monitor_grace_us
            + self.draw(0, settings.node_monitor_period_us)
        )
        self._silent_until_us[node] = at_us
        self.enqueue_at(node, at_us)

    def _node_changed(self, change: Change) -> None:
        old, node = change.old, change.object
        if change.event == "DELETED":
            self._eviction_us.pop(change.key.name, None)
            self._enqueue_lost()
            return
        ready = condition_status(node, "Ready")
        if old is None or condition_status(old, "Ready") != ready:
            self.enqueue(change.key.name)
            self._enqueue_lost()
        elif old.get("spec") != node.get("spec"):
            self.enqueue(change.key.name)

    def _enqueue_lost(self) -> None:
        """Look at the lost nodes: whether they may be evicted depends on how many are ready."""
        for node in self.informers.all_of(NODE):
            if condition_status(node, "Ready") != "True":
                self.enqueue(name_of(node))

    def sync(self, key: Any) -> Work:
        node = self.informers.get(NODE, "", key)
        if node is None:
            return None
        wake_at_us = self._silent_until_us.get(key)
        if wake_at_us is not None and self.loop.now_us >= wake_at_us:
            wake_at_us = None
            if condition_status(node, "Ready") != "Unknown":
                now = to_rfc3339(self.loop.now_us)
                status = ready_condition(node, "Unknown", now)
                node = yield Update(NODE, {**node, "status": status}, subresource="status")
        ready = condition_status(node, "Ready")
        wanted = {"False": NOT_READY, "Unknown": UNREACHABLE}.get(ready)
        node = yield from self._taint(node, wanted, "NoSchedule")
        if wanted is None:
            self._eviction_us.pop(key, None)
            yield from self._taint(node, None, "NoExecute")
            return wake_at_us
        yield from self._mark_pods(key)
        if not self._may_evict(node):
            self._eviction_us.pop(key, None)
            if not self._any_ready():
                yield from self._taint(node, None, "NoExecute")
            return wake_at_us
        due_us = self._turn_us(key, _zone_of(node))
        if self.loop.now_us < due_us:
            return due_us if wake_at_us is None else min(due_us, wake_at_us)
        latest = self.informers.get(NODE, "", key)
        if latest is not None:
            yield from self._taint(latest, wanted, "NoExecute")
        return wake_at_us

    def _turn_us(self, node: str, zone: tuple[str, ...]) -> Micros:
        """When a node may be evicted: within its zone one after the other."""
        if node not in self._eviction_us:
            soon_us = self.loop.now_us + self.draw(*_NO_EXECUTE_DELAY_US)
            due_us = max(soon_us, self._next_eviction_us.get(zone, 0))
            self._next_eviction_us[zone] = due_us + self.settings.node_eviction_interval_us
            self._eviction_us[node] = due_us
        return self._eviction_us[node]

    def _taint(
        self, node: Object, wanted: str | None, effect: str
    ) -> Generator[Request, Any, Object]:
        """Bring the node's own taints of one effect to what they should be; the node then.

        `wanted` is the one key of not-ready and unreachable that is due; cordoning adds its
        own key, with effect NoSchedule.
        """
        spec = node.get("spec") or {}
        due = [] if wanted is None else [wanted]
        managed = _CONDITION_TAINTS
        if effect == "NoSchedule":
            managed = (*_CONDITION_TAINTS, UNSCHEDULABLE)
            if spec.get("unschedulable"):
                due.append(UNSCHEDULABLE)
        before = spec.get("taints") or []
        kept = [
            taint
            for taint in before
            if taint.get("effect") != effect or taint["key"] not in managed or taint["key"] in due
        ]
        present = {taint["key"] for taint in kept if taint.get("effect") == effect}
        now = to_rfc3339(self.loop.now_us)
        added = [
            {"key": key, "effect": effect, "timeAdded": now} for key in due if key not in present
        ]
        if not added and len(kept) == len(before):
            return node
        body = {
            "metadata": {"resourceVersion": meta(node)["resourceVersion"]},
            "spec": {"taints": [*kept, *added] or None},
        }
        tainted: Object = yield Patch(NODE, "", name_of(node), body)
        return tainted

    def _mark_pods(self, node: str) -> Generator[Request, Any, None]:
        """Show the pods of a node that is not ready as not ready."""
        now = to_rfc3339(self.loop.now_us)
        for pod in self.informers.pods_on(node):
            latest = self.informers.get(POD, namespace_of(pod), name_of(pod))
            if latest is None or uid_of(latest) != uid_of(pod):
                continue
            entry = condition(latest, "Ready")
            if entry is not None and is_ready(latest) and phase_of(latest) not in FINAL_PHASES:
                yield with_condition(
                    latest, {**entry, "status": "False", "lastTransitionTime": now}
                )

    def _may_evict(self, node: Object) -> bool:
        """True unless evictions are stopped in the node's zone."""
        if not self._any_ready():
            return False
        zone = [other for other in self.informers.all_of(NODE) if _zone_of(other) == _zone_of(node)]
        lost = sum(condition_status(other, "Ready") != "True" for other in zone)
        # A zone that is mostly lost is evicted slowly, and in a small cluster not at all;
        # one that is lost entirely is evicted as usual.
        partly = lost < len(zone) and lost > 2 and lost / len(zone) >= _UNHEALTHY_SHARE
        return not partly or len(zone) > _LARGE_ZONE

    def _any_ready(self) -> bool:
        return any(
            condition_status(node, "Ready") == "True" for node in self.informers.all_of(NODE)
        )


def _zone_of(node: Object) -> tuple[str, ...]:
    labels = labels_of(node)
    return tuple(labels.get(key, "") for key in _ZONE_LABELS)
