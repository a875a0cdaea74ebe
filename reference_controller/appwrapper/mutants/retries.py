"""Resets are miscounted, or the workload goes where it must not."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase, Reason
from reference_controller.appwrapper.observation import Component, Observation
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import attempt_of, is_suspended, phase_of, resets_of
from vocabulary.objects import Object, condition


@mutant("one-reset-too-many", "A limit of N allows N + 1 resets.", "AW-052", "AW-056")
class OneResetTooMany(Rules):
    def is_within_limit(self, resets: int, limit: int) -> bool:
        return resets <= limit


@mutant("one-reset-too-few", "A limit of N allows N - 1 resets.", "AW-052")
class OneResetTooFew(Rules):
    def is_within_limit(self, resets: int, limit: int) -> bool:
        return resets + 1 < limit


@mutant(
    "negative-limit-is-no-limit",
    "A negative RetryLimit allows any number of resets.",
    "AW-075",
)
class NegativeLimitIsNoLimit(Rules):
    def is_within_limit(self, resets: int, limit: int) -> bool:
        return limit < 0 or resets < limit


@mutant("resets-not-counted", "The retry counter stays where it is.", "AW-051", "AW-052")
class ResetsNotCounted(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:  # noqa: ARG002
        return resets_of(aw)


@mutant("resets-counted-twice", "Each reset counts twice.", "AW-051", "INV-5", "AW-052")
class ResetsCountedTwice(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:
        right = super().resets_after(reason, aw)
        return right + (right - resets_of(aw))


@mutant(
    "migration-counts",
    "A reset that Autopilot asked for increments the retry counter.",
    "AW-055",
    "INV-5",
)
class MigrationCounts(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:  # noqa: ARG002
        return resets_of(aw) + 1


@mutant(
    "job-failure-not-counted",
    "A reset because of a failed Job or PyTorchJob does not increment the retry counter.",
    "AW-051",
)
class JobFailureNotCounted(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:
        if reason == Reason.FAILED_COMPONENT:
            return resets_of(aw)
        return super().resets_after(reason, aw)


@mutant(
    "migration-ignores-limit",
    "Resets that Autopilot asks for are not subject to the RetryLimit.",
    "AW-056",
)
class MigrationIgnoresLimit(Rules):
    def phase_after(self, reason: str, aw: Object, parameters: Parameters) -> str:
        if reason == Reason.AUTOPILOT_NO_EXECUTE:
            return Phase.RESETTING
        return super().phase_after(reason, aw, parameters)


@mutant(
    "migration-fails",
    "A workload on an unhealthy node is failed, not migrated.",
    "AW-002",
)
class MigrationFails(Rules):
    def is_terminal(self, reason: str) -> bool:
        return reason == Reason.AUTOPILOT_NO_EXECUTE or super().is_terminal(reason)


@mutant(
    "job-failure-is-final",
    "A failed Job or PyTorchJob fails the AppWrapper without a retry.",
    "AW-052",
)
class JobFailureIsFinal(Rules):
    def is_terminal(self, reason: str) -> bool:
        return reason == Reason.FAILED_COMPONENT or super().is_terminal(reason)


@mutant(
    "external-deletion-is-retried",
    "A component that somebody deleted is resurrected by a reset.",
    "AW-057",
)
class ExternalDeletionIsRetried(Rules):
    def is_terminal(self, reason: str) -> bool:  # noqa: ARG002
        return False


@mutant(
    "resume-forgets-resets",
    "Suspending and resuming starts the retry counter anew.",
    "INV-5",
    "AW-052",
)
class ResumeForgetsResets(Rules):
    def resets_on_resume(self, aw: Object) -> int:
        return 0 if phase_of(aw) == Phase.SUSPENDED else resets_of(aw)


@mutant(
    "every-attempt-forgets-resets",
    "Each new attempt starts the retry counter anew.",
    "INV-5",
    "AW-051",
    "AW-052",
)
class EveryAttemptForgetsResets(Rules):
    def resets_on_resume(self, aw: Object) -> int:  # noqa: ARG002
        return 0


@mutant(
    "suspend-waits-while-resuming",
    "A suspension is not honoured before all components are created.",
    "AW-054",
)
class SuspendWaitsWhileResuming(Rules):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        return phase != Phase.RESUMING and super().honours_suspend(phase, aw)


@mutant("suspend-waits-while-running", "A suspension of a Running workload is ignored.", "AW-054")
class SuspendWaitsWhileRunning(Rules):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        return phase != Phase.RUNNING and super().honours_suspend(phase, aw)


@mutant(
    "suspend-waits-for-the-reset",
    "A suspension is not honoured while a reset deletes or pauses.",
    "AW-054",
)
class SuspendWaitsForTheReset(Rules):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        return phase != Phase.RESETTING and super().honours_suspend(phase, aw)


@mutant(
    "failed-can-be-suspended",
    "Suspending a Failed AppWrapper brings it back to Suspended.",
    "MLB-042",
    "INV-6",
    "MLB-044",
)
class FailedCanBeSuspended(Rules):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        return super().honours_suspend(phase, aw) or (phase == Phase.FAILED and is_suspended(aw))


@mutant(
    "succeeded-can-be-suspended",
    "Suspending a Succeeded AppWrapper brings it back to Suspended.",
    "INV-6",
    "MLB-044",
)
class SucceededCanBeSuspended(Rules):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        succeeded = phase == Phase.SUCCEEDED and is_suspended(aw)
        return succeeded or super().honours_suspend(phase, aw)


@mutant(
    "suspending-turns-back",
    "Suspending turns back to Resuming when the suspension is withdrawn, before it cleaned up.",
    "MLB-043",
    "INV-6",
    "MLB-044",
)
class SuspendingTurnsBack(Rules):
    def may_resume(self, phase: str, aw: Object) -> bool:
        turns_back = phase == Phase.SUSPENDING and not is_suspended(aw)
        return turns_back or super().may_resume(phase, aw)


@mutant(
    "stays-suspended",
    "An AppWrapper that was suspended once is never resumed.",
    "INV-8",
)
class StaysSuspended(Rules):
    def may_resume(self, phase: str, aw: Object) -> bool:
        return super().may_resume(phase, aw) and not (aw.get("status") or {}).get("attempt")


@mutant(
    "invents-a-phase",
    "A reset is called Restarting, a phase that nobody knows.",
    "MLB-041",
    "INV-6",
    "INV-8",
)
class InventsAPhase(Rules):
    def phase_after(self, reason: str, aw: Object, parameters: Parameters) -> str:
        right = super().phase_after(reason, aw, parameters)
        return "Restarting" if right == Phase.RESETTING else right


@mutant(
    "suspends-by-itself",
    "The controller writes spec.suspend, which belongs to Kueue.",
    "MLB-045",
)
class SuspendsByItself(Rules):
    def finalizer_patch(self, aw: Object, finalizers: tuple[str, ...]) -> Object:
        return {**super().finalizer_patch(aw, finalizers), "spec": {"suspend": True}}


@mutant(
    "counter-lost-on-success",
    "Success starts the retry counter anew.",
    "INV-5",
)
class CounterLostOnSuccess(Rules):
    def resets_on_success(self, aw: Object) -> int:  # noqa: ARG002
        return 0


@mutant(
    "migration-forgets-resets",
    "A reset that Autopilot asked for starts the retry counter anew.",
    "INV-5",
    "AW-055",
)
class MigrationForgetsResets(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:
        return 0 if reason == Reason.AUTOPILOT_NO_EXECUTE else super().resets_after(reason, aw)


@mutant(
    "migrations-use-up-retries",
    "Attempts that ended in a migration count against the RetryLimit.",
    "AW-002",
)
class MigrationsUseUpRetries(Rules):
    def phase_after(self, reason: str, aw: Object, parameters: Parameters) -> str:
        if self.is_terminal(reason):
            return Phase.FAILED
        within = self.is_within_limit(attempt_of(aw) - 1, parameters.retry_limit)
        return Phase.RESETTING if within else Phase.FAILED


@mutant(
    "each-failed-pod-counts",
    "A reset increments the retry counter by the number of pods that failed.",
    "AW-051",
    "INV-5",
)
class EachFailedPodCounts(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:
        shown = condition(aw, Condition.UNHEALTHY) or {}
        if reason != Reason.FOUND_FAILED_PODS or shown.get("reason") != reason:
            return super().resets_after(reason, aw)
        return resets_of(aw) + int(str(shown.get("message", "1")).split()[0])


@mutant(
    "later-attempts-count-only-once-they-ran",
    "After a reset, an attempt whose pods never all ran does not increment the retry counter.",
    "AW-051",
)
class LaterAttemptsCountOnlyOnceTheyRan(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:
        if resets_of(aw) and reason == Reason.INSUFFICIENT_PODS_READY:
            return resets_of(aw)
        return super().resets_after(reason, aw)


@mutant(
    "refused-attempts-are-not-counted",
    "An attempt whose components could not be created does not increment the retry counter.",
    "AW-051",
)
class RefusedAttemptsAreNotCounted(Rules):
    def resets_after(self, reason: str, aw: Object) -> int:
        if reason == Reason.CREATE_FAILED:
            return resets_of(aw)
        return super().resets_after(reason, aw)


@mutant(
    "suspend-waits-for-a-later-attempt",
    "A suspension is not honoured while a second attempt is being created.",
    "AW-054",
)
class SuspendWaitsForALaterAttempt(Rules):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        is_later = phase == Phase.RESUMING and attempt_of(aw) > 1
        return not is_later and super().honours_suspend(phase, aw)


@mutant(
    "failing-workloads-lose-components-unnoticed",
    "While failed pods are borne, components that somebody deletes are not missed.",
    "AW-035",
    "AW-057",
)
class FailingWorkloadsLoseComponentsUnnoticed(Rules):
    def missing(self, seen: Observation) -> tuple[Component, ...]:
        shown = condition(seen.aw, Condition.UNHEALTHY) or {}
        if shown.get("reason") == Reason.FOUND_FAILED_PODS:
            return ()
        return super().missing(seen)


@mutant(
    "later-attempts-lose-components-unnoticed",
    "After a reset, components that somebody deletes are not missed.",
    "AW-035",
    "AW-057",
)
class LaterAttemptsLoseComponentsUnnoticed(Rules):
    def is_missing(self, component: Component) -> bool:
        return component.record.get("attempt") == 1 and super().is_missing(component)


@mutant(
    "unknown-kinds-are-not-missed",
    "A component of a kind that is not watched is not missed when somebody deletes it.",
    "AW-035",
    "AW-057",
)
class UnknownKindsAreNotMissed(Rules):
    def is_missing(self, component: Component) -> bool:
        return component.is_watched and super().is_missing(component)


@mutant(
    "deleted-while-suspending-is-let-go",
    "An AppWrapper that is deleted while it is suspending goes before its resources.",
    "AW-013",
    "INV-7",
)
class DeletedWhileSuspendingIsLetGo(Rules):
    def waits_for_cleanup(self, aw: Object) -> bool:
        return phase_of(aw) != Phase.SUSPENDING and super().waits_for_cleanup(aw)


@mutant(
    "deleted-in-a-reset-is-let-go",
    "An AppWrapper that is deleted in the middle of a reset goes before its resources.",
    "AW-013",
    "INV-7",
)
class DeletedInAResetIsLetGo(Rules):
    def waits_for_cleanup(self, aw: Object) -> bool:
        return phase_of(aw) != Phase.RESETTING and super().waits_for_cleanup(aw)


@mutant(
    "deleted-when-done-is-let-go",
    "An AppWrapper that is deleted when it has succeeded goes before its resources.",
    "AW-013",
    "INV-7",
)
class DeletedWhenDoneIsLetGo(Rules):
    def waits_for_cleanup(self, aw: Object) -> bool:
        return phase_of(aw) != Phase.SUCCEEDED and super().waits_for_cleanup(aw)
