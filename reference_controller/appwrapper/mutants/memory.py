"""The process remembers what belongs into the status, so that a restart loses it.

- A timer that the process did not see begin is counted from its first look, or taken for over.
- What changed while no process was up is no news to the next one.
- Counts and parameters are those that this process has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import Phase, Reason, Stamp
from reference_controller.appwrapper.observation import Component, Observation, PodCounts
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import attempt_of, is_suspended, phase_of, stamp_of
from vocabulary.clock import SECOND, Micros
from vocabulary.objects import Object, uid_of
from vocabulary.requests import Delete

FRESH_US: Final = 2 * SECOND
"""A timer that began so shortly before the process first looked at it is one that it set itself."""


class Remembering(Rules):
    """The rules of one process, with what that process has seen."""

    def __init__(self) -> None:
        self._clock: Callable[[], Micros] = lambda: 0
        self._looked_us: dict[Micros, Micros] = {}
        """When the process first looked at a timer, by when the timer began."""
        self._stood: set[Hashable] = set()

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        self._clock = clock

    def _known_since(self, began_us: Micros) -> Micros:
        """When a timer began, as far as this process knows."""
        looked_us = self._looked_us.setdefault(began_us, self._clock())
        return began_us if looked_us - began_us <= FRESH_US else looked_us

    def _counted_anew(self, began_us: Micros | None, ends_us: Micros | None) -> Micros | None:
        """The end of a timer that starts again when another process takes over."""
        if began_us is None or ends_us is None:
            return ends_us
        return ends_us + self._known_since(began_us) - began_us

    def _over_if_unknown(self, began_us: Micros | None, ends_us: Micros | None) -> Micros | None:
        """The end of a timer that ends at once when another process takes over."""
        if began_us is None or ends_us is None:
            return ends_us
        return ends_us if self._known_since(began_us) == began_us else began_us

    def _saw_turn(self, key: Hashable, holds: bool) -> bool:
        """True if something holds and this process has seen it not hold."""
        if not holds:
            self._stood.add(key)
        return holds and key in self._stood


@mutant(
    "restart-renews-admission",
    "A restart starts the admission grace period anew.",
    "AW-031",
)
class RestartRenewsAdmission(Remembering):
    def admission_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().admission_ends_at(aw, parameters)
        return self._counted_anew(self.attempt_began_at(aw), ends_us) or 0


@mutant(
    "restart-ends-admission",
    "A restart ends the admission grace period.",
    "AW-031",
    "AW-041",
)
class RestartEndsAdmission(Remembering):
    def admission_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().admission_ends_at(aw, parameters)
        return self._over_if_unknown(self.attempt_began_at(aw), ends_us) or 0


@mutant("restart-renews-warmup", "A restart starts the warm-up grace period anew.", "AW-032")
class RestartRenewsWarmup(Remembering):
    def warmup_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().warmup_ends_at(aw, parameters)
        return self._counted_anew(self.attempt_began_at(aw), ends_us) or 0


@mutant("restart-ends-warmup", "A restart ends the warm-up grace period.", "AW-032", "AW-042")
class RestartEndsWarmup(Remembering):
    def warmup_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().warmup_ends_at(aw, parameters)
        return self._over_if_unknown(self.attempt_began_at(aw), ends_us) or 0


@mutant(
    "restart-renews-failure-grace",
    "A restart starts the failure grace period anew.",
    "AW-040",
)
class RestartRenewsFailureGrace(Remembering):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        ends_us = super().failure_grace_ends_at(since_us, reason, parameters)
        return ends_us + self._known_since(since_us) - since_us


@mutant("restart-ends-failure-grace", "A restart ends the failure grace period.", "AW-040")
class RestartEndsFailureGrace(Remembering):
    def failure_grace_ends_at(
        self, since_us: Micros, reason: str, parameters: Parameters
    ) -> Micros:
        ends_us = super().failure_grace_ends_at(since_us, reason, parameters)
        return ends_us if self._known_since(since_us) == since_us else since_us


@mutant("restart-renews-the-pause", "A restart starts the retry pause anew.", "AW-006", "AW-049")
class RestartRenewsThePause(Remembering):
    def pause_ends_at(self, aw: Object, parameters: Parameters) -> Micros | None:
        ends_us = super().pause_ends_at(aw, parameters)
        return self._counted_anew(stamp_of(aw, Stamp.PAUSE_STARTED), ends_us)


@mutant("restart-ends-the-pause", "A restart ends the retry pause.", "AW-047", "AW-049")
class RestartEndsThePause(Remembering):
    def pause_ends_at(self, aw: Object, parameters: Parameters) -> Micros | None:
        ends_us = super().pause_ends_at(aw, parameters)
        return self._over_if_unknown(stamp_of(aw, Stamp.PAUSE_STARTED), ends_us)


@mutant(
    "restart-renews-the-debug-delay",
    "A restart starts the DeletionOnFailureGracePeriod anew.",
    "AW-060",
)
class RestartRenewsTheDebugDelay(Remembering):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        starts_us = super().failed_deletion_starts_at(aw, parameters)
        return self._counted_anew(stamp_of(aw, Stamp.FAILED), starts_us) or 0


@mutant(
    "restart-ends-the-debug-delay",
    "A restart ends the DeletionOnFailureGracePeriod.",
    "AW-060",
)
class RestartEndsTheDebugDelay(Remembering):
    def failed_deletion_starts_at(self, aw: Object, parameters: Parameters) -> Micros:
        starts_us = super().failed_deletion_starts_at(aw, parameters)
        return self._over_if_unknown(stamp_of(aw, Stamp.FAILED), starts_us) or 0


@mutant(
    "restart-postpones-force",
    "A restart starts the forceful deletion grace period anew.",
    "AW-012",
)
class RestartPostponesForce(Remembering):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        from_us = super().forceful_from(aw, parameters)
        return self._counted_anew(stamp_of(aw, Stamp.DELETION_STARTED), from_us)


@mutant(
    "restart-forces-at-once",
    "After a restart what remains is deleted by force at once.",
    "AW-011",
    "INV-10",
)
class RestartForcesAtOnce(Remembering):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        from_us = super().forceful_from(aw, parameters)
        return self._over_if_unknown(stamp_of(aw, Stamp.DELETION_STARTED), from_us)


@mutant("restart-renews-the-ttl", "A restart starts the SuccessTTL anew.", "AW-063")
class RestartRenewsTheTtl(Remembering):
    def success_ttl_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().success_ttl_ends_at(aw, parameters)
        return self._counted_anew(stamp_of(aw, Stamp.SUCCEEDED), ends_us) or 0


@mutant("restart-ends-the-ttl", "A restart ends the SuccessTTL.", "AW-064")
class RestartEndsTheTtl(Remembering):
    def success_ttl_ends_at(self, aw: Object, parameters: Parameters) -> Micros:
        ends_us = super().success_ttl_ends_at(aw, parameters)
        return self._over_if_unknown(stamp_of(aw, Stamp.SUCCEEDED), ends_us) or 0


class CountingResets(Remembering):
    """Counts the resets of each AppWrapper that this process has decided on, by its attempts."""

    def __init__(self) -> None:
        super().__init__()
        self._episodes: dict[str, dict[int, int]] = {}

    def _resets(self, reason: str, aw: Object) -> int:
        """The count before this reset; a decision that is taken twice counts once."""
        episodes = self._episodes.setdefault(uid_of(aw), {})
        episodes[attempt_of(aw)] = 0 if reason == Reason.AUTOPILOT_NO_EXECUTE else 1
        return sum(episodes.values()) - episodes[attempt_of(aw)]


@mutant(
    "restart-forgets-the-count",
    "The counter that is written is kept in memory: a restart starts it anew.",
    "AW-051",
)
class RestartForgetsTheCount(CountingResets):
    def resets_after(self, reason: str, aw: Object) -> int:
        return self._resets(reason, aw) + (0 if reason == Reason.AUTOPILOT_NO_EXECUTE else 1)


@mutant(
    "restart-renews-the-retries",
    "The resets that count against the RetryLimit are those of the current process.",
    "AW-052",
)
class RestartRenewsTheRetries(CountingResets):
    def phase_after(self, reason: str, aw: Object, parameters: Parameters) -> str:
        if self.is_terminal(reason):
            return Phase.FAILED
        within = self.is_within_limit(self._resets(reason, aw), parameters.retry_limit)
        return Phase.RESETTING if within else Phase.FAILED


@mutant(
    "failures-while-down-are-missed",
    "Pods that failed while the operator was down are not noticed.",
    "AW-030",
)
class FailuresWhileDownAreMissed(Remembering):
    def failed_pods(self, seen: Observation, census: Sequence[PodCounts]) -> int:
        failed = super().failed_pods(seen, census)
        key = uid_of(seen.aw), attempt_of(seen.aw)
        return failed if self._saw_turn(key, failed > 0) else 0


@mutant(
    "job-failure-while-down-is-missed",
    "A Job or PyTorchJob that failed while the operator was down is not noticed.",
    "AW-044",
)
class JobFailureWhileDownIsMissed(Remembering):
    def says_failed(self, component: Component) -> bool:
        uid = component.record.get("uid")
        return self._saw_turn(uid, super().says_failed(component))


@mutant(
    "deletions-while-down-are-missed",
    "A component that somebody deleted while the operator was down is not missed.",
    "AW-035",
    "AW-057",
)
class DeletionsWhileDownAreMissed(Remembering):
    def is_missing(self, component: Component) -> bool:
        uid = component.record.get("uid")
        return self._saw_turn(uid, super().is_missing(component))


@mutant(
    "tags-while-down-are-missed",
    "Pods on a node that was tagged NoExecute while the operator was down stay there.",
    "AW-002",
    "AW-033",
)
class TagsWhileDownAreMissed(Remembering):
    def pods_to_migrate(self, seen: Observation) -> tuple[str, ...]:
        migrating = super().pods_to_migrate(seen)
        key = uid_of(seen.aw), attempt_of(seen.aw)
        return migrating if self._saw_turn(key, bool(migrating)) else ()


@mutant(
    "suspension-while-down-is-missed",
    "A suspension that came while the operator was down is not honoured.",
    "AW-054",
)
class SuspensionWhileDownIsMissed(Remembering):
    def honours_suspend(self, phase: str, aw: Object) -> bool:
        is_news = self._saw_turn(uid_of(aw), is_suspended(aw))
        return is_news and super().honours_suspend(phase, aw)


@mutant(
    "deletion-that-was-begun-is-believed",
    "A process that finds a failed workload believes that the deletes for it were sent.",
    "AW-010",
    "AW-062",
)
class DeletionThatWasBegunIsBelieved(Remembering):
    def orderly_deletes(self, seen: Observation) -> tuple[Delete, ...]:
        due_us = self.failed_deletion_starts_at(seen.aw, seen.parameters)
        is_own = phase_of(seen.aw) != Phase.FAILED or self._known_since(due_us) == due_us
        return super().orderly_deletes(seen) if is_own else ()


@mutant(
    "success-while-down-is-missed",
    "A workload that completed while the operator was down does not succeed.",
    "AW-096",
)
class SuccessWhileDownIsMissed(Remembering):
    def has_succeeded(self, seen: Observation, census: Sequence[PodCounts]) -> bool:
        key = uid_of(seen.aw), attempt_of(seen.aw)
        return self._saw_turn(key, super().has_succeeded(seen, census))


@mutant(
    "suspension-postpones-force",
    "A suspension within a reset starts the forceful deletion grace period anew.",
    "AW-012",
)
class SuspensionPostponesForce(Remembering):
    def forceful_from(self, aw: Object, parameters: Parameters) -> Micros | None:
        from_us = super().forceful_from(aw, parameters)
        if from_us is None or phase_of(aw) != Phase.SUSPENDING:
            return from_us
        looked_us = self._looked_us.setdefault(from_us, self._clock())
        return looked_us + parameters.forceful_deletion_grace_us
