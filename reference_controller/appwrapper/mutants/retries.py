"""Resets are miscounted, or the workload goes where it must not."""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Condition, Phase, Reason
from reference_controller.appwrapper.observation import Component, Observation
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import attempt_of, is_suspended, phase_of, resets_of
from vocabulary.objects import Object, condition


@mutant(Rules.is_within_limit, "A limit of N allows N + 1 resets.", "AW-052", "AW-056", "MLB-027")
def one_reset_too_many(self: Rules, resets: int, limit: int) -> bool:
    return resets <= limit


@mutant(Rules.is_within_limit, "A limit of N allows N - 1 resets.", "AW-052")
def one_reset_too_few(self: Rules, resets: int, limit: int) -> bool:
    return resets + 1 < limit


@mutant(Rules.is_within_limit, "A negative RetryLimit allows any number of resets.", "AW-075")
def negative_limit_is_no_limit(self: Rules, resets: int, limit: int) -> bool:
    return limit < 0 or resets < limit


@mutant(Rules.resets_after, "The retry counter stays where it is.", "AW-051", "AW-052")
def resets_not_counted(self: Rules, reason: str, aw: Object) -> int:
    return resets_of(aw)


@mutant(Rules.resets_after, "Each reset counts twice.", "AW-051", "INV-5", "AW-052")
def resets_counted_twice(self: Rules, reason: str, aw: Object) -> int:
    right = Rules.resets_after(self, reason, aw)
    return right + (right - resets_of(aw))


@mutant(
    Rules.resets_after,
    "A reset that Autopilot asked for increments the retry counter.",
    "AW-055",
    "INV-5",
)
def migration_counts(self: Rules, reason: str, aw: Object) -> int:
    return resets_of(aw) + 1


@mutant(
    Rules.resets_after,
    "A reset because of a failed Job or PyTorchJob does not increment the retry counter.",
    "AW-051",
)
def job_failure_not_counted(self: Rules, reason: str, aw: Object) -> int:
    if reason == Reason.FAILED_COMPONENT:
        return resets_of(aw)
    return Rules.resets_after(self, reason, aw)


@mutant(
    Rules.phase_after, "Resets that Autopilot asks for are not subject to the RetryLimit.", "AW-056"
)
def migration_ignores_limit(self: Rules, reason: str, aw: Object, parameters: Parameters) -> str:
    if reason == Reason.AUTOPILOT_NO_EXECUTE:
        return Phase.RESETTING
    return Rules.phase_after(self, reason, aw, parameters)


@mutant(Rules.is_terminal, "A workload on an unhealthy node is failed, not migrated.", "AW-002")
def migration_fails(self: Rules, reason: str) -> bool:
    return reason == Reason.AUTOPILOT_NO_EXECUTE or Rules.is_terminal(self, reason)


@mutant(
    Rules.is_terminal, "A failed Job or PyTorchJob fails the AppWrapper without a retry.", "AW-052"
)
def job_failure_is_final(self: Rules, reason: str) -> bool:
    return reason == Reason.FAILED_COMPONENT or Rules.is_terminal(self, reason)


@mutant(Rules.is_terminal, "A component that somebody deleted is resurrected by a reset.", "AW-057")
def external_deletion_is_retried(self: Rules, reason: str) -> bool:
    return False


@mutant(
    Rules.resets_on_resume,
    "Suspending and resuming starts the retry counter anew.",
    "INV-5",
    "AW-052",
)
def resume_forgets_resets(self: Rules, aw: Object) -> int:
    return 0 if phase_of(aw) == Phase.SUSPENDED else resets_of(aw)


@mutant(
    Rules.resets_on_resume,
    "Each new attempt starts the retry counter anew.",
    "INV-5",
    "AW-051",
    "AW-052",
)
def every_attempt_forgets_resets(self: Rules, aw: Object) -> int:
    return 0


