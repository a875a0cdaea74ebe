"""A creation that the API server refuses is not noticed, not tried again, or never given up."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Phase, Reason
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import phase_of
from vocabulary.clock import DAY, Micros
from vocabulary.objects import Object


@mutant(
    "refusals-go-unnoticed",
    "A component whose creation is refused is tried again for ever, and nothing is said of it.",
    "AW-098",
)
class RefusalsGoUnnoticed(Rules):
    def admission_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().admission_ends_at(aw, parameters)
        return ends_us + 10_000 * DAY if phase_of(aw) == Phase.RESUMING else ends_us


@mutant(
    "refusals-are-borne-for-days",
    "A component whose creation is refused is found unhealthy, and given up only days later.",
    "AW-098",
)
class RefusalsAreBorneForDays(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        right_us = super().failure_grace_ends_at(since_us, reason, parameters)
        return right_us + 3 * DAY if reason == Reason.CREATE_FAILED else right_us


@mutant(
    "refusals-end-the-retries",
    "A workload of which a component could not be created is not tried again.",
    "AW-098",
)
class RefusalsEndTheRetries(Rules):
    def is_terminal(self, reason: str) -> bool:
        return reason == Reason.CREATE_FAILED or super().is_terminal(reason)
