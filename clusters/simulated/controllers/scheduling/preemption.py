"""Preemption: the pods of lower priority to evict so that a pod fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.scheduling.node_ledger import NodeAccount, NodeLedger
from clusters.simulated.controllers.scheduling.pod_affinity import APART_FROM_WANTED, PodAffinity
from clusters.simulated.controllers.scheduling.wish import Wish
from clusters.simulated.store import Key
from vocabulary.kinds import POD
from vocabulary.objects import Object, get_path, is_terminating, name_of, namespace_of

_LOWEST_PRIORITY: Final = -(2**31)


@dataclass(frozen=True, slots=True)
class Victims:
    """The node that would be freed, and the pods to be pushed out of it."""

    node: str
    pods: tuple[Object, ...]


def find_victims(
    informers: Informers, ledger: NodeLedger, affinity: PodAffinity, pod: Object, wish: Wish
) -> Victims | None:
    """The cheapest preemption that lets the pod fit; None if none does.

    Cheapest: the lowest highest priority among the victims, then the lowest sum of their
    priorities, then the fewest victims, then the node whose most important victims started
    last. Disruption budgets are not looked at. None as well while victims of an earlier preemption
    still stop.
    """
    priority = _priority(pod)
    if priority <= 0 or pod["spec"].get("preemptionPolicy") == "Never":
        return None
    nominated = get_path(pod, "status.nominatedNodeName")
    if nominated and any(is_terminating(other) for other in informers.pods_on(nominated)):
        return None
    found: list[Victims] = []
    for name, account in ledger.accounts.items():
        node = account.node
        if node is None or wish.refusal(node) or wish.refusal_by_pods(node) == APART_FROM_WANTED:
            continue
        weaker = [
            other
            for other in informers.pods_on(name)
            if _priority(other) < priority
            and not is_terminating(other)
            and _key(other) in account.pods
        ]
        if weaker:
            victims = _victims(weaker, _Trial(account, affinity, pod, wish))
            if victims:
                found.append(Victims(name, victims))
    if len(found) < 2:
        return found[0] if found else None
    highest = min(_highest(each) for each in found)
    found = [each for each in found if _highest(each) == highest]
    cheapest = min(_sum_and_count(each) for each in found)
    found = [each for each in found if _sum_and_count(each) == cheapest]
    return max(found, key=_start)


class _Trial:
    """One node without some of its pods, and whether the new pod fits there then."""

    def __init__(
        self, account: NodeAccount, affinity: PodAffinity, pod: Object, wish: Wish
    ) -> None:
        self._account = account
        self._affinity = affinity
        self._pod = pod
        self._wish = wish
        self._removed: set[Key] = set()
        self._taken = dict(account.taken)

    def remove(self, key: Key) -> None:
        self._removed.add(key)
        for name, value in self._account.pods[key].items():
            self._taken[name] -= value

    def put_back(self, key: Key) -> None:
        self._removed.discard(key)
        for name, value in self._account.pods[key].items():
            self._taken[name] += value

    def fits(self) -> bool:
        account, wish = self._account, self._wish
        allocatable = account.allocatable
        if len(account.pods) - len(self._removed) + 1 > allocatable.get("pods", 0):
            return False
        if any(
            wanted and wanted > allocatable.get(name, 0) - self._taken.get(name, 0)
            for name, wanted in wish.requests.items()
        ):
            return False
        if wish.rules is None:
            return True
        rules = self._affinity.rules_for(self._pod, self._removed)
        assert account.node is not None
        return rules is None or not rules.refusal(account.node)


def _victims(weaker: list[Object], trial: _Trial) -> tuple[Object, ...]:
    """Those that have to go, the least important first; none if it does not help.

    All are taken away, then spared one by one, the most important first, while there is room.
    """
    for other in weaker:
        trial.remove(_key(other))
    if not trial.fits():
        return ()
    # They are sorted by age; among equals the older pod matters more.
    victims: list[Object] = []
    for other in sorted(weaker, key=_priority, reverse=True):
        trial.put_back(_key(other))
        if not trial.fits():
            trial.remove(_key(other))
            victims.append(other)
    return tuple(reversed(victims))


def _priority(pod: Object) -> int:
    found: int = pod["spec"]["priority"]
    return found


def _highest(victims: Victims) -> int:
    return max(_priority(pod) for pod in victims.pods)


def _sum_and_count(victims: Victims) -> tuple[int, int]:
    # Priorities are counted from the lowest there is, so that negative ones are no bargain.
    total = sum(_priority(pod) - _LOWEST_PRIORITY for pod in victims.pods)
    return total, len(victims.pods)


def _start(victims: Victims) -> str:
    """The earliest start of the most important victims."""
    highest = _highest(victims)
    return min(
        str(get_path(pod, "status.startTime", "")) or "~"
        for pod in victims.pods
        if _priority(pod) == highest
    )


def _key(pod: Object) -> Key:
    return Key(str(POD), namespace_of(pod), name_of(pod))
