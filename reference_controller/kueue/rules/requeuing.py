"""Evictions of Workloads whose pods are not ready in time, and their return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reference_controller.kueue.config import Requeuing, WaitForPodsReady
from reference_controller.kueue.names import Condition, Reason
from reference_controller.kueue.workload import Workload
from vocabulary.clock import HOUR, SECOND, Micros, to_rfc3339

LONGEST_US: Final = 100 * 365 * 24 * HOUR
"""Without a maximum, any factor outgrows the times that the API can say."""


class RequeuingRules:
    """`waitForPodsReady`."""

    def ready_by_us(self, workload: Workload, wait: WaitForPodsReady) -> Micros | None:
        """When an admitted Workload whose pods are not ready is evicted; None: it is not."""
        lost_us = workload.since_us(Condition.PODS_READY)
        since_us = max(workload.since_us(Condition.ADMITTED), lost_us)
        was_ready = workload.reason(Condition.PODS_READY) == Reason.WAIT_FOR_RECOVERY
        if not was_ready or wait.recovery_timeout_us is None:
            return since_us + wait.timeout_us
        return lost_us + wait.recovery_timeout_us if wait.recovery_timeout_us else None

    def is_at_limit(self, requeued: int, limit: int | None) -> bool:
        """True if a Workload that was requeued so often is deactivated, not requeued again."""
        return limit is not None and requeued + 1 > limit

    def back_off_us(self, count: int, requeuing: Requeuing, jitter: float) -> Micros:
        """The back-off of the count-th requeue; `jitter` from 0 to 1 is the part of the longest
        jitter that is added."""
        maximum_us = LONGEST_US if requeuing.maximum_us is None else requeuing.maximum_us
        try:
            span_us = min(requeuing.base_us * requeuing.factor ** (count - 1), maximum_us)
        except OverflowError:
            span_us = maximum_us
        return round(min(span_us * (1 + jitter * requeuing.jitter), LONGEST_US))

    def counts(self, reason: str) -> bool:
        """True if an eviction for that reason counts, and leads to a back-off."""
        return reason == Reason.PODS_READY_TIMEOUT

    def why_inactive(self) -> str:
        """The reason of the eviction of a deactivated Workload."""
        return Reason.INACTIVE

    def requeued(self, count: int, now_us: Micros, back_off_us: Micros) -> Mapping[str, Any]:
        """The requeueState of the count-th eviction; API times are whole seconds."""
        return {
            "count": count,
            "requeueAt": to_rfc3339((now_us + back_off_us) // SECOND * SECOND),
        }

    def resets_requeue_state(self, workload: Workload) -> bool:
        """True if a Workload that was activated again begins to count anew: the limit had
        deactivated it."""
        return workload.is_active and workload.is_(Condition.DEACTIVATION_TARGET)
