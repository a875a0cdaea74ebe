"""The order in which Workloads are admitted."""

from __future__ import annotations

from reference_controller.kueue.books import Rank
from reference_controller.kueue.config import Requeuing
from reference_controller.kueue.names import Condition, Reason, Timestamp
from reference_controller.kueue.workload import Workload
from vocabulary.clock import Micros


class OrderRules:
    """Queues."""

    def rank(self, workload: Workload, requeuing: Requeuing) -> Rank:
        """Higher priority first, then the earlier timestamp; creation and uid break ties."""
        return (
            -workload.priority,
            self.queued_at_us(workload, requeuing),
            workload.created_at_us,
            workload.uid,
        )

    def queued_at_us(self, workload: Workload, requeuing: Requeuing) -> Micros:
        """The time that a Workload is ordered by: that of its eviction since its pods were not
        ready in time, if it is configured so, or else that of its creation."""
        is_evicted = workload.reason(Condition.EVICTED) == Reason.PODS_READY_TIMEOUT
        if requeuing.timestamp == Timestamp.EVICTION and workload.is_evicted and is_evicted:
            return workload.since_us(Condition.EVICTED)
        return workload.created_at_us

    def waits(self, workload: Workload) -> bool:
        """True if it waits for quota, as far as it alone is concerned. One that the limit has
        deactivated waits only once its requeueState is reset: the reset would lose against its
        admission (kueue#2174)."""
        holds = workload.is_(Condition.QUOTA_RESERVED) or workload.is_finished
        is_wanted = workload.is_active and not workload.is_terminating
        return is_wanted and not holds and not workload.is_(Condition.DEACTIVATION_TARGET)

    def is_in_back_off(self, workload: Workload, now_us: Micros) -> bool:
        """True until its requeueAt."""
        return now_us < workload.requeue_at_us

    def blocks_queue(self, is_strict: bool, in_back_off: bool) -> bool:
        """True if nothing behind a head that cannot be admitted may pass it."""
        return is_strict and not in_back_off
