"""Workloads that are admitted in another order."""

from __future__ import annotations

from reference_controller.kueue.books import Rank
from reference_controller.kueue.config import Requeuing
from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.names import Condition, Reason
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from vocabulary.clock import Micros


@MUTANTS.mutant(Rules.rank, "It admits the last of equal Workloads first.", "KQ-110", "MLB-062")
def later_ones_come_first(self: Rules, workload: Workload, requeuing: Requeuing) -> Rank:
    priority, queued_us, created_us, uid = Rules.rank(self, workload, requeuing)
    return priority, -queued_us, -created_us, uid


@MUTANTS.mutant(Rules.rank, "It ignores priorities.", "KQ-111", "MLB-063")
def priority_is_ignored(self: Rules, workload: Workload, requeuing: Requeuing) -> Rank:
    return 0, *Rules.rank(self, workload, requeuing)[1:]


@MUTANTS.mutant(
    Rules.queued_at_us,
    "Evicted Workloads go to the front, whatever is configured.",
    "KQ-002",
    "KQ-003",
)
def evicted_ones_keep_their_place(self: Rules, workload: Workload, requeuing: Requeuing) -> Micros:
    return workload.created_at_us


@MUTANTS.mutant(
    Rules.queued_at_us, "Evicted Workloads go to the back, whatever is configured.", "KQ-001"
)
def evicted_ones_always_go_to_the_back(
    self: Rules, workload: Workload, requeuing: Requeuing
) -> Micros:
    return workload.since_us(Condition.EVICTED) or workload.created_at_us


@MUTANTS.mutant(Rules.rank, "Evicted Workloads pass those of higher priority.", "KQ-023")
def evicted_ones_pass_higher_priorities(
    self: Rules, workload: Workload, requeuing: Requeuing
) -> Rank:
    rank = Rules.rank(self, workload, requeuing)
    is_timed_out = workload.reason(Condition.EVICTED) == Reason.PODS_READY_TIMEOUT
    return (-(1 << 30), *rank[1:]) if is_timed_out else rank


@MUTANTS.mutant(Rules.blocks_queue, "What fits passes the head of a StrictFIFO queue.", "KQ-048")
def strict_queues_are_passed(self: Rules, is_strict: bool, in_back_off: bool) -> bool:
    return False


@MUTANTS.mutant(
    Rules.blocks_queue, "The head of every queue blocks it.", "KQ-112", "KQ-207", "MLB-064"
)
def heads_block(self: Rules, is_strict: bool, in_back_off: bool) -> bool:
    return not in_back_off


@MUTANTS.mutant(Rules.turn, "Heads that borrow come first.", "KQ-021")
def borrowers_come_first(self: Rules, borrows: bool, rank: Rank) -> tuple[bool, Rank]:
    return not borrows, rank


@MUTANTS.mutant(
    Rules.turn,
    "A head of higher priority comes before one that need not borrow.",
    "KQ-104",
    "MLB-005",
    "KQ-021",
)
def priority_comes_before_borrowing(self: Rules, borrows: bool, rank: Rank) -> tuple[bool, Rank]:
    return False, rank
