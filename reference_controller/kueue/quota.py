"""The quota of ClusterQueues and of their cohorts, and how much of it is left.

A queue has a nominal quota of each resource of each flavor. The part that it may lend is its
cohort's: a queue that needs more than its own borrows from there, up to its borrowing limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reference_controller.kueue.amounts import FlavorResource, amount
from reference_controller.kueue.names import Condition, Strategy
from vocabulary.objects import Object, get_path, is_terminating, name_of

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


class ClusterQueue:
    """The spec of one ClusterQueue."""

    def __init__(self, obj: Object) -> None:
        spec = obj.get("spec") or {}
        self.object = obj
        self.name = name_of(obj)
        self.cohort = str(spec.get("cohort") or "")
        self.is_strict = spec.get("queueingStrategy") == Strategy.STRICT_FIFO
        self.is_terminating = is_terminating(obj)
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
                        _limit(each, "borrowingLimit"),
                        _limit(each, "lendingLimit"),
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

    def held(self, queue: str, what: FlavorResource) -> int:
        return self.used.get(queue, {}).get(what, 0)

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
        return max(0, quota.own - held) + min(self._shared(queue.cohort, what), may_borrow)

    def borrows(self, name: str, usage: Mapping[FlavorResource, int]) -> bool:
        """True if the queue is beyond its nominal quota once it holds this, too."""
        quotas = self.queues[name].quotas
        return any(
            self.held(name, what) + value > quotas[what].nominal
            for what, value in usage.items()
            if what in quotas
        )

    def _shared(self, cohort: str, what: FlavorResource) -> int:
        """How much is left of what the members of a cohort lend each other."""
        left = 0
        for member in self.members(cohort):
            quota = member.quotas.get(what)
            if quota is not None:
                left += quota.nominal - quota.own
                left -= max(0, self.held(member.name, what) - quota.own)
        return left

    def members(self, cohort: str) -> Iterable[ClusterQueue]:
        return (queue for queue in self.queues.values() if queue.cohort == cohort)


def is_active(queue: Object) -> bool:
    """True if a ClusterQueue or LocalQueue says that it admits."""
    return any(
        each.get("type") == Condition.ACTIVE and each.get("status") == "True"
        for each in get_path(queue, "status.conditions") or ()
    )


def _limit(quota: Object, key: str) -> int | None:
    found = quota.get(key)
    return None if found is None else amount(found)
