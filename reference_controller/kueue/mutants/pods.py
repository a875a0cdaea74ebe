"""Pods that wait for quota themselves, and do not, or too long."""

from __future__ import annotations

from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.rules import Rules


@MUTANTS.mutant(
    Rules.outlives_pods, "The Workload of a StatefulSet goes with its evicted pods.", "KQ-061"
)
def group_goes_with_its_pods(self: Rules, has_server: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.may_open, "It opens the gates of all pods of a group.", "KQ-062")
def every_gate_is_opened(self: Rules, left: int, running: int) -> int:
    return left


@MUTANTS.mutant(Rules.never_ends, "A serving group ends with its pods.", "QL-017", "KQ-063")
def serving_groups_end(self: Rules, is_serving: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.is_gated, "Pods of a queue do not wait.", "KQ-064")
def no_pod_is_gated(self: Rules, has_queue: bool, is_part: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.looks_live, "It takes what its cache does not show for absent.", "KQ-060")
def what_is_late_is_absent(self: Rules, is_missing: bool) -> bool:
    return False
