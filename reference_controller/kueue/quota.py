"""The quota of ClusterQueues and of their cohorts, and how much of it is left.

A queue has a nominal quota of each resource of each flavor. The part that it may lend is its
cohort's: a queue that needs more than its own borrows from there, up to its borrowing limit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_controller.kueue.amounts import FlavorResource, amount
from reference_controller.kueue.names import Preemption, Reason, StopPolicy, Strategy
from vocabulary.objects import Object, get_path, is_terminating, name_of

if TYPE_CHECKING:
    from reference_controller.kueue.rules import Rules

_UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """The quota of one resource of one flavor in a ClusterQueue, in thousandths."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None

    @property
    def own(self) -> int:
        """The part that is not lent."""
        return 0 if self.lending_limit is None else max(0, self.nominal - self.lending_limit)


@dataclass(frozen=True, slots=True, eq=False)
class FlavorGroup:
    """Resources that come from one flavor together, and the flavors in the order of trial."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policies:
    """`preemption` of a ClusterQueue."""

    within: str
    """`withinClusterQueue`."""
    reclaims: str
    """`reclaimWithinCohort`."""
    borrows: bool
    """True if it may preempt and borrow in one admission: `borrowWithinCohort`."""
    most_priority: int | None
    """The highest priority that it may preempt then; None: any that is lower."""

    @property
    def preempts(self) -> bool:
        return (self.within, self.reclaims) != (Preemption.NEVER, Preemption.NEVER)


class ClusterQueue:
    """The spec of one ClusterQueue."""

    def __init__(self, obj: Object, rules: Rules) -> None:
        spec = obj.get("spec") or {}
        self.object = obj
        self.name = name_of(obj)
        self.cohort = str(spec.get("cohort") or "")
        self.is_strict = spec.get("queueingStrategy") == Strategy.STRICT_FIFO
        self.is_terminating = is_terminating(obj)
        self.namespaces: Object | None = spec.get("namespaceSelector")
        self.stop_policy = stop_policy_of(obj)
        fungibility = spec.get("flavorFungibility") or {}
        self.borrows_at_once = fungibility.get("whenCanBorrow") != "TryNextFlavor"
        self.preempts_at_once = fungibility.get("whenCanPreempt") in ("Preempt", "MayStopSearch")
        within = get_path(spec, "preemption.withinClusterQueue") or Preemption.NEVER
        reclaims = get_path(spec, "preemption.reclaimWithinCohort") or Preemption.NEVER
        borrows = get_path(spec, "preemption.borrowWithinCohort") or {}
        self.preemption = Policies(
            str(within),
            str(reclaims),
            (borrows.get("policy") or Preemption.NEVER) != Preemption.NEVER,
            borrows.get("maxPriorityThreshold"),
        )
        self.groups: list[FlavorGroup] = []
        self.quotas: dict[FlavorResource, ResourceQuota] = {}
        for group in spec.get("resourceGroups") or ():
            flavors = group.get("flavors") or ()
            self.groups.append(
                FlavorGroup(
                    frozenset(group.get("coveredResources") or ()),
                    tuple(flavor["name"] for flavor in flavors),
                )
            )
            for flavor in flavors:
                for each in flavor.get("resources") or ():
                    what = FlavorResource(flavor["name"], each["name"])
                    self.quotas[what] = ResourceQuota(
                        amount(each.get("nominalQuota", 0)),
                        rules.limit(_limit(each, "borrowingLimit")),
                        rules.limit(_limit(each, "lendingLimit")),
                    )

    @property
    def flavors(self) -> tuple[str, ...]:
        """The flavors that it refers to."""
        return tuple(dict.fromkeys(what for group in self.groups for what in group.flavors))


@dataclass(slots=True)
class Quotas:
    """The quota of all ClusterQueues, with what is held of it."""

    queues: Mapping[str, ClusterQueue]
    used: dict[str, dict[FlavorResource, int]] = field(default_factory=dict)
    _members: dict[str, list[ClusterQueue]] = field(init=False, default_factory=dict)
    _unused: Quotas | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        for queue in self.queues.values():
            self._members.setdefault(queue.cohort or f"/{queue.name}", []).append(queue)

    def members(self, name: str) -> Sequence[ClusterQueue]:
        """The ClusterQueues that share quota with one, itself included."""
        queue = self.queues.get(name)
        return () if queue is None else self._members[queue.cohort or f"/{queue.name}"]

    def held(self, queue: str, what: FlavorResource) -> int:
        return self.used.get(queue, {}).get(what, 0)

    def nominal(self, queue: str, what: FlavorResource) -> int:
        quota = self.queues[queue].quotas.get(what)
        return 0 if quota is None else quota.nominal

    def hold(self, queue: str, usage: Mapping[FlavorResource, int], times: int = 1) -> None:
        """Count a usage as held; with `times` -1 as given back."""
        used = self.used.setdefault(queue, {})
        for what, value in usage.items():
            used[what] = used.get(what, 0) + times * value

    def available(self, name: str, what: FlavorResource) -> int:
        """How much a queue may still take, borrowing included; negative if its quota shrank."""
        queue = self.queues[name]
        quota = queue.quotas.get(what)
        if quota is None:
            return 0
        held = self.held(name, what)
        if not queue.cohort:
            return quota.nominal - held
        beyond = max(0, held - quota.own)
        may_borrow = _UNLIMITED
        if quota.borrowing_limit is not None:
            may_borrow = quota.nominal - quota.own - beyond + quota.borrowing_limit
        return max(0, quota.own - held) + min(self._shared(name, what), may_borrow)

    def most(self, name: str, what: FlavorResource) -> int:
        """How much a queue could take if nothing were held."""
        if self._unused is None:
            self._unused = Quotas(self.queues)
        return self._unused.available(name, what)

    def borrows(self, name: str, usage: Mapping[FlavorResource, int]) -> bool:
        """True if the queue is beyond its nominal quota once it holds this, too."""
        return any(
            self.held(name, what) + value > self.nominal(name, what)
            for what, value in usage.items()
        )

    def _shared(self, name: str, what: FlavorResource) -> int:
        """How much is left of what the members of a queue's cohort lend each other."""
        left = 0
        for member in self.members(name):
            quota = member.quotas.get(what)
            if quota is not None:
                left += quota.nominal - quota.own
                left -= max(0, self.held(member.name, what) - quota.own)
        return left


def stop_policy_of(queue: Object) -> str:
    """The stopPolicy of a ClusterQueue or LocalQueue."""
    return str(get_path(queue, "spec.stopPolicy") or StopPolicy.NONE)


def why_inactive(queue: ClusterQueue, flavors: Collection[str], rules: Rules) -> tuple[str, str]:
    """The reason why a ClusterQueue does not admit where there are these flavors, and a message;
    empty if it does."""
    if queue.is_terminating:
        return Reason.TERMINATING, "it is being deleted"
    if not rules.admits(queue.stop_policy):
        return Reason.STOPPED, "it is stopped"
    missing = [each for each in queue.flavors if each not in flavors]
    if missing:
        return Reason.FLAVOR_NOT_FOUND, f"flavors are missing: {', '.join(missing)}"
    return "", ""


def _limit(quota: Object, key: str) -> int | None:
    found = quota.get(key)
    return None if found is None else amount(found)
