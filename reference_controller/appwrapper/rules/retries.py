"""Reset or fail, and what counts as a retry."""

from __future__ import annotations

from reference_controller.appwrapper.names import Phase, Reason
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.status import is_suspended, resets_of
from vocabulary.objects import Object


class RetryRules:
    """AW-051…057; decisions A1, A15, A16."""

    def phase_after(self, reason: str, aw: Object, parameters: Parameters) -> str:
        """Where an unhealthy AppWrapper goes: Resetting, or Failed for good.

        External deletion fails directly. A limit of N allows exactly N resets, and those
        that Autopilot asks for are subject to it as well.
        """
        if self.is_terminal(reason):
            return Phase.FAILED
        within = self.is_within_limit(resets_of(aw), parameters.retry_limit)
        return Phase.RESETTING if within else Phase.FAILED

    def is_terminal(self, reason: str) -> bool:
        """True if no retry could fix the failure."""
        return reason == Reason.MISSING_COMPONENT

    def is_within_limit(self, resets: int, limit: int) -> bool:
        """True if one more reset is allowed after so many."""
        return resets < limit

    def resets_after(self, reason: str, aw: Object) -> int:
        """The counter once Resetting is entered: written in the same status write, so that no
        crash can count one episode twice or not at all."""
        return resets_of(aw) + (0 if reason == Reason.AUTOPILOT_NO_EXECUTE else 1)

    def resets_on_resume(self, aw: Object) -> int:
        """The counter belongs to the AppWrapper's life: suspend and resume keep it."""
        return resets_of(aw)

    def resets_on_success(self, aw: Object) -> int:
        """And so does success: the counter tells how the workload fared until then."""
        return resets_of(aw)

    def honours_suspend(self, phase: str, aw: Object) -> bool:
        """True if a suspension leads out of this phase now; it does "at any time"."""
        return is_suspended(aw) and phase in (Phase.RESUMING, Phase.RUNNING, Phase.RESETTING)

    def may_resume(self, phase: str, aw: Object) -> bool:
        """True if an attempt may begin because the AppWrapper is not suspended (any more). A
        suspension in progress is cleaned up first, even if it was withdrawn."""
        return phase == Phase.SUSPENDED and not is_suspended(aw)

    def renews_grace(self, aw: Object) -> bool:  # noqa: ARG002
        """True if a workload that recovered gets a new failure grace period when it becomes
        unhealthy again."""
        return True