@mutant(
    Rules.honours_suspend,
    "A suspension is not honoured before all components are created.",
    "AW-054",
)
def suspend_waits_while_resuming(self: Rules, phase: str, aw: Object) -> bool:
    return phase != Phase.RESUMING and Rules.honours_suspend(self, phase, aw)


@mutant(Rules.honours_suspend, "A suspension of a Running workload is ignored.", "AW-054")
def suspend_waits_while_running(self: Rules, phase: str, aw: Object) -> bool:
    return phase != Phase.RUNNING and Rules.honours_suspend(self, phase, aw)


@mutant(
    Rules.honours_suspend, "A suspension is not honoured while a reset deletes or pauses.", "AW-054"
)
def suspend_waits_for_the_reset(self: Rules, phase: str, aw: Object) -> bool:
    return phase != Phase.RESETTING and Rules.honours_suspend(self, phase, aw)


@mutant(
    Rules.honours_suspend,
    "Suspending a Failed AppWrapper brings it back to Suspended.",
    "MLB-042",
    "INV-6",
    "MLB-044",
)
def failed_can_be_suspended(self: Rules, phase: str, aw: Object) -> bool:
    return Rules.honours_suspend(self, phase, aw) or (phase == Phase.FAILED and is_suspended(aw))


@mutant(
    Rules.honours_suspend,
    "Suspending a Succeeded AppWrapper brings it back to Suspended.",
    "INV-6",
    "MLB-044",
)
def succeeded_can_be_suspended(self: Rules, phase: str, aw: Object) -> bool:
    succeeded = phase == Phase.SUCCEEDED and is_suspended(aw)
    return succeeded or Rules.honours_suspend(self, phase, aw)


@mutant(
    Rules.may_resume,
    "Suspending turns back to Resuming when the suspension is withdrawn, before it cleaned up.",
    "MLB-043",
    "INV-6",
    "MLB-044",
)
def suspending_turns_back(self: Rules, phase: str, aw: Object) -> bool:
    turns_back = phase == Phase.SUSPENDING and not is_suspended(aw)
    return turns_back or Rules.may_resume(self, phase, aw)


@mutant(Rules.may_resume, "An AppWrapper that was suspended once is never resumed.", "INV-8")
def stays_suspended(self: Rules, phase: str, aw: Object) -> bool:
    return Rules.may_resume(self, phase, aw) and not (aw.get("status") or {}).get("attempt")


@mutant(
    Rules.phase_after,
    "A reset is called Restarting, a phase that nobody knows.",
    "MLB-041",
    "INV-6",
    "INV-8",
)
def invents_a_phase(self: Rules, reason: str, aw: Object, parameters: Parameters) -> str:
    right = Rules.phase_after(self, reason, aw, parameters)
    return "Restarting" if right == Phase.RESETTING else right


@mutant(
    Rules.finalizer_patch, "The controller writes spec.suspend, which belongs to Kueue.", "MLB-045"
)
def suspends_by_itself(self: Rules, aw: Object, finalizers: tuple[str, ...]) -> Object:
    return {**Rules.finalizer_patch(self, aw, finalizers), "spec": {"suspend": True}}


@mutant(Rules.resets_on_success, "Success starts the retry counter anew.", "INV-5")
def counter_lost_on_success(self: Rules, aw: Object) -> int:
    return 0


@mutant(
    Rules.resets_after,
    "A reset that Autopilot asked for starts the retry counter anew.",
    "INV-5",
    "AW-055",
)
def migration_forgets_resets(self: Rules, reason: str, aw: Object) -> int:
    return 0 if reason == Reason.AUTOPILOT_NO_EXECUTE else Rules.resets_after(self, reason, aw)


@mutant(
    Rules.phase_after, "Attempts that ended in a migration count against the RetryLimit.", "AW-002"
)
def migrations_use_up_retries(self: Rules, reason: str, aw: Object, parameters: Parameters) -> str:
    if self.is_terminal(reason):
        return Phase.FAILED
    within = self.is_within_limit(attempt_of(aw) - 1, parameters.retry_limit)
    return Phase.RESETTING if within else Phase.FAILED


