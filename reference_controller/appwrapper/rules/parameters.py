"""Effective parameters of an AppWrapper: its annotations, the operator's values, the cap."""

from __future__ import annotations

from collections.abc import Mapping

from reference_controller.appwrapper import parameters as p
from reference_controller.appwrapper.config import FaultTolerance
from vocabulary.clock import Micros


class ParameterRules:
    """AW-070…080."""

    def parameters(self, annotations: Mapping[str, str], operator: FaultTolerance) -> p.Parameters:
        def grace(key: str, default_us: Micros) -> Micros:
            span_us = self.span_us(annotations, key, default_us)
            return self.capped(span_us, operator.grace_maximum_us)

        return p.Parameters(
            admission_grace_us=grace(p.ADMISSION_GRACE, operator.admission_grace_us),
            warmup_grace_us=grace(p.WARMUP_GRACE, operator.warmup_grace_us),
            failure_grace_us=grace(p.FAILURE_GRACE, operator.failure_grace_us),
            retry_pause_us=grace(p.RETRY_PAUSE, operator.retry_pause_us),
            retry_limit=p.retry_limit_of(annotations, operator),
            deletion_on_failure_grace_us=grace(p.DELETION_ON_FAILURE_GRACE, 0),
            forceful_deletion_grace_us=grace(
                p.FORCEFUL_DELETION_GRACE, operator.forceful_deletion_grace_us
            ),
            success_ttl_us=self.success_ttl_us(
                self.span_us(annotations, p.SUCCESS_TTL, operator.success_ttl_us), operator
            ),
        )

    def span_us(self, annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
        """The span that an annotation names; what is malformed counts as absent."""
        return p.span_of(annotations, key, default_us)

    def capped(self, span_us: Micros, maximum_us: Micros) -> Micros:
        """GracePeriodMaximum "imposes a system-wide upper limit on all other grace periods"."""
        return min(max(span_us, 0), maximum_us)

    def success_ttl_us(self, span_us: Micros, operator: FaultTolerance) -> Micros:
        """At most the operator's own value, and that where the annotation makes no sense.

        It is no grace period: its default of a week is longer than the cap of a day.
        """
        return span_us if 0 < span_us <= operator.success_ttl_us else operator.success_ttl_us
