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


@mutant("no-failure-grace", "Failed pods lead to a reset at once.", "AW-040", "AW-004")
class NoFailureGrace(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        if reason == Reason.FOUND_FAILED_PODS:
            return since_us
        return super().failure_grace_ends_at(since_us, reason, parameters)


@mutant(
    "failure-grace-too-short",
    "The failure grace period lasts half of what it should.",
    "AW-040",
    "AW-004",
)
class FailureGraceTooShort(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        right_us = super().failure_grace_ends_at(since_us, reason, parameters)
        return since_us + (right_us - since_us) // 2


@mutant(
    "no-grace-for-missing-pods",
    "Too few pods lead to a reset without the failure grace period.",
    "AW-041",
    "AW-042",
)
class NoGraceForMissingPods(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        if reason == Reason.INSUFFICIENT_PODS_READY:
            return since_us
        return super().failure_grace_ends_at(since_us, reason, parameters)


def _graced(since_us: Micros, parameters: Parameters) -> Micros:
    return since_us + parameters.failure_grace_us


@mutant(
    "grace-before-migration",
    "The failure grace period is waited before a migration off an unhealthy node.",
    "AW-043",
)
class GraceBeforeMigration(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        if reason == Reason.AUTOPILOT_NO_EXECUTE:
            return _graced(since_us, parameters)
        return super().failure_grace_ends_at(since_us, reason, parameters)


@mutant(
    "grace-after-job-failure",
    "The failure grace period is waited though a Job or PyTorchJob says that it failed.",
    "AW-044",
)
class GraceAfterJobFailure(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        if reason == Reason.FAILED_COMPONENT:
            return _graced(since_us, parameters)
        return super().failure_grace_ends_at(since_us, reason, parameters)


@mutant(
    "grace-after-external-deletion",
    "The failure grace period is waited though a component was deleted by somebody.",
    "AW-045",
)
class GraceAfterExternalDeletion(Rules):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        if reason == Reason.MISSING_COMPONENT:
            return _graced(since_us, parameters)
        return super().failure_grace_ends_at(since_us, reason, parameters)


@mutant(
    "recovery-is-ignored",
    "A workload that became healthy again within the failure grace period is reset anyway.",
    "AW-046",
)
class RecoveryIsIgnored(Rules):
    def failed_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        was_ill = stamp_of(seen.aw, Stamp.UNHEALTHY_SINCE) is not None
        return super().failed_pods(seen, census) or int(was_ill)


@mutant(
    "second-sickness-gets-no-grace",
    "The failure grace period is counted from the first failure of an attempt, recovered or not.",
    "AW-004",
)
class SecondSicknessGetsNoGrace(Rules):
    def renews_grace(self, aw: Object) -> bool:  # noqa: ARG002
        return False


@mutant("no-admission-grace", "Pods have to be there at once.", "AW-031", "AW-041")
class NoAdmissionGrace(Rules):
    def admission_ends_at(self, aw: Object, parameters: Parameters) -> Micros:  # noqa: ARG002
        return self.attempt_began_at(aw)


@mutant(
    "warmup-is-admission",
    "Pods have to run when the admission grace period is over.",
    "AW-032",
    "AW-042",
)
class WarmupIsAdmission(Rules):
    def warmup_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        return self.admission_ends_at(aw, parameters)


@mutant(
    "admission-is-warmup",
    "Pods have to be there only when the warm-up grace period is over.",
    "AW-031",
)
class AdmissionIsWarmup(Rules):
    def admission_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        return self.warmup_ends_at(aw, parameters)


@mutant("no-retry-pause", "The next attempt begins as soon as all is gone.", "AW-047", "AW-049")
class NoRetryPause(Rules):
    def pause_ends_at(self, aw: Object, parameters: Parameters) -> Micros | None:  # noqa: ARG002
        return stamp_of(aw, Stamp.PAUSE_STARTED)


@mutant(
    "pause-too-short",
    "The retry pause lasts half of what it should.",
    "AW-049",
    "AW-047",
)
class PauseTooShort(Rules):
    def pause_ends_at(self, aw: Object, parameters: Parameters) -> Micros | None:
        started_us = stamp_of(aw, Stamp.PAUSE_STARTED)
        return None if started_us is None else started_us + parameters.retry_pause_us // 2


@mutant(
    "pause-counts-from-the-reset",
    "The retry pause is counted from the moment at which deletion began.",
    "AW-049",
    "AW-047",
)
class PauseCountsFromTheReset(Rules):
    def pause_starts_at(self, aw: Object, complete_us: Micros) -> Micros:
        started_us = stamp_of(aw, Stamp.DELETION_STARTED)
        return complete_us if started_us is None else started_us


@mutant("never-recreates", "The retry pause never ends.", "AW-006", "INV-8")
class NeverRecreates(Rules):
    def pause_ends_at(self, aw: Object, parameters: Parameters) -> Micros | None:
        right_us = super().pause_ends_at(aw, parameters)
        return None if right_us is None else right_us + 365 * DAY


@mutant(
    "debug-delay-ignored",
    "A Failed workload is deleted at once, whatever the DeletionOnFailureGracePeriod.",
    "AW-060",
    "AW-076",
)
class DebugDelayIgnored(Rules):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:  # noqa: ARG002
        return stamp_of(aw, Stamp.FAILED) or 0


@mutant(
    "no-debug-delay-after-external-deletion",
    "The DeletionOnFailureGracePeriod is kept only where retries came to their end.",
    "AW-060",
)
class NoDebugDelayAfterExternalDeletion(Rules):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        if (condition(aw, Condition.UNHEALTHY) or {}).get("reason") == Reason.MISSING_COMPONENT:
            return stamp_of(aw, Stamp.FAILED) or 0
        return super().failed_deletion_starts_at(aw, parameters)


@mutant(
    "debug-delay-counts-from-the-attempt",
    "The DeletionOnFailureGracePeriod is counted from the start of the last attempt.",
    "AW-060",
)
class DebugDelayCountsFromTheAttempt(Rules):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        began_us = stamp_of(aw, Stamp.ATTEMPT_STARTED) or 0
        return began_us + parameters.deletion_on_failure_grace_us


@mutant(
    "failed-is-always-kept-a-while",
    "A Failed workload is kept for five minutes though nobody asked for it.",
    "AW-062",
    "AW-053",
)
class FailedIsAlwaysKeptAWhile(Rules):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        return super().failed_deletion_starts_at(aw, parameters) + 5 * MINUTE


@mutant(
    "failed-is-kept-for-ever",
    "The resources of a Failed workload are never deleted.",
    "AW-053",
    "AW-062",
    "MLB-024",
    "INV-8",
)
class FailedIsKeptForEver(Rules):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        return super().failed_deletion_starts_at(aw, parameters) + 365 * DAY


@mutant(
    "success-ttl-counts-from-the-attempt",
    "The SuccessTTL is counted from the start of the attempt, not from Succeeded.",
    "AW-063",
    "AW-064",
)
class SuccessTtlCountsFromTheAttempt(Rules):
    def success_ttl_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        return (stamp_of(aw, Stamp.ATTEMPT_STARTED) or 0) + parameters.success_ttl_us


@mutant(
    "success-is-cleaned-up-at-once",
    "The pods of a Succeeded workload are deleted at once, logs and all.",
    "AW-064",
    "MLB-052",
)
class SuccessIsCleanedUpAtOnce(Rules):
    def success_ttl_ends_at(self, aw: Object, parameters: Parameters) -> Micros:  # noqa: ARG002
        return stamp_of(aw, Stamp.SUCCEEDED) or 0


@mutant(
    "success-is-kept-for-ever",
    "The resources of a Succeeded workload are never deleted.",
    "AW-063",
)
class SuccessIsKeptForEver(Rules):
    def success_ttl_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        return super().success_ttl_ends_at(aw, parameters) + 365 * DAY


@mutant(
    "forces-too-early",
    "What remains is deleted by force when half of the grace period is over.",
    "AW-011",
    "INV-10",
)
class ForcesTooEarly(Rules):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        started_us = stamp_of(aw, Stamp.DELETION_STARTED)
        if started_us is None:
            return None
        return started_us + parameters.forceful_deletion_grace_us // 2


@mutant(
    "force-counts-from-failure",
    "The forceful deletion grace period is counted from Failed, not from the deletion's start.",
    "AW-011",
    "INV-10",
)
class ForceCountsFromFailure(Rules):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        right_us = super().forceful_from(aw, parameters)
        failed_us = stamp_of(aw, Stamp.FAILED)
        if right_us is None or failed_us is None:
            return right_us
        return failed_us + parameters.forceful_deletion_grace_us


@mutant(
    "what-succeeded-is-never-forced",
    "What is left when the SuccessTTL is over is never deleted by force.",
    "AW-012",
)
class WhatSucceededIsNeverForced(Rules):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        if phase_of(aw) == Phase.SUCCEEDED:
            return None
        return super().forceful_from(aw, parameters)


@mutant("never-forces", "Nothing is ever deleted by force.", "AW-012", "AW-007", "INV-8")
class NeverForces(Rules):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:  # noqa: ARG002
        return None


@mutant(
    "forces-much-too-late",
    "Force is used only after ten times the grace period.",
    "AW-012",
    "MLB-024",
)
class ForcesMuchTooLate(Rules):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        started_us = stamp_of(aw, Stamp.DELETION_STARTED)
        if started_us is None:
            return None
        return started_us + 10 * parameters.forceful_deletion_grace_us
