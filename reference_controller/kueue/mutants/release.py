"""Quota that goes back too early, too late or never, and jobs that wait that should not."""

from __future__ import annotations

from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.names import Release
from reference_controller.kueue.rules import Rules


@MUTANTS.mutant(Rules.is_released, "It never waits for pods.", "KQ-201")
def strategy_is_ignored(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return not is_active


@MUTANTS.mutant(Rules.is_released, "It waits for pods whatever the strategy.", "KQ-202")
def pods_are_always_awaited(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return not is_active and pods_left == 0


@MUTANTS.mutant(Rules.is_released, "It does not ask the job.", "KQ-108")
def job_is_not_asked(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return strategy != Release.ON_TERMINAL or pods_left == 0


@MUTANTS.mutant(Rules.is_released, "It never releases what is to be terminal.", "KQ-206")
def terminal_is_never_seen(self: Rules, strategy: str, is_active: bool, pods_left: int) -> bool:
    return strategy != Release.ON_TERMINAL and not is_active


@MUTANTS.mutant(Rules.is_managed_by, "Parts of a job wait in a queue, too.", "KQ-060")
def parts_wait_themselves(self: Rules, has_queue: bool) -> bool:
    return False
