"""A timer starts at the wrong moment, or runs too long or too short."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase, Reason, Stamp
from reference_controller.appwrapper.observation import Observation, PodCounts
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import phase_of, stamp_of
from vocabulary.clock import DAY, MINUTE, Micros
from vocabulary.objects import Object, condition


@mutant(Rules.failure_grace_ends_at, "Failed pods lead to a reset at once.", "AW-040", "AW-004")
def no_failure_grace(self: Rules, since_us: Micros, reason: str, parameters: Parameters) -> Micros:
    if reason == Reason.FOUND_FAILED_PODS:
        return since_us
    return Rules.failure_grace_ends_at(self, since_us, reason, parameters)


@mutant(
    Rules.failure_grace_ends_at,
    "The failure grace period lasts half of what it should.",
    "AW-040",
    "AW-004",
)
def failure_grace_too_short(
    self: Rules, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    right_us = Rules.failure_grace_ends_at(self, since_us, reason, parameters)
    return since_us + (right_us - since_us) // 2


@mutant(
    Rules.failure_grace_ends_at,
    "Too few pods lead to a reset without the failure grace period.",
    "AW-041",
    "AW-042",
)
def no_grace_for_missing_pods(
    self: Rules, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    if reason == Reason.INSUFFICIENT_PODS_READY:
        return since_us
    return Rules.failure_grace_ends_at(self, since_us, reason, parameters)


def _graced(since_us: Micros, parameters: Parameters) -> Micros:
    return since_us + parameters.failure_grace_us


@mutant(
    Rules.failure_grace_ends_at,
    "The failure grace period is waited before a migration off an unhealthy node.",
    "AW-043",
)
def grace_before_migration(
    self: Rules, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    if reason == Reason.AUTOPILOT_NO_EXECUTE:
        return _graced(since_us, parameters)
    return Rules.failure_grace_ends_at(self, since_us, reason, parameters)


@mutant(
    Rules.failure_grace_ends_at,
    "The failure grace period is waited though a Job or PyTorchJob says that it failed.",
    "AW-044",
)
def grace_after_job_failure(
    self: Rules, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    if reason == Reason.FAILED_COMPONENT:
        return _graced(since_us, parameters)
    return Rules.failure_grace_ends_at(self, since_us, reason, parameters)


@mutant(
    Rules.failure_grace_ends_at,
    "The failure grace period is waited though a component was deleted by somebody.",
    "AW-045",
)
def grace_after_external_deletion(
    self: Rules, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    if reason == Reason.MISSING_COMPONENT:
        return _graced(since_us, parameters)
    return Rules.failure_grace_ends_at(self, since_us, reason, parameters)


@mutant(
    Rules.failed_pods,
    "A workload that became healthy again within the failure grace period is reset anyway.",
    "AW-046",
)
def recovery_is_ignored(self: Rules, seen: Observation, census: Sequence[PodCounts]) -> int:
    was_ill = stamp_of(seen.aw, Stamp.UNHEALTHY_SINCE) is not None
    return Rules.failed_pods(self, seen, census) or int(was_ill)


@mutant(
    Rules.renews_grace,
    "The failure grace period is counted from the first failure of an attempt, recovered or not.",
    "AW-004",
)
def second_sickness_gets_no_grace(self: Rules, aw: Object) -> bool:
    return False


@mutant(Rules.admission_ends_at, "Pods have to be there at once.", "AW-031", "AW-041")
def no_admission_grace(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return self.attempt_began_at(aw)


@mutant(
    Rules.warmup_ends_at,
    "Pods have to run when the admission grace period is over.",
    "AW-032",
    "AW-042",
)
def warmup_is_admission(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return self.admission_ends_at(aw, parameters)


@mutant(
    Rules.admission_ends_at,
    "Pods have to be there only when the warm-up grace period is over.",
    "AW-031",
)
def admission_is_warmup(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return self.warmup_ends_at(aw, parameters)


@mutant(Rules.pause_ends_at, "The next attempt begins as soon as all is gone.", "AW-047", "AW-049")
def no_retry_pause(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    return stamp_of(aw, Stamp.PAUSE_STARTED)


@mutant(Rules.pause_ends_at, "The retry pause lasts half of what it should.", "AW-049", "AW-047")
def pause_too_short(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    started_us = stamp_of(aw, Stamp.PAUSE_STARTED)
    return None if started_us is None else started_us + parameters.retry_pause_us // 2


@mutant(
    Rules.pause_starts_at,
    "The retry pause is counted from the moment at which deletion began.",
    "AW-049",
    "AW-047",
)
def pause_counts_from_the_reset(self: Rules, aw: Object, complete_us: Micros) -> Micros:
    started_us = stamp_of(aw, Stamp.DELETION_STARTED)
    return complete_us if started_us is None else started_us


@mutant(Rules.pause_ends_at, "The retry pause never ends.", "AW-006", "INV-8")
def never_recreates(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    right_us = Rules.pause_ends_at(self, aw, parameters)
    return None if right_us is None else right_us + 365 * DAY


@mutant(
    Rules.failed_deletion_starts_at,
    "A Failed workload is deleted at once, whatever the DeletionOnFailureGracePeriod.",
    "AW-060",
    "AW-076",
)
def debug_delay_ignored(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return stamp_of(aw, Stamp.FAILED) or 0


@mutant(
    Rules.failed_deletion_starts_at,
    "The DeletionOnFailureGracePeriod is kept only where retries came to their end.",
    "AW-060",
)
def no_debug_delay_after_external_deletion(
    self: Rules, aw: Object, parameters: Parameters
) -> Micros:
    if (condition(aw, Condition.UNHEALTHY) or {}).get("reason") == Reason.MISSING_COMPONENT:
        return stamp_of(aw, Stamp.FAILED) or 0
    return Rules.failed_deletion_starts_at(self, aw, parameters)


@mutant(
    Rules.failed_deletion_starts_at,
    "The DeletionOnFailureGracePeriod is counted from the start of the last attempt.",
    "AW-060",
    "MLB-025",
)
def debug_delay_counts_from_the_attempt(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    began_us = stamp_of(aw, Stamp.ATTEMPT_STARTED) or 0
    return began_us + parameters.deletion_on_failure_grace_us


@mutant(
    Rules.failed_deletion_starts_at,
    "A Failed workload is kept for five minutes though nobody asked for it.",
    "AW-062",
    "AW-053",
)
def failed_is_always_kept_a_while(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return Rules.failed_deletion_starts_at(self, aw, parameters) + 5 * MINUTE


@mutant(
    Rules.failed_deletion_starts_at,
    "The resources of a Failed workload are never deleted.",
    "AW-053",
    "AW-062",
    "MLB-024",
    "INV-8",
)
def failed_is_kept_for_ever(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return Rules.failed_deletion_starts_at(self, aw, parameters) + 365 * DAY


@mutant(
    Rules.success_ttl_ends_at,
    "The SuccessTTL is counted from the start of the attempt, not from Succeeded.",
    "AW-063",
    "AW-064",
)
def success_ttl_counts_from_the_attempt(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return (stamp_of(aw, Stamp.ATTEMPT_STARTED) or 0) + parameters.success_ttl_us


@mutant(
    Rules.success_ttl_ends_at,
    "The pods of a Succeeded workload are deleted at once, logs and all.",
    "AW-064",
    "MLB-052",
)
def success_is_cleaned_up_at_once(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return stamp_of(aw, Stamp.SUCCEEDED) or 0


@mutant(
    Rules.success_ttl_ends_at, "The resources of a Succeeded workload are never deleted.", "AW-063"
)
def success_is_kept_for_ever(self: Rules, aw: Object, parameters: Parameters) -> Micros:
    return Rules.success_ttl_ends_at(self, aw, parameters) + 365 * DAY


@mutant(
    Rules.forceful_from,
    "What remains is deleted by force when half of the grace period is over.",
    "AW-011",
    "INV-10",
)
def forces_too_early(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    started_us = stamp_of(aw, Stamp.DELETION_STARTED)
    if started_us is None:
        return None
    return started_us + parameters.forceful_deletion_grace_us // 2


@mutant(
    Rules.forceful_from,
    "The forceful deletion grace period is counted from Failed, not from the deletion's start.",
    "AW-011",
    "INV-10",
)
def force_counts_from_failure(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    right_us = Rules.forceful_from(self, aw, parameters)
    failed_us = stamp_of(aw, Stamp.FAILED)
    if right_us is None or failed_us is None:
        return right_us
    return failed_us + parameters.forceful_deletion_grace_us


@mutant(
    Rules.forceful_from,
    "What is left when the SuccessTTL is over is never deleted by force.",
    "AW-012",
)
def what_succeeded_is_never_forced(
    self: Rules, aw: Object, parameters: Parameters
) -> Micros | None:
    if phase_of(aw) == Phase.SUCCEEDED:
        return None
    return Rules.forceful_from(self, aw, parameters)


@mutant(Rules.forceful_from, "Nothing is ever deleted by force.", "AW-012", "AW-007", "INV-8")
def never_forces(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    return None


@mutant(
    Rules.forceful_from, "Force is used only after ten times the grace period.", "AW-012", "MLB-024"
)
def forces_much_too_late(self: Rules, aw: Object, parameters: Parameters) -> Micros | None:
    started_us = stamp_of(aw, Stamp.DELETION_STARTED)
    if started_us is None:
        return None
    return started_us + 10 * parameters.forceful_deletion_grace_us
