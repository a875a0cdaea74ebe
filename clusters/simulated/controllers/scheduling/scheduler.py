"""The scheduler: gives every pod a node where it fits, or says why there is none.

A pod fits where the node is not cordoned, its taints are tolerated, its labels are chosen,
what the pod asks for is left, and affinity between pods allows it. Of the nodes where it
fits the least loaded is taken; among equals a seeded draw decides. A pod with priority that
fits nowhere may push out pods of lower priority. What fits nowhere is parked until something
changes that could help.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.scheduling.awaited_pods import AwaitedPods
from clusters.simulated.controllers.scheduling.node_ledger import NodeAccount, NodeLedger
from clusters.simulated.controllers.scheduling.pod_affinity import PodAffinity
from clusters.simulated.controllers.scheduling.preemption import Victims, find_victims
from clusters.simulated.controllers.scheduling.resources import pod_requests
from clusters.simulated.controllers.scheduling.wish import Wish
from clusters.simulated.controllers.workloads.pods import disruption, with_condition
from clusters.simulated.latencies import MEASURED
from clusters.simulated.store import Change
from vocabulary.canonical import encode
from vocabulary.clock import SECOND, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD
from vocabulary.objects import (
    Object,
    condition,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Create, Delete, Update

DEFAULT_SCHEDULER: Final = "default-scheduler"
_BACKOFF_US: Final = (1 * SECOND, 10 * SECOND)
"""A parked pod waits so long before it is tried again; doubled with each attempt."""


class Scheduler(Controller):
    """The default scheduler."""

    name = "scheduler"
    queue_delay_us = MEASURED["scheduler_us"]

    def __init__(self, environment: Environment) -> None:
        self._ledger = NodeLedger(environment.loop.rng("scheduler/equals").random)
        self._affinity = PodAffinity(environment.informers)
        self._awaited = AwaitedPods(environment.informers)
        self._parked: dict[Hashable, int] = {}
        """Pods that fit nowhere, and how often they were tried."""
        self._hopeless: set[bytes] = set()
        """Wishes that no node could fulfil since anything that could help has changed."""
        super().__init__(environment)

    def listen(self) -> None:
        # The books are kept also while the process is down: they stand for its first LIST.
        self.informers.on(NODE, self._ledger.node_changed)
        self.informers.on(POD, self._account)
        self.on(NODE, self._node_changed)
        self.on(POD, self._pod_changed)

    def everything(self) -> Iterable[Hashable]:
        for pod in self.informers.all_of(POD):
            if self._is_mine(pod):
                yield namespace_of(pod), name_of(pod)

    def forget(self) -> None:
        self._parked.clear()
        self._awaited.clear()
        self._hopeless.clear()

    def _account(self, change: Change) -> None:
        self._affinity.pod_changed(change)
        if self._ledger.pod_changed(change):
            self._something_freed()
        if self._awaited:
            for key in self._awaited.woken_by(change):
                self._try_again(key)

    def _pod_changed(self, change: Change) -> None:
        key = change.key.namespace, change.key.name
        if change.event == "DELETED":
            self._unpark(key)
        elif self._is_mine(change.object):
            if change.event == "ADDED":
                self.enqueue(key)
            elif change.old is not None and (
                change.old["spec"] != change.object["spec"]
                or (
                    self._affinity.concerns(change.object)
                    and labels_of(change.old) != labels_of(change.object)
                )
            ):
                self._unpark(key)
                self.enqueue(key)

    def _node_changed(self, change: Change) -> None:
        old, new = change.old, change.object
        if change.event == "DELETED":
            return
        if (
            old is None
            or old["spec"] != new["spec"]
            or meta(old).get("labels") != meta(new).get("labels")
            or get_path(old, "status.allocatable") != get_path(new, "status.allocatable")
        ):
            self._something_freed()

    def _something_freed(self) -> None:
        """Try the parked pods again, each after its own back-off."""
        self._hopeless.clear()
        for key in self._parked:
            self._try_again(key)

    def _try_again(self, key: Hashable) -> None:
        shortest_us, longest_us = _BACKOFF_US
        attempts = self._parked[key]
        self.enqueue_after(key, min(shortest_us << min(attempts - 1, 10), longest_us))

    def _unpark(self, key: Hashable) -> None:
        self._parked.pop(key, None)
        self._awaited.unpark(key)

    @staticmethod
    def _is_mine(pod: Object) -> bool:
        spec = pod["spec"]
        return (
            not spec.get("nodeName")
            and not spec.get("schedulingGates")
            and spec["schedulerName"] == DEFAULT_SCHEDULER
            and not is_terminating(pod)
            and get_path(pod, "status.phase", "Pending") == "Pending"
        )

    def sync(self, key: Any) -> Work:
        pod = self.informers.get(POD, *key)
        if pod is None or not self._is_mine(pod):
            self._unpark(key)
            return None
        spec = pod["spec"]
        wish = Wish(spec, pod_requests(spec), self._affinity.rules_for(pod))
        text = _text_of(wish) if self._hopeless else b""
        node = None if text in self._hopeless else self._choose(wish)
        if node is not None:
            self._unpark(key)
            namespace, name = key
            yield Create(POD, _binding(pod, node), namespace, name, subresource="binding")
            return None
        self._parked[key] = self._parked.get(key, 0) + 1
        self._awaited.park(key, pod)
        victims = find_victims(self.informers, self._ledger, self._affinity, pod, wish)
        if victims is not None:
            yield from self._preempt(pod, wish, victims)
            return None
        self._hopeless.add(text or _text_of(wish))
        yield from self._say_why(pod, wish)
        return None

    def _choose(self, wish: Wish) -> str | None:
        """The least loaded node where the pod fits; None if there is none."""
        for name, account in self._ledger.least_loaded():
            if wish.fits(account):
                return name
        return None

    def _say_why(self, pod: Object, wish: Wish) -> Work:
        """Condition PodScheduled=False, in the words of the real scheduler."""
        entry = self._unschedulable(pod, wish.why_nowhere(self._accounts(), preempted=False))
        if entry is not None:
            yield with_condition(pod, entry)
        return None

    def _accounts(self) -> list[NodeAccount]:
        return [entry for entry in self._ledger.accounts.values() if entry.node is not None]

    def _unschedulable(self, pod: Object, message: str) -> dict[str, Any] | None:
        """The condition that says so; None if the pod has it already."""
        shown = condition(pod, "PodScheduled")
        if shown is not None and shown.get("message") == message:
            return None
        return {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": to_rfc3339(self.loop.now_us)
            if shown is None or shown["status"] != "False"
            else shown["lastTransitionTime"],
            "reason": "Unschedulable",
            "message": message,
            "observedGeneration": meta(pod)["generation"],
        }

    def _preempt(self, pod: Object, wish: Wish, victims: Victims) -> Work:
        """Push out pods of lower priority; the pod is tried again as soon as they are gone."""
        message = wish.why_nowhere(self._accounts(), preempted=True)
        for victim in victims.pods:
            entry = disruption(
                victim,
                "PreemptionByScheduler",
                f"{DEFAULT_SCHEDULER}: preempting to accommodate a higher priority pod",
                to_rfc3339(self.loop.now_us),
            )
            try:
                latest = self.informers.get(POD, namespace_of(victim), name_of(victim))
                if latest is not None and uid_of(latest) == uid_of(victim):
                    yield with_condition(latest, entry)
                    yield Delete(POD, namespace_of(victim), name_of(victim), uid=uid_of(victim))
            except ApiError as refused:
                if not refused.is_not_found:
                    raise
        latest = self.informers.get(POD, namespace_of(pod), name_of(pod))
        if latest is not None and uid_of(latest) == uid_of(pod):
            reason = self._unschedulable(latest, message)
            if reason is not None:
                yield with_condition(latest, reason, nominatedNodeName=victims.node)
            elif get_path(latest, "status.nominatedNodeName") != victims.node:
                status = {**latest["status"], "nominatedNodeName": victims.node}
                yield Update(POD, {**latest, "status": status}, subresource="status")
        return None


def _text_of(wish: Wish) -> bytes:
    """The wish for comparison with others: equal ones have the same chances."""
    names = ("nodeSelector", "affinity", "tolerations", "priority", "preemptionPolicy")
    return encode([wish.requests, [wish.spec.get(name) for name in names], wish.rules])


def _binding(pod: Object, node: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name_of(pod), "namespace": namespace_of(pod), "uid": uid_of(pod)},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
