"""The Workloads that give quota back for one that comes first: pure.

Candidates are taken away in their order until the Workload fits. Then each of them that is not
needed is given back, the last one first, so that no smaller part of the victims would do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from reference_controller.kueue.amounts import FlavorResource
from reference_controller.kueue.names import Condition, Reason
from reference_controller.kueue.quota import Quotas

if TYPE_CHECKING:
    from reference_controller.kueue.config import Requeuing
    from reference_controller.kueue.rules import Rules
    from reference_controller.kueue.workload import Usage, Workload
    from reference_controller.runtime.controller import Key


class Victim(NamedTuple):
    """One that holds quota and may have to give it back."""

    workload: Workload
    queue: str
    reason: str


@dataclass(frozen=True, slots=True)
class Preemptor:
    """A Workload that needs more than there is left, in its ClusterQueue."""

    workload: Workload
    queue: str
    quotas: Quotas
    """They are as before after each call."""
    holders: Mapping[str, Mapping[Key, Workload]]
    rules: Rules
    requeuing: Requeuing

    def victims(self, usage: Usage) -> list[Victim] | None:
        """Those to evict so that a usage fits, in order; None if no eviction would do."""
        policies = self.quotas.queues[self.queue].preemption
        if not policies.preempts:
            return None
        contended = {
            what
            for what, value in usage.items()
            if not self.rules.fits(value, self.quotas.available(self.queue, what))
        }
        for borrows in (True, False) if policies.borrows else (False,):
            if self.rules.needs_nominal(borrows) and any(
                value > self.quotas.nominal(self.queue, what) for what, value in usage.items()
            ):
                continue
            candidates = sorted(self._candidates(contended, borrows), key=self._place)
            found = self._fewest(candidates, usage, contended, borrows)
            if found:
                return found
        return None

    def _candidates(self, contended: set[FlavorResource], borrows: bool) -> Iterator[Victim]:
        policies = self.quotas.queues[self.queue].preemption
        for member in self.quotas.members(self.queue):
            is_own = member.name == self.queue
            policy = policies.within if is_own else policies.reclaims
            for each in self.holders.get(member.name, {}).values():
                if contended.isdisjoint(each.usage):
                    continue
                if each.is_leaving:
                    # Whatever it gives its quota back for, no other one need do so instead.
                    yield Victim(each, member.name, "")
                elif is_own:
                    if self.rules.preempts_within(policy, self._precedence(), self._of(each)):
                        yield Victim(each, member.name, Reason.IN_CLUSTER_QUEUE)
                elif self.rules.reclaims(
                    policy, self.workload.priority, each.priority, borrows, policies.most_priority
                ):
                    reason = Reason.WHILE_BORROWING if borrows else Reason.IN_COHORT
                    yield Victim(each, member.name, reason)

    def _precedence(self) -> tuple[int, int]:
        return self._of(self.workload)

    def _of(self, workload: Workload) -> tuple[int, int]:
        """Its priority, and the time that it is ordered by."""
        return workload.priority, self.rules.queued_at_us(workload, self.requeuing)

    def _place(self, victim: Victim) -> tuple[object, ...]:
        workload = victim.workload
        return self.rules.place_of_victim(
            workload.is_leaving,
            victim.queue == self.queue,
            workload.priority,
            workload.since_us(Condition.QUOTA_RESERVED),
            workload.uid,
        )

    def _fewest(
        self,
        candidates: Sequence[Victim],
        usage: Usage,
        contended: set[FlavorResource],
        borrows: bool,
    ) -> list[Victim] | None:
        taken: list[Victim] = []
        for victim in candidates:
            if self._fits(usage, borrows):
                break
            is_taken = victim.queue == self.queue or victim.workload.is_leaving
            if is_taken or self.rules.may_lose(self._is_borrowing(victim.queue, contended)):
                self.quotas.hold(victim.queue, victim.workload.usage, -1)
                taken.append(victim)
        fits = self._fits(usage, borrows)
        kept: list[Victim] = []
        for victim in reversed(taken):
            self.quotas.hold(victim.queue, victim.workload.usage)
            if not self.rules.may_stay(self._fits(usage, borrows)):
                self.quotas.hold(victim.queue, victim.workload.usage, -1)
                kept.append(victim)
        for victim in kept:
            self.quotas.hold(victim.queue, victim.workload.usage)
        return kept[::-1] if fits else None

    def _is_borrowing(self, queue: str, contended: set[FlavorResource]) -> bool:
        return any(
            self.quotas.held(queue, what) > quota.nominal
            for what, quota in self.quotas.queues[queue].quotas.items()
            if self.rules.counts_as_borrowed(what in contended)
        )

    def _fits(self, usage: Usage, borrows: bool) -> bool:
        if any(
            not self.rules.fits(value, self.quotas.available(self.queue, what))
            for what, value in usage.items()
        ):
            return False
        is_beyond = self.quotas.borrows(self.queue, usage)
        return not (self.rules.needs_nominal(borrows) and is_beyond)
