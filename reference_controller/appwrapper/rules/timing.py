"""Where each timer starts. All anchors are explicit stamps in status, so a restart loses none."""

from __future__ import annotations

from typing import Final

from reference_controller.appwrapper.names import Reason, Stamp
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.status import is_suspended, stamp_of
from vocabulary.clock import MILLISECOND, Micros
from vocabulary.objects import Object

GRACED_REASONS = (
    Reason.FOUND_FAILED_PODS,
    Reason.INSUFFICIENT_PODS_READY,
    Reason.CREATE_FAILED,
)
"""The first three conditions, which the primary controllers may still correct. A component
that cannot be created is the second of them: its pods do not come."""

WRITE_ALLOWANCE_US: Final = 50 * MILLISECOND
"""A timestamp is older than the write that carries it. Measured from the write, delays must not
be short, so delays that begin with a write last this much longer."""


class TimingRules:
    """AW-040…049, 060…064; decisions A2, A3, A5, A8, A9, A10."""

    def admission_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        """Until when all expected pods have to be at least Pending."""
        return self.attempt_began_at(aw) + parameters.admission_grace_us

    def warmup_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        """Until when all expected pods have to be Running."""
        return self.attempt_began_at(aw) + parameters.warmup_grace_us

    def attempt_began_at(self, aw: Object) -> Micros:
        """When all resources of the attempt were created; while they are not, its start."""
        return stamp_of(aw, Stamp.DEPLOYED) or stamp_of(aw, Stamp.ATTEMPT_STARTED) or 0

    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        """Until when the primary controllers may correct what was detected at `since_us`."""
        return _after_commit(
            since_us, parameters.failure_grace_us if reason in GRACED_REASONS else 0
        )

    def pause_starts_at(self, aw: Object, complete_us: Micros) -> Micros:  # noqa: ARG002
        """The retry pause is counted from the moment at which deletion was complete."""
        return complete_us

    def pause_ends_at(self, aw: Object, parameters: Parameters) -> Micros | None:
        """When the next attempt may begin; None: deletion is not complete yet."""
        return _after(stamp_of(aw, Stamp.PAUSE_STARTED), parameters.retry_pause_us)

    def deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:  # noqa: ARG002
        """When the resources of an attempt that is reset or suspended may be deleted: at once."""
        return 0

    def finalizer_goes_at(self, aw: Object, parameters: Parameters) -> Micros:  # noqa: ARG002
        """When a deleted AppWrapper of which nothing is left loses our finalizer: at once."""
        return 0

    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        """When a Failed AppWrapper's resources may be deleted: the delay counts from entering
        Failed. Who suspends it wants them gone now."""
        failed_us = stamp_of(aw, Stamp.FAILED) or 0
        if is_suspended(aw):
            return failed_us
        return _after_commit(failed_us, parameters.deletion_on_failure_grace_us)

    def success_ttl_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        """The TTL counts from entering Succeeded, not from the attempt's start."""
        return _after_commit(stamp_of(aw, Stamp.SUCCEEDED) or 0, parameters.success_ttl_us)

    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        """From when on what remains is deleted by force; None: deletion has not begun."""
        return _after(stamp_of(aw, Stamp.DELETION_STARTED), parameters.forceful_deletion_grace_us)


def _after_commit(stamp_us: Micros, span_us: Micros) -> Micros:
    """The end of a span that begins with the write which carries the stamp."""
    return stamp_us + span_us + WRITE_ALLOWANCE_US if span_us else stamp_us


def _after(start_us: Micros | None, span_us: Micros) -> Micros | None:
    return None if start_us is None else start_us + span_us
