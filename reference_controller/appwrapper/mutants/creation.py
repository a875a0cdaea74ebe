"""A creation that the API server refuses is not noticed, not tried again, or never given up."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Phase, Reason, Stamp
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import phase_of, stamp_of
from vocabulary.clock import DAY, Micros
from vocabulary.objects import Object


@mutant(
    Rules.admission_ends_at,
    "A component whose creation is refused is tried again for ever, and nothing is said of it.",
    "AW-098",
)
def refusals_go_unnoticed(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Rules.admission_ends_at(self, aw, parameters)
    return ends_us + 10_000 * DAY if phase_of(aw) == Phase.RESUMING else ends_us


@mutant(
    Rules.failure_grace_ends_at,
    "A component whose creation is refused is found unhealthy, and given up only days later.",
    "AW-098",
)
def refusals_are_borne_for_days(
    self: Rules, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    right_us = Rules.failure_grace_ends_at(self, since_us, reason, parameters)
    return right_us + 3 * DAY if reason == Reason.CREATE_FAILED else right_us


@mutant(
    Rules.is_terminal,
    "A workload of which a component could not be created is not tried again.",
    "AW-098",
)
def refusals_end_the_retries(self: Rules, reason: str) -> bool:
    return reason == Reason.CREATE_FAILED or Rules.is_terminal(self, reason)


@mutant(
    Rules.attempt_began_at,
    "It counts the grace periods from the start of the attempt, not from its creations.",
    "AW-032",
)
def graces_run_while_it_creates(self: Rules, aw: Object) -> Micros:
    return stamp_of(aw, Stamp.ATTEMPT_STARTED) or 0