@mutant(
    Rules.resets_after,
    "A reset increments the retry counter by the number of pods that failed.",
    "AW-051",
    "INV-5",
)
def each_failed_pod_counts(self: Rules, reason: str, aw: Object) -> int:
    shown = condition(aw, Condition.UNHEALTHY) or {}
    if reason != Reason.FOUND_FAILED_PODS or shown.get("reason") != reason:
        return Rules.resets_after(self, reason, aw)
    return resets_of(aw) + int(str(shown.get("message", "1")).split()[0])


@mutant(
    Rules.resets_after,
    "After a reset, an attempt whose pods never all ran does not increment the retry counter.",
    "AW-051",
)
def later_attempts_count_only_once_they_ran(self: Rules, reason: str, aw: Object) -> int:
    if resets_of(aw) and reason == Reason.INSUFFICIENT_PODS_READY:
        return resets_of(aw)
    return Rules.resets_after(self, reason, aw)


@mutant(
    Rules.resets_after,
    "An attempt whose components could not be created does not increment the retry counter.",
    "AW-051",
)
def refused_attempts_are_not_counted(self: Rules, reason: str, aw: Object) -> int:
    if reason == Reason.CREATE_FAILED:
        return resets_of(aw)
    return Rules.resets_after(self, reason, aw)


@mutant(
    Rules.honours_suspend,
    "A suspension is not honoured while a second attempt is being created.",
    "AW-054",
)
def suspend_waits_for_a_later_attempt(self: Rules, phase: str, aw: Object) -> bool:
    is_later = phase == Phase.RESUMING and attempt_of(aw) > 1
    return not is_later and Rules.honours_suspend(self, phase, aw)


@mutant(
    Rules.missing,
    "While failed pods are borne, components that somebody deletes are not missed.",
    "AW-035",
    "AW-057",
)
def failing_workloads_lose_components_unnoticed(
    self: Rules, seen: Observation
) -> tuple[Component, ...]:
    shown = condition(seen.aw, Condition.UNHEALTHY) or {}
    if shown.get("reason") == Reason.FOUND_FAILED_PODS:
        return ()
    return Rules.missing(self, seen)


@mutant(
    Rules.is_missing,
    "After a reset, components that somebody deletes are not missed.",
    "AW-035",
    "AW-057",
)
def later_attempts_lose_components_unnoticed(self: Rules, component: Component) -> bool:
    return component.record.get("attempt") == 1 and Rules.is_missing(self, component)


@mutant(
    Rules.is_missing,
    "A component of a kind that is not watched is not missed when somebody deletes it.",
    "AW-035",
    "AW-057",
)
def unknown_kinds_are_not_missed(self: Rules, component: Component) -> bool:
    return component.is_watched and Rules.is_missing(self, component)


@mutant(
    Rules.waits_for_cleanup,
    "An AppWrapper that is deleted while it is suspending goes before its resources.",
    "AW-013",
    "INV-7",
)
def deleted_while_suspending_is_let_go(self: Rules, aw: Object) -> bool:
    return phase_of(aw) != Phase.SUSPENDING and Rules.waits_for_cleanup(self, aw)


@mutant(
    Rules.waits_for_cleanup,
    "An AppWrapper that is deleted in the middle of a reset goes before its resources.",
    "AW-013",
    "INV-7",
)
def deleted_in_a_reset_is_let_go(self: Rules, aw: Object) -> bool:
    return phase_of(aw) != Phase.RESETTING and Rules.waits_for_cleanup(self, aw)


@mutant(
    Rules.waits_for_cleanup,
    "An AppWrapper that is deleted when it has succeeded goes before its resources.",
    "AW-013",
    "INV-7",
)
def deleted_when_done_is_let_go(self: Rules, aw: Object) -> bool:
    return phase_of(aw) != Phase.SUCCEEDED and Rules.waits_for_cleanup(self, aw)
