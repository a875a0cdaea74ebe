"""The controllers of ClusterQueues and LocalQueues: whether they admit, and what is held of them.

A ClusterQueue keeps a finalizer until nothing holds quota of it, and a ResourceFlavor until no
ClusterQueue has it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from reference_controller.kueue.amounts import added, quantity
from reference_controller.kueue.names import (
    CLUSTER_QUEUE,
    IN_USE,
    LOCAL_QUEUE,
    RESOURCE_FLAVOR,
    WORKLOAD,
    Condition,
    Reason,
)
from reference_controller.kueue.office import Office
from reference_controller.kueue.quota import ClusterQueue, stop_policy_of, why_inactive
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Usage
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.conditions import with_condition
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import read
from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import (
    Object,
    finalizers_of,
    get_path,
    is_terminating,
    meta,
    name_of,
    namespace_of,
)
from vocabulary.requests import List, ObjectList, Patch, Reconcile, Request, Update

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class _QueueController(ABC):
    """A controller that writes the status of queues of one kind. Its memory are the books."""

    kind: ClassVar[Kind]

    def __init__(self, office: Office) -> None:
        self._rules = office.rules
        self._books = office.books
        self._writes = OwnWrites()

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock = clock

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        cached = yield from read(self.kind, *key, live=False)
        if cached is None:
            self._writes.forget(key)
            return None
        queue = self._writes.later(key, cached)
        reason, message = yield from self._why_inactive(queue)
        status = yield from self._status(queue)
        entries = get_path(queue, "status.conditions") or ()
        active = {
            "type": Condition.ACTIVE,
            "status": "False" if reason else "True",
            "reason": reason or Reason.READY,
            "message": message or "Can admit new workloads",
        }
        status = {**status, "conditions": with_condition(entries, active, self._clock())}
        if status != queue.get("status"):
            queue = yield Update(self.kind, {**queue, "status": status}, subresource="status")
            self._writes.remember(key, queue)
        return None

    def _pending(self, queue: Key) -> int:
        return self._rules.pending(*self._books.pending(queue))

    @abstractmethod
    def _why_inactive(self, queue: Object) -> Generator[Request, Any, tuple[str, str]]:
        """A reason and a message; empty if the queue admits."""

    @abstractmethod
    def _status(self, queue: Object) -> Generator[Request, Any, dict[str, Any]]: ...


class ClusterQueueController(_QueueController):
    """ClusterQueues."""

    name: Final = "clusterqueue"
    kind = CLUSTER_QUEUE
    watches: Final = (CLUSTER_QUEUE, LOCAL_QUEUE, RESOURCE_FLAVOR, WORKLOAD)

    def __init__(self, office: Office) -> None:
        super().__init__(office)
        self.metrics = office.metrics

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The queue itself, or that of a Workload or LocalQueue, or all for a flavor."""
        if kind == CLUSTER_QUEUE:
            return (key_of(obj),)
        if kind == RESOURCE_FLAVOR:
            return (key_of(each) for each in caches[CLUSTER_QUEUE])
        states = (obj,) if old is None else (obj, old)
        if kind == LOCAL_QUEUE:
            names = (str(get_path(each, "spec.clusterQueue", "")) for each in states)
        else:
            names = (name for each in states for name in _cluster_queues(each, caches))
        return dict.fromkeys(Key("", name) for name in names)  # in an order that no hash decides

    def _why_inactive(self, queue: Object) -> Generator[Request, Any, tuple[str, str]]:
        flavors: ObjectList = yield List(RESOURCE_FLAVOR)
        known = set(map(name_of, flavors.items))
        return why_inactive(ClusterQueue(queue, self._rules), known, self._rules)

    def _status(self, queue: Object) -> Generator[Request, Any, dict[str, Any]]:
        local: ObjectList = yield List(LOCAL_QUEUE)
        name, parsed = name_of(queue), ClusterQueue(queue, self._rules)
        lines = [
            key_of(each) for each in local.items if get_path(each, "spec.clusterQueue") == name
        ]
        self.metrics.lines[name] = lines
        used = self._books.used.get(name, {})
        usage = _by_flavor(used, parsed, self._rules, with_borrowed=True)
        count = len(self._books.holders.get(name, ()))
        # Quota is reserved, and the Workload admitted, in one write: the two are the same.
        return {
            "flavorsReservation": usage,
            "flavorsUsage": usage,
            "pendingWorkloads": sum(map(self._pending, lines)),
            "reservingWorkloads": count,
            "admittedWorkloads": count,
        }

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        """Write its status, then set or take off its finalizer."""
        yield from super().reconcile(key, now_us)
        cached = yield from read(CLUSTER_QUEUE, *key, live=False)
        if cached is None:
            self.metrics.lines.pop(key.name, None)
            return None
        queue, is_used = self._writes.later(key, cached), bool(self._books.holders.get(key.name))
        yield from _keep(key, queue, CLUSTER_QUEUE, self._rules, self._writes, is_used=is_used)
        return None


