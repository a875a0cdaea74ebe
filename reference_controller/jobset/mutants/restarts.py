"""Wrong counts, and Jobs that stay as they are."""

from __future__ import annotations

from reference_controller.jobset.job_set import (
    counted_restarts_of,
    max_restarts,
)
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object


@MUTANTS.wrong_rules("one-more", "It restarts once more than it may.", "JS-022")
class OneMore(Rules):
    def is_within_budget(self, job_set: Object) -> bool:
        return self.budget_used(job_set) <= max_restarts(job_set)


@MUTANTS.wrong_rules("counts-ignored", "It counts restarts that do not count.", "JS-023")
class CountsIgnored(Rules):
    def counted_after(self, job_set: Object, action: str) -> int:
        del action
        return counted_restarts_of(job_set) + 1
