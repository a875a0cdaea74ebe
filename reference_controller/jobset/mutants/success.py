"""Completion that comes too early, too late, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from reference_controller.jobset.job_set import ChildId
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules


@MUTANTS.mutant(
    Rules.has_completed, "It completes once all Jobs have succeeded that exist.", "JS-098"
)
def completes_without_missing_jobs(
    self: Rules, operator: str, wanted: int, targets: Collection[Job], gone: int, unfinished: int
) -> bool:
    there = min(wanted, len(targets)) or wanted
    return Rules.has_completed(self, operator, there, targets, gone, unfinished)


@MUTANTS.mutant(Rules.has_completed, "It waits for all Jobs where any is enough.", "JS-098")
def any_is_all(
    self: Rules, operator: str, wanted: int, targets: Collection[Job], gone: int, unfinished: int
) -> bool:
    return Rules.has_completed(self, "All", wanted, targets, gone, unfinished)


@MUTANTS.mutant(Rules.has_completed, "It completes with the first Job that succeeds.", "JS-098")
def all_is_any(
    self: Rules, operator: str, wanted: int, targets: Collection[Job], gone: int, unfinished: int
) -> bool:
    return Rules.has_completed(self, "Any", wanted, targets, gone, unfinished)


@MUTANTS.mutant(
    Rules.stays_succeeded, "It runs a Job again that has succeeded, once it is deleted.", "JS-116"
)
def successes_run_again(self: Rules, succeeded: Set[ChildId]) -> Set[ChildId]:
    return frozenset()


@MUTANTS.mutant(Rules.is_target, "It ignores the targets of the success policy.", "JS-098")
def success_of_all_is_asked(self: Rules, replicated_job: str, targets: Collection[str]) -> bool:
    return True


@MUTANTS.mutant(
    Rules.hopeless_targets,
    "Jobs that never start fail a JobSet whose success policy does not ask for them.",
    "JS-072",
)
def all_that_never_start_count(
    self: Rules, hopeless: Mapping[str, int], targets: Collection[str]
) -> int:
    return sum(hopeless.values())
