"""Completion that comes too early, too late, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules


@MUTANTS.wrong_rules(
    "completes-without-missing-jobs",
    "It completes once all Jobs have succeeded that exist.",
    "JS-098",
)
class CompletesWithoutMissingJobs(Rules):
    def has_completed(
        self, operator: str, wanted: int, targets: Collection[Job], unfinished: int
    ) -> bool:
        there = min(wanted, len(targets)) or wanted
        return super().has_completed(operator, there, targets, unfinished)


@MUTANTS.wrong_rules("any-is-all", "It waits for all Jobs where any is enough.", "JS-098")
class AnyIsAll(Rules):
    def has_completed(
        self, operator: str, wanted: int, targets: Collection[Job], unfinished: int
    ) -> bool:
        del operator
        return super().has_completed("All", wanted, targets, unfinished)


@MUTANTS.wrong_rules("all-is-any", "It completes with the first Job that succeeds.", "JS-098")
class AllIsAny(Rules):
    def has_completed(
        self, operator: str, wanted: int, targets: Collection[Job], unfinished: int
    ) -> bool:
        del operator
        return super().has_completed("Any", wanted, targets, unfinished)


@MUTANTS.wrong_rules(
    "success-of-all-is-asked", "It ignores the targets of the success policy.", "JS-098"
)
class SuccessOfAllIsAsked(Rules):
    def is_target(self, replicated_job: str, targets: Collection[str]) -> bool:
        del replicated_job, targets
        return True


@MUTANTS.wrong_rules(
    "all-that-never-start-count",
    "Jobs that never start fail a JobSet whose success policy does not ask for them.",
    "JS-072",
)
class AllThatNeverStartCount(Rules):
    def hopeless_targets(self, hopeless: Mapping[str, int], targets: Collection[str]) -> int:
        del targets
        return sum(hopeless.values())
