"""Back-offs that are too short, too long or forgotten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from reference_controller.kueue.config import Requeuing, WaitForPodsReady
from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.names import Condition
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from vocabulary.clock import HOUR, Micros
from vocabulary.objects import Object, annotations_of


@MUTANTS.mutant(Rules.is_in_back_off, "It admits again before requeueAt.", "KQ-014")
def back_off_is_not_awaited(self: Rules, workload: Workload, now_us: Micros) -> bool:
    return False


class Remembering(Rules):
    """The rules of one process, which knows no time before its own."""

    def __init__(self) -> None:
        super().__init__()
        self._clock: Callable[[], Micros] = lambda: 0
        self._began_us: Micros | None = None

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        self._clock = clock

    def _counted(self, since_us: Micros) -> Micros:
        """A time, or the first one that this process has seen if that is later."""
        if self._began_us is None:
            self._began_us = self._clock()
        return max(since_us, self._began_us)


@MUTANTS.mutant(
    Remembering.ready_by_us, "A restart starts the timeout anew.", "KQ-009", of=Remembering
)
def timeout_begins_with_its_process(
    self: Remembering, workload: Workload, wait: WaitForPodsReady
) -> Micros | None:
    ends_us = Rules.ready_by_us(self, workload, wait)
    return None if ends_us is None else self._counted(ends_us - wait.timeout_us) + wait.timeout_us


@MUTANTS.mutant(Rules.blocks_queue, "A head in its back-off blocks a StrictFIFO queue.", "KQ-013")
def back_off_blocks_the_queue(self: Rules, is_strict: bool, in_back_off: bool) -> bool:
    return is_strict


@MUTANTS.mutant(Rules.is_at_limit, "It requeues a Workload once more than it may.", "KQ-030")
def it_is_requeued_once_more(self: Rules, requeued: int, limit: int | None) -> bool:
    return limit is not None and requeued > limit


@MUTANTS.mutant(
    Rules.resets_requeue_state, "It keeps the count of a Workload after its limit.", "KQ-034"
)
def count_is_kept_after_the_limit(self: Rules, workload: Workload) -> bool:
    return False


@MUTANTS.mutant(
    Rules.resets_requeue_state, "It resets the count of every deactivated Workload.", "KQ-035"
)
def every_deactivation_resets(self: Rules, workload: Workload) -> bool:
    return not workload.is_active or Rules.resets_requeue_state(self, workload)


@MUTANTS.mutant(Rules.requeued, "It forgets to count an eviction.", "KQ-012")
def evictions_are_not_counted(
    self: Rules, count: int, now_us: Micros, back_off_us: Micros
) -> Mapping[str, Any]:
    return Rules.requeued(self, count - 1, now_us, back_off_us)


@MUTANTS.mutant(Rules.counts, "It counts every eviction.", "KQ-010")
def every_eviction_counts(self: Rules, reason: str) -> bool:
    return True


@MUTANTS.mutant(
    Rules.why_inactive, "It evicts deactivated Workloads as if a user had not.", "KQ-032"
)
def deactivation_has_another_reason(self: Rules) -> str:
    return "Preempted"


@MUTANTS.mutant(Rules.waits, "It admits deactivated Workloads.", "KQ-033")
def deactivated_ones_wait(self: Rules, workload: Workload) -> bool:
    return not (workload.is_(Condition.QUOTA_RESERVED) or workload.is_finished)


@MUTANTS.mutant(
    Rules.waits, "It never requeues a Workload that the limit had deactivated.", "KQ-036"
)
def reactivated_ones_are_forgotten(self: Rules, workload: Workload) -> bool:
    return Rules.waits(self, workload) and not workload.reason(Condition.DEACTIVATION_TARGET)


@MUTANTS.mutant(Rules.back_off_us, "Its back-offs double.", "KQ-006")
def back_off_doubles(self: Rules, count: int, requeuing: Requeuing, jitter: float) -> Micros:
    return requeuing.base_us << (count - 1)


@MUTANTS.mutant(
    Rules.is_in_back_off, "It never requeues a Workload after its third back-off.", "KQ-016"
)
def third_back_off_never_ends(self: Rules, workload: Workload, now_us: Micros) -> bool:
    return workload.times_requeued >= 3 or Rules.is_in_back_off(self, workload, now_us)


@MUTANTS.mutant(
    Rules.ready_by_us,
    "It evicts a Workload as soon as its pods are not ready any more.",
    "QL-006",
    "QL-012",
)
def lost_readiness_evicts_at_once(
    self: Rules, workload: Workload, wait: WaitForPodsReady
) -> Micros | None:
    was_ready = workload.since_us(Condition.PODS_READY) > workload.since_us(Condition.ADMITTED)
    return 0 if was_ready else Rules.ready_by_us(self, workload, wait)


@MUTANTS.mutant(Rules.ready_by_us, "Its timeouts are twice as long.", "KQ-009", "KQ-015")
def timeouts_are_doubled(self: Rules, workload: Workload, wait: WaitForPodsReady) -> Micros | None:
    due_us = Rules.ready_by_us(self, workload, wait)
    return None if due_us is None else due_us + wait.timeout_us


@MUTANTS.mutant(
    Rules.ready_by_us, "It ignores the recoveryTimeout, and waits for the timeout.", "KQ-043"
)
def recovery_has_the_first_timeout(
    self: Rules, workload: Workload, wait: WaitForPodsReady
) -> Micros | None:
    if wait.recovery_timeout_us == 0:
        return Rules.ready_by_us(self, workload, wait)
    return Rules.ready_by_us(self, workload, replace(wait, recovery_timeout_us=None))


@MUTANTS.mutant(
    Rules.ready_by_us,
    "It grants a start after a requeue the recoveryTimeout alone.",
    "QL-012",
    "KQ-009",
)
def starts_are_recoveries(self: Rules, workload: Workload, wait: WaitForPodsReady) -> Micros | None:
    if not (workload.times_requeued and wait.recovery_timeout_us):
        return Rules.ready_by_us(self, workload, wait)
    since_us = max(map(workload.since_us, (Condition.ADMITTED, Condition.PODS_READY)))
    return since_us + wait.recovery_timeout_us


@MUTANTS.mutant(Rules.ready_by_us, "It takes a recoveryTimeout of 0 for none.", "KQ-043")
def recovery_is_always_bounded(
    self: Rules, workload: Workload, wait: WaitForPodsReady
) -> Micros | None:
    return Rules.ready_by_us(
        self, workload, replace(wait, recovery_timeout_us=wait.recovery_timeout_us or None)
    )


@MUTANTS.mutant(Rules.requeued, "Its requeueAt is the time of the eviction.", "KQ-037", "KQ-006")
def requeue_at_is_forgotten(
    self: Rules, count: int, now_us: Micros, back_off_us: Micros
) -> Mapping[str, Any]:
    return Rules.requeued(self, count, now_us, 0)


@MUTANTS.mutant(Rules.is_at_limit, "It deactivates after five requeues, without a limit.", "KQ-038")
def long_requeuing_deactivates(self: Rules, requeued: int, limit: int | None) -> bool:
    return Rules.is_at_limit(self, requeued, 5 if limit is None else limit)


@MUTANTS.mutant(Rules.keeps, "It drops the requeueAt of those that are admitted again.", "KQ-011")
def requeue_at_is_dropped(self: Rules, workload: Workload) -> Mapping[str, Any]:
    status = Rules.keeps(self, workload)
    is_back = workload.is_admitted and not workload.is_evicted and "requeueState" in status
    state = {"count": workload.times_requeued}
    return {**status, "requeueState": state} if is_back else status


@MUTANTS.mutant(Rules.is_at_limit, "It takes a limit of 0 for none.", "KQ-030")
def limit_of_zero_is_none(self: Rules, requeued: int, limit: int | None) -> bool:
    return Rules.is_at_limit(self, requeued, limit or None)


@MUTANTS.mutant(Rules.back_off_us, "Its back-offs last an hour at most.", "KQ-006", "KQ-015")
def back_offs_are_an_hour_at_most(
    self: Rules, count: int, requeuing: Requeuing, jitter: float
) -> Micros:
    return min(Rules.back_off_us(self, count, requeuing, jitter), HOUR)


@MUTANTS.wrong_rules("It never requeues a Workload that is annotated in its back-off.", "KQ-016")
class WrittenToOnesAreLost(Rules):
    """As v0.6.2: whatever is written to a Workload that sleeps takes it off the list of those that
    are to be woken."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[tuple[str, Micros], Object] = {}
        self._lost: set[str] = set()

    def is_in_back_off(self, workload: Workload, now_us: Micros) -> bool:
        sleeps = super().is_in_back_off(workload, now_us)
        if workload.requeue_at_us:
            key, notes = (workload.uid, workload.requeue_at_us), annotations_of(workload.object)
            if self._first.setdefault(key, notes) != notes:
                self._lost.add(workload.uid)
        return sleeps or workload.uid in self._lost


@MUTANTS.wrong_rules("It ends back-offs whose beginning it has seen.", "KQ-016")
class BackOffsEndForWhoSawThemBegin(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._seen: set[tuple[str, Micros]] = set()

    def is_in_back_off(self, workload: Workload, now_us: Micros) -> bool:
        if super().is_in_back_off(workload, now_us):
            self._seen.add((workload.uid, workload.requeue_at_us))
            return True
        is_known = (workload.uid, workload.requeue_at_us) in self._seen
        return bool(workload.requeue_at_us) and not is_known