class LocalQueueController(_QueueController):
    """LocalQueues."""

    name: Final = "localqueue"
    kind = LOCAL_QUEUE
    watches: Final = (LOCAL_QUEUE, CLUSTER_QUEUE, WORKLOAD)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The queue itself, or that of a Workload, or all of a ClusterQueue."""
        if kind == LOCAL_QUEUE:
            return (key_of(obj),)
        if kind == WORKLOAD:
            states = (obj,) if old is None else (obj, old)
            return dict.fromkeys(
                Key(namespace_of(each), str(get_path(each, "spec.queueName", "")))
                for each in states
            )
        return (
            key_of(each)
            for each in caches[LOCAL_QUEUE]
            if get_path(each, "spec.clusterQueue") == name_of(obj)
        )

    def _why_inactive(self, queue: Object) -> Generator[Request, Any, tuple[str, str]]:
        name = str(get_path(queue, "spec.clusterQueue", ""))
        found = yield from read(CLUSTER_QUEUE, "", name, live=False)
        if not self._rules.admits(stop_policy_of(queue)):
            return Reason.STOPPED, "LocalQueue is stopped"
        if found is None:
            return Reason.NO_CLUSTER_QUEUE, f"ClusterQueue {name} doesn't exist"
        if not is_active(found):
            return Reason.CLUSTER_QUEUE_INACTIVE, f"ClusterQueue {name} is inactive"
        return "", ""

    def _status(self, queue: Object) -> Generator[Request, Any, dict[str, Any]]:
        name, key = str(get_path(queue, "spec.clusterQueue", "")), key_of(queue)
        found = yield from read(CLUSTER_QUEUE, "", name, live=False)
        held = [each for each in self._books.holders.get(name, {}).values() if each.queue == key]
        parsed = ClusterQueue(found or {"metadata": {"name": name}}, self._rules)
        used = added(map(self._rules.in_use, held))
        reserved = added(each.usage for each in held)
        return {
            "flavorsReservation": _by_flavor(reserved, parsed, self._rules, with_borrowed=False),
            "flavorUsage": _by_flavor(used, parsed, self._rules, with_borrowed=False),
            "pendingWorkloads": self._pending(key),
            "reservingWorkloads": len(held),
            "admittedWorkloads": len(held),
        }


class FlavorController:
    """ResourceFlavors."""

    name: Final = "resourceflavor"
    watches: Final = (RESOURCE_FLAVOR, CLUSTER_QUEUE)

    def __init__(self, office: Office) -> None:
        self._rules = office.rules
        self._writes = OwnWrites()

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The flavor itself, or those that a ClusterQueue has no longer."""
        if kind == RESOURCE_FLAVOR:
            return (key_of(obj),)
        left = _flavors(obj if old is None else old)
        stays = caches[CLUSTER_QUEUE].get(*key_of(obj)) is not None
        return [Key("", each) for each in left if not stays or each not in _flavors(obj)]

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        """Set or take off its finalizer."""
        del now_us
        cached = yield from read(RESOURCE_FLAVOR, *key, live=False)
        if cached is None:
            self._writes.forget(key)
            return None
        flavor = self._writes.later(key, cached)
        queues: ObjectList = yield List(CLUSTER_QUEUE)
        is_used = any(key.name in _flavors(each) for each in queues.items)
        yield from _keep(key, flavor, RESOURCE_FLAVOR, self._rules, self._writes, is_used=is_used)
        return None


def _keep(
    key: Key, obj: Object, kind: Kind, rules: Rules, writes: OwnWrites, *, is_used: bool
) -> Generator[Request, Any, None]:
    """Set the finalizer of what is not deleted; take it off what is deleted, and not used."""
    known = finalizers_of(obj)
    wanted = [each for each in known if each != IN_USE]
    if rules.stays(is_terminating(obj), is_used):
        may_add = IN_USE not in known and not is_terminating(obj)
        wanted = [*known, IN_USE] if may_add else list(known)
    if wanted != list(known):
        version = meta(obj)["resourceVersion"]
        body = {"metadata": {"finalizers": wanted or None, "resourceVersion": version}}
        written: Object = yield Patch(kind, *key, body)
        writes.remember(key, written)


def _flavors(queue: Object) -> list[str]:
    """The flavors that a ClusterQueue has quota of."""
    return [
        str(flavor["name"])
        for group in get_path(queue, "spec.resourceGroups") or ()
        for flavor in group["flavors"]
    ]


def _cluster_queues(workload: Object, caches: Caches) -> Iterable[str]:
    """The ClusterQueues that a Workload waits in, and holds quota of."""
    yield str(get_path(workload, "status.admission.clusterQueue", ""))
    name = str(get_path(workload, "spec.queueName", ""))
    local = caches[LOCAL_QUEUE].get(namespace_of(workload), name)
    if local is not None:
        yield str(get_path(local, "spec.clusterQueue", ""))


def is_active(queue: Object) -> bool:
    """True if a queue says that it admits."""
    return any(
        each.get("type") == Condition.ACTIVE and each.get("status") == "True"
        for each in get_path(queue, "status.conditions") or ()
    )


def _by_flavor(
    usage: Usage, queue: ClusterQueue, rules: Rules, *, with_borrowed: bool
) -> list[Object]:
    """A usage as status shows it: all that the queue has quota of."""
    flavors: dict[str, list[Object]] = {flavor: [] for flavor in queue.flavors}
    for what, quota in queue.quotas.items():
        total = rules.shown(usage.get(what, 0), quota.nominal)
        entry: dict[str, Any] = {"name": what.resource, "total": quantity(total)}
        if with_borrowed:
            entry["borrowed"] = quantity(max(0, total - quota.nominal))
        flavors[what.flavor].append(entry)
    return [{"name": flavor, "resources": each} for flavor, each in flavors.items()]
