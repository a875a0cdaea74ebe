"""The quota of the ClusterQueues at one position of a history: what is held, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from conformance.suites.kueue.kind import StopPolicy, WorkloadState
from conformance.suites.kueue.view.amounts import Usage
from vocabulary.objects import Object, get_path, is_terminating, name_of
from vocabulary.quantities import parse_quantity
from vocabulary.selectors import holds

What: TypeAlias = tuple[str, str]
"""A flavor and a resource."""
Held: TypeAlias = dict[What, Fraction]


class Quota(NamedTuple):
    """The quota of a resource of a flavor; limits that are not set are None."""

    nominal: Fraction
    borrowing: Fraction | None
    lending: Fraction | None

    @property
    def kept(self) -> Fraction:
        """The part that no other queue may borrow."""
        return (
            Fraction(0) if self.lending is None else max(Fraction(0), self.nominal - self.lending)
        )


class Group(NamedTuple):
    """Resources that come from one flavor, and the flavors in their order."""

    resources: Sequence[str]
    flavors: Sequence[str]


class Part(NamedTuple):
    """A pod set: what it asks for, and the spec of its pods."""

    asked: Usage
    pod: Object


class QueueSpec:
    """The spec of a ClusterQueue."""

    def __init__(self, obj: Object) -> None:
        spec = obj.get("spec") or {}
        self.name = name_of(obj)
        # The second names are those of v1beta2.
        self.cohort = str(spec.get("cohort") or spec.get("cohortName") or "")
        self.is_strict = spec.get("queueingStrategy") == "StrictFIFO"
        self.stop_policy = str(spec.get("stopPolicy") or StopPolicy.NONE)
        self.is_terminating = is_terminating(obj)
        self.namespaces: Object | None = spec.get("namespaceSelector")
        preemption = spec.get("preemption") or {}
        self.within = str(preemption.get("withinClusterQueue") or "Never")
        self.reclaims = str(preemption.get("reclaimWithinCohort") or "Never")
        self.borrows = get_path(preemption, "borrowWithinCohort.policy") not in (None, "Never")
        self.most_priority = get_path(preemption, "borrowWithinCohort.maxPriorityThreshold")
        fungibility = spec.get("flavorFungibility") or {}
        self.preempts_first = fungibility.get("whenCanPreempt") in ("Preempt", "MayStopSearch")
        self.borrows_first = fungibility.get("whenCanBorrow") != "TryNextFlavor"
        self.groups: list[Group] = []
        self.quotas: dict[What, Quota] = {}
        for group in spec.get("resourceGroups") or ():
            flavors = group.get("flavors") or ()
            names = [flavor["name"] for flavor in flavors]
            self.groups.append(Group(group.get("coveredResources") or (), names))
            for flavor in flavors:
                for each in flavor.get("resources") or ():
                    self.quotas[flavor["name"], each["name"]] = Quota(
                        parse_quantity(each["nominalQuota"]),
                        _limit(each, "borrowingLimit"),
                        _limit(each, "lendingLimit"),
                    )

    @property
    def preempts(self) -> bool:
        return (self.within, self.reclaims) != ("Never", "Never")


class Standing:
    """The queues, and what is held of them."""

    def __init__(
        self,
        queues: Mapping[str, QueueSpec],
        flavors: Mapping[str, Object],
        holders: Iterable[WorkloadState],
    ) -> None:
        self.queues = queues
        self._flavors = flavors
        self._held: dict[str, Held] = {name: {} for name in queues}
        for state in holders:
            held = self._held.setdefault(str(state.cluster_queue), {})
            for what, value in usage_of(state).items():
                held[what] = held.get(what, Fraction(0)) + value

    def without(self, given_back: Iterable[WorkloadState]) -> Standing:
        """The same once these have given their quota back."""
        rest = Standing(self.queues, self._flavors, ())
        rest._held = {queue: dict(held) for queue, held in self._held.items()}
        for state in given_back:
            held = rest._held.get(str(state.cluster_queue), {})
            for what, value in usage_of(state).items():
                held[what] = held.get(what, Fraction(0)) - value
        return rest

    def emptied(self) -> Standing:
        """The same if no Workload held any quota."""
        return Standing(self.queues, self._flavors, ())

    def held(self, queue: str, what: What) -> Fraction:
        return self._held.get(queue, {}).get(what, Fraction(0))

    def nominal(self, queue: str, what: What) -> Fraction:
        quota = self.queues[queue].quotas.get(what)
        return Fraction(0) if quota is None else quota.nominal

    def cohort(self, queue: str) -> list[QueueSpec]:
        """The queues that share quota with one, itself included."""
        name = self.queues[queue].cohort
        if not name:
            return [self.queues[queue]]
        return [each for each in self.queues.values() if each.cohort == name]

    def left(self, queue: str, what: What) -> Fraction:
        """How much of it a queue may still take, whatever it has to borrow."""
        quota = self.queues[queue].quotas.get(what)
        if quota is None:
            return Fraction(0)
        shared = sum((self._lends(each.name, what) for each in self.cohort(queue)), Fraction(0))
        left = shared + max(Fraction(0), quota.kept - self.held(queue, what))
        if quota.borrowing is not None:
            left = min(left, quota.nominal + quota.borrowing - self.held(queue, what))
        return left

    def _lends(self, queue: str, what: What) -> Fraction:
        """The quota that a queue adds to what its cohort shares; negative for what it takes."""
        quota = self.queues[queue].quotas.get(what)
        if quota is None:
            return Fraction(0)
        return quota.nominal - max(quota.kept, self.held(queue, what))

    def is_within_nominal(self, queue: str, usage: Mapping[What, Fraction]) -> bool:
        """True if a queue would not borrow if it held this, too."""
        return all(
            self.held(queue, what) + value <= self.nominal(queue, what)
            for what, value in usage.items()
        )

    def fits(self, queue: str, usage: Mapping[What, Fraction]) -> bool:
        return all(value <= self.left(queue, what) for what, value in usage.items())

    def placements(self, queue: str, parts: Iterable[Part]) -> Iterator[Held]:
        """The quota that a Workload would hold with each choice of a flavor for each of its pod
        sets and each group, in the order in which they are tried."""
        found: list[Held] = [{}]
        for part in parts:
            rest = {name: value for name, value in part.asked.items() if value}
            for group in self.queues[queue].groups:
                of_group = {name: rest.pop(name) for name in group.resources if name in rest}
                if of_group:
                    found = [
                        _with(before, {(flavor, name): each for name, each in of_group.items()})
                        for before in found
                        for flavor in self.suiting(group, part.pod)
                    ]
            if rest:
                return iter(())
        return iter(found)

    def come_first(self, queue: str, placed: Held, victim: WorkloadState) -> bool:
        """True if none of the flavors of a placement comes after one that a victim holds."""
        return all(
            group.flavors.index(flavor) <= group.flavors.index(other)
            for group in self.queues[queue].groups
            for flavor, name in placed
            for other, of in usage_of(victim)
            if name == of and name in group.resources and other in group.flavors
        )

    def suiting(self, group: Group, pod: Object) -> list[str]:
        """The flavors of a group on whose nodes pods may run."""
        specs = {name: (self._flavors.get(name) or {}).get("spec") or {} for name in group.flavors}
        keys = {key for spec in specs.values() for key in spec.get("nodeLabels") or ()}
        return [name for name, spec in specs.items() if _suits(spec, pod, keys)]


def _with(held: Held, more: Held) -> Held:
    return {**held, **{what: held.get(what, Fraction(0)) + each for what, each in more.items()}}


def usage_of(state: WorkloadState) -> Held:
    """The quota that a Workload holds; pods that are done need none."""
    total: Held = {}
    counts = {each["name"]: int(each.get("count", 1)) for each in state.pod_sets}
    for each in get_path(state.object, "status.reclaimablePods") or ():
        counts[each["name"]] = max(0, counts.get(each["name"], 0) - int(each["count"]))
    for each in state.assignments:
        flavors, assigned = each.get("flavors") or {}, int(each.get("count", 1))
        needed = min(counts.get(each["name"], assigned), assigned)
        for name, value in (each.get("resourceUsage") or {}).items():
            if name in flavors:
                what = flavors[name], name
                of_needed = parse_quantity(value) * needed / max(1, assigned)
                total[what] = total.get(what, Fraction(0)) + of_needed
    return {what: value for what, value in total.items() if value}


def _limit(quota: Object, key: str) -> Fraction | None:
    return None if quota.get(key) is None else parse_quantity(quota[key])


def _suits(flavor: Object, pod: Object, keys: set[str]) -> bool:
    tolerations = [*(pod.get("tolerations") or ()), *(flavor.get("tolerations") or ())]
    for taint in flavor.get("nodeTaints") or ():
        is_hard = taint.get("effect") in ("NoSchedule", "NoExecute")
        if is_hard and not any(_tolerates(each, taint) for each in tolerations):
            return False
    labels = flavor.get("nodeLabels") or {}
    for key, value in (pod.get("nodeSelector") or {}).items():
        if key in keys and labels.get(key) != value:
            return False
    terms = get_path(
        pod,
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
    )
    if not terms:
        return True
    return any(
        all(
            holds(each["key"], each["operator"], each.get("values") or (), labels)
            for each in term.get("matchExpressions") or ()
            if each["key"] in keys
        )
        for term in terms
    )


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    is_exists = toleration.get("operator") == "Exists"
    return toleration["key"] == taint.get("key") and (is_exists or same_value)
