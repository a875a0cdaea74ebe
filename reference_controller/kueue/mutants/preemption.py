"""Victims that should have been spared, or were not found."""

from __future__ import annotations

from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.names import Preemption
from reference_controller.kueue.rules import Rules
from vocabulary.clock import Micros


@MUTANTS.mutant(Rules.preempts_within, "It preempts those of the same priority.", "KQ-052")
def equal_ones_are_preempted(
    self: Rules, policy: str, preemptor: tuple[int, Micros], victim: tuple[int, Micros]
) -> bool:
    return policy != Preemption.NEVER and victim[0] <= preemptor[0]


@MUTANTS.mutant(
    Rules.preempts_within, "It preempts newer ones, whatever the policy says.", "KQ-052"
)
def newer_ones_always_lose(
    self: Rules, policy: str, preemptor: tuple[int, Micros], victim: tuple[int, Micros]
) -> bool:
    is_newer = victim[0] == preemptor[0] and victim[1] > preemptor[1]
    return policy != Preemption.NEVER and (victim[0] < preemptor[0] or is_newer)


@MUTANTS.mutant(Rules.preempts_within, "It never preempts a newer one of its priority.", "KQ-054")
def newer_ones_are_spared(
    self: Rules, policy: str, preemptor: tuple[int, Micros], victim: tuple[int, Micros]
) -> bool:
    return policy != Preemption.NEVER and victim[0] < preemptor[0]


@MUTANTS.mutant(
    Rules.may_lose,
    "It takes from queues that do not borrow.",
    "KQ-117",
    "KQ-118",
    "MLB-069",
    "MLB-070",
)
def all_queues_may_lose(self: Rules, is_borrowing: bool) -> bool:
    return True


@MUTANTS.mutant(
    Rules.counts_as_borrowed,
    "It reclaims a resource from queues that borrow another one.",
    "KQ-117",
    "KQ-118",
    "MLB-069",
    "MLB-070",
)
def any_borrowing_counts(self: Rules, is_contended: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.reclaims, "It reclaims nothing.", "KQ-103", "QL-010", "MLB-004")
def nothing_is_reclaimed(
    self: Rules, policy: str, preemptor: int, victim: int, borrows: bool, most_priority: int | None
) -> bool:
    return False


@MUTANTS.mutant(Rules.reclaims, "It reclaims from any priority.", "KQ-052")
def anything_is_reclaimed(
    self: Rules, policy: str, preemptor: int, victim: int, borrows: bool, most_priority: int | None
) -> bool:
    return policy != Preemption.NEVER


@MUTANTS.mutant(Rules.reclaims, "It borrows at the cost of any lower priority.", "KQ-052")
def thresholds_do_not_bind(
    self: Rules, policy: str, preemptor: int, victim: int, borrows: bool, most_priority: int | None
) -> bool:
    return Rules.reclaims(self, policy, preemptor, victim, borrows, None)


@MUTANTS.mutant(
    Rules.needs_nominal,
    "It preempts and borrows in one admission.",
    "KQ-114",
    "KQ-113",
    "KQ-115",
    "KQ-116",
    "MLB-066",
    "MLB-065",
    "MLB-067",
    "MLB-068",
)
def it_preempts_and_borrows(self: Rules, borrows: bool) -> bool:
    return False


@MUTANTS.mutant(
    Rules.borrows_at_once, "It borrows what victims gave back beyond its need.", "KQ-113"
)
def preemptors_borrow(
    self: Rules, is_allowed: bool, awaits_victims: bool, may_do_both: bool
) -> bool:
    return is_allowed


@MUTANTS.mutant(Rules.awaits_release, "It admits before the quota of victims is back.", "KQ-047")
def preemptors_do_not_wait(self: Rules, is_pending: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.yields, "It admits victims before their preemptors.", "KQ-041", "QL-009")
def victims_come_back_first(self: Rules, preemptor_waits: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.is_owed, "Two that have preempted each other wait for each other.", "KQ-105")
def debts_are_never_paid(self: Rules, preempted_us: Micros, evicted_us: Micros) -> bool:
    return True


@MUTANTS.mutant(
    Rules.may_stay, "It preempts all candidates up to the last that it needs.", "KQ-055"
)
def all_candidates_lose(self: Rules, fits: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.place_of_victim, "It preempts the highest priority first.", "KQ-055")
def high_ones_lose_first(
    self: Rules, is_leaving: bool, is_own: bool, priority: int, reserved_at_us: Micros, uid: str
) -> tuple[object, ...]:
    return not is_leaving, is_own, -priority, -reserved_at_us, uid


@MUTANTS.mutant(
    Rules.place_of_victim, "It preempts others though what leaves anyway would do.", "KQ-055"
)
def leaving_ones_come_last(
    self: Rules, is_leaving: bool, is_own: bool, priority: int, reserved_at_us: Micros, uid: str
) -> tuple[object, ...]:
    return is_leaving, is_own, priority, -reserved_at_us, uid


@MUTANTS.mutant(Rules.place_of_victim, "It preempts those first that got quota first.", "KQ-055")
def early_ones_lose_first(
    self: Rules, is_leaving: bool, is_own: bool, priority: int, reserved_at_us: Micros, uid: str
) -> tuple[object, ...]:
    return not is_leaving, is_own, priority, reserved_at_us, uid


@MUTANTS.mutant(
    Rules.place_of_victim, "It preempts others in place of those that leave.", "QL-008", "KQ-055"
)
def leaving_ones_are_passed(
    self: Rules, is_leaving: bool, is_own: bool, priority: int, reserved_at_us: Micros, uid: str
) -> tuple[object, ...]:
    return is_leaving, is_own, priority, -reserved_at_us, uid
