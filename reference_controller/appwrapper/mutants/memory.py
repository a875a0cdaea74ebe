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
    Remembering.admission_ends_at,
    "A restart starts the admission grace period anew.",
    "AW-031",
    of=Remembering,
)
def restart_renews_admission(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Remembering.admission_ends_at(self, aw, parameters)
    return self._counted_anew(self.attempt_began_at(aw), ends_us) or 0


@mutant(
    Remembering.admission_ends_at,
    "A restart ends the admission grace period.",
    "AW-031",
    "AW-041",
    of=Remembering,
)
def restart_ends_admission(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Remembering.admission_ends_at(self, aw, parameters)
    return self._over_if_unknown(self.attempt_began_at(aw), ends_us) or 0


@mutant(
    Remembering.warmup_ends_at,
    "A restart starts the warm-up grace period anew.",
    "AW-032",
    of=Remembering,
)
def restart_renews_warmup(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Remembering.warmup_ends_at(self, aw, parameters)
    return self._counted_anew(self.attempt_began_at(aw), ends_us) or 0


@mutant(
    Remembering.warmup_ends_at,
    "A restart ends the warm-up grace period.",
    "AW-032",
    "AW-042",
    of=Remembering,
)
def restart_ends_warmup(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Remembering.warmup_ends_at(self, aw, parameters)
    return self._over_if_unknown(self.attempt_began_at(aw), ends_us) or 0


@mutant(
    Remembering.failure_grace_ends_at,
    "A restart starts the failure grace period anew.",
    "AW-040",
    of=Remembering,
)
def restart_renews_failure_grace(
    self: Remembering, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    ends_us = Remembering.failure_grace_ends_at(self, since_us, reason, parameters)
    return ends_us + self._known_since(since_us) - since_us


@mutant(
    Remembering.failure_grace_ends_at,
    "A restart ends the failure grace period.",
    "AW-040",
    of=Remembering,
)
def restart_ends_failure_grace(
    self: Remembering, since_us: Micros, reason: str, parameters: Parameters
) -> Micros:
    ends_us = Remembering.failure_grace_ends_at(self, since_us, reason, parameters)
    return ends_us if self._known_since(since_us) == since_us else since_us


@mutant(
    Remembering.pause_ends_at,
    "A restart starts the retry pause anew.",
    "AW-006",
    "AW-049",
    of=Remembering,
)
def restart_renews_the_pause(
    self: Remembering, aw: Object, parameters: Parameters
) -> Micros | None:
    ends_us = Remembering.pause_ends_at(self, aw, parameters)
    return self._counted_anew(stamp_of(aw, Stamp.PAUSE_STARTED), ends_us)


@mutant(
    Remembering.pause_ends_at, "A restart ends the retry pause.", "AW-047", "AW-049", of=Remembering
)
def restart_ends_the_pause(self: Remembering, aw: Object, parameters: Parameters) -> Micros | None:
    ends_us = Remembering.pause_ends_at(self, aw, parameters)
    return self._over_if_unknown(stamp_of(aw, Stamp.PAUSE_STARTED), ends_us)


@mutant(
    Remembering.failed_deletion_starts_at,
    "A restart starts the DeletionOnFailureGracePeriod anew.",
    "AW-060",
    of=Remembering,
)
def restart_renews_the_debug_delay(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    starts_us = Remembering.failed_deletion_starts_at(self, aw, parameters)
    return self._counted_anew(stamp_of(aw, Stamp.FAILED), starts_us) or 0


@mutant(
    Remembering.failed_deletion_starts_at,
    "A restart ends the DeletionOnFailureGracePeriod.",
    "AW-060",
    of=Remembering,
)
def restart_ends_the_debug_delay(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    starts_us = Remembering.failed_deletion_starts_at(self, aw, parameters)
    return self._over_if_unknown(stamp_of(aw, Stamp.FAILED), starts_us) or 0


@mutant(
    Remembering.forceful_from,
    "A restart starts the forceful deletion grace period anew.",
    "AW-012",
    of=Remembering,
)
def restart_postpones_force(self: Remembering, aw: Object, parameters: Parameters) -> Micros | None:
    from_us = Remembering.forceful_from(self, aw, parameters)
    return self._counted_anew(stamp_of(aw, Stamp.DELETION_STARTED), from_us)


@mutant(
    Remembering.forceful_from,
    "After a restart what remains is deleted by force at once.",
    "AW-011",
    "INV-10",
    of=Remembering,
)
def restart_forces_at_once(self: Remembering, aw: Object, parameters: Parameters) -> Micros | None:
    from_us = Remembering.forceful_from(self, aw, parameters)
    return self._over_if_unknown(stamp_of(aw, Stamp.DELETION_STARTED), from_us)


@mutant(
    Remembering.success_ttl_ends_at,
    "A restart starts the SuccessTTL anew.",
    "AW-063",
    of=Remembering,
)
def restart_renews_the_ttl(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Remembering.success_ttl_ends_at(self, aw, parameters)
    return self._counted_anew(stamp_of(aw, Stamp.SUCCEEDED), ends_us) or 0


@mutant(Remembering.success_ttl_ends_at, "A restart ends the SuccessTTL.", "AW-064", of=Remembering)
def restart_ends_the_ttl(self: Remembering, aw: Object, parameters: Parameters) -> Micros:
    ends_us = Remembering.success_ttl_ends_at(self, aw, parameters)
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
    CountingResets.resets_after,
    "The counter that is written is kept in memory: a restart starts it anew.",
    "AW-051",
    of=CountingResets,
)
def restart_forgets_the_count(self: CountingResets, reason: str, aw: Object) -> int:
    return self._resets(reason, aw) + (0 if reason == Reason.AUTOPILOT_NO_EXECUTE else 1)


@mutant(
    CountingResets.phase_after,
    "The resets that count against the RetryLimit are those of the current process.",
    "AW-052",
    of=CountingResets,
)
def restart_renews_the_retries(
    self: CountingResets, reason: str, aw: Object, parameters: Parameters
) -> str:
    if self.is_terminal(reason):
        return Phase.FAILED
    within = self.is_within_limit(self._resets(reason, aw), parameters.retry_limit)
    return Phase.RESETTING if within else Phase.FAILED


@mutant(
    Remembering.failed_pods,
    "Pods that failed while the operator was down are not noticed.",
    "AW-030",
    of=Remembering,
)
def failures_while_down_are_missed(
    self: Remembering, seen: Observation, census: Sequence[PodCounts]
) -> int:
    failed = Remembering.failed_pods(self, seen, census)
    key = uid_of(seen.aw), attempt_of(seen.aw)
    return failed if self._saw_turn(key, failed > 0) else 0


@mutant(
    Remembering.says_failed,
    "A Job or PyTorchJob that failed while the operator was down is not noticed.",
    "AW-044",
    of=Remembering,
)
def job_failure_while_down_is_missed(self: Remembering, component: Component) -> bool:
    uid = component.record.get("uid")
    return self._saw_turn(uid, Remembering.says_failed(self, component))


@mutant(
    Remembering.is_missing,
    "A component that somebody deleted while the operator was down is not missed.",
    "AW-035",
    "AW-057",
    of=Remembering,
)
def deletions_while_down_are_missed(self: Remembering, component: Component) -> bool:
    uid = component.record.get("uid")
    return self._saw_turn(uid, Remembering.is_missing(self, component))


@mutant(
    Remembering.pods_to_migrate,
    "Pods on a node that was tagged NoExecute while the operator was down stay there.",
    "AW-002",
    "AW-033",
    of=Remembering,
)
def tags_while_down_are_missed(self: Remembering, seen: Observation) -> tuple[str, ...]:
    migrating = Remembering.pods_to_migrate(self, seen)
    key = uid_of(seen.aw), attempt_of(seen.aw)
    return migrating if self._saw_turn(key, bool(migrating)) else ()


@mutant(
    Remembering.honours_suspend,
    "A suspension that came while the operator was down is not honoured.",
    "AW-054",
    of=Remembering,
)
def suspension_while_down_is_missed(self: Remembering, phase: str, aw: Object) -> bool:
    is_news = self._saw_turn(uid_of(aw), is_suspended(aw))
    return is_news and Remembering.honours_suspend(self, phase, aw)


@mutant(
    Remembering.orderly_deletes,
    "A process that finds a failed workload believes that the deletes for it were sent.",
    "AW-010",
    "AW-062",
    of=Remembering,
)
def deletion_that_was_begun_is_believed(self: Remembering, seen: Observation) -> tuple[Delete, ...]:
    due_us = self.failed_deletion_starts_at(seen.aw, seen.parameters)
    is_own = phase_of(seen.aw) != Phase.FAILED or self._known_since(due_us) == due_us
    return Remembering.orderly_deletes(self, seen) if is_own else ()


@mutant(
    Remembering.has_succeeded,
    "A workload that completed while the operator was down does not succeed.",
    "AW-096",
    of=Remembering,
)
def success_while_down_is_missed(
    self: Remembering, seen: Observation, census: Sequence[PodCounts]
) -> bool:
    key = uid_of(seen.aw), attempt_of(seen.aw)
    return self._saw_turn(key, Remembering.has_succeeded(self, seen, census))


@mutant(
    Remembering.forceful_from,
    "A suspension within a reset starts the forceful deletion grace period anew.",
    "AW-012",
    of=Remembering,
)
def suspension_postpones_force(
    self: Remembering, aw: Object, parameters: Parameters
) -> Micros | None:
    from_us = Remembering.forceful_from(self, aw, parameters)
    if from_us is None or phase_of(aw) != Phase.SUSPENDING:
        return from_us
    looked_us = self._looked_us.setdefault(from_us, self._clock())
    return looked_us + parameters.forceful_deletion_grace_us
