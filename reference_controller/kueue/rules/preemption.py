"""Preemption: whom a Workload may take quota from, and in which order."""

from __future__ import annotations

from reference_controller.kueue.names import Preemption
from vocabulary.clock import Micros


class PreemptionRules:
    """`preemption` of ClusterQueues."""

    def needs_nominal(self, borrows: bool) -> bool:
        """True if a queue must be within its nominal quota once it has preempted: it does not
        preempt and borrow in one admission unless its `borrowWithinCohort` says so."""
        return not borrows

    def borrows_at_once(self, is_allowed: bool, awaits_victims: bool, may_do_both: bool) -> bool:
        """True if a flavor in which a Workload would borrow is taken before the next one is tried.
        One for which others were preempted looks for a flavor in which it need not borrow first:
        their quota may be more than it needs."""
        return is_allowed and (may_do_both or not awaits_victims)

    def preempts_within(
        self, policy: str, preemptor: tuple[int, Micros], victim: tuple[int, Micros]
    ) -> bool:
        """True if one of the same queue may be preempted; both are given by their priority and
        the time that they are ordered by."""
        if policy == Preemption.NEVER:
            return False
        if victim[0] == preemptor[0]:
            return policy == Preemption.LOWER_OR_NEWER and victim[1] > preemptor[1]
        return victim[0] < preemptor[0]

    def reclaims(
        self, policy: str, preemptor: int, victim: int, borrows: bool, most_priority: int | None
    ) -> bool:
        """True if one of that priority in another queue of the cohort may be preempted."""
        if borrows:
            is_below = most_priority is None or victim <= most_priority
            return policy != Preemption.NEVER and is_below and victim < preemptor
        if policy == Preemption.LOWER:
            return victim < preemptor
        return policy == Preemption.ANY

    def counts_as_borrowed(self, is_contended: bool) -> bool:
        """True if a queue borrows that holds more than its nominal quota of a resource which the
        preemptor lacks, or does not."""
        return is_contended

    def may_lose(self, is_borrowing: bool) -> bool:
        """True if another queue may lose one to reclamation: while it holds more than its nominal
        quota."""
        return is_borrowing

    def may_stay(self, fits: bool) -> bool:
        """True if a victim is not needed: the preemptor fits without it."""
        return fits

    def place_of_victim(
        self, is_leaving: bool, is_own: bool, priority: int, reserved_at_us: Micros, uid: str
    ) -> tuple[object, ...]:
        """The place among candidates: those that leave already, then those of other queues, then
        the lowest priority, then those that got their quota last."""
        return not is_leaving, is_own, priority, -reserved_at_us, uid

    def awaits_release(self, is_pending: bool) -> bool:
        """True if a preemptor gets its quota only once its victims have given theirs back."""
        return is_pending

    def is_owed(self, preempted_us: Micros, evicted_us: Micros) -> bool:
        """True if a preemptor has not got the quota that others lost for it at one time: it was not
        evicted itself after that."""
        return evicted_us <= preempted_us

    def yields(self, preemptor_waits: bool) -> bool:
        """True if one that was preempted gets no quota again yet: its preemptor comes first."""
        return preemptor_waits
