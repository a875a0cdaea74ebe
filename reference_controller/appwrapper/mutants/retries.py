"""Resets are miscounted, or the workload goes where it must not."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Phase, Reason
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import is_suspended, phase_of, resets_of
from vocabulary.objects import Object


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
