"""Success policies."""

from __future__ import annotations

from collections.abc import Collection

from reference_controller.jobset.observation import Job


class SuccessRules:
    """The success policy; JS-072."""

    def is_target(self, replicated_job: str, targets: Collection[str]) -> bool:
        return not targets or replicated_job in targets

    def has_completed(
        self, operator: str, wanted: int, targets: Collection[Job], others: Collection[Job]
    ) -> bool:
        """True if the policy holds. `wanted` Jobs are targets, those left failed not counted;
        `targets` exist of them; `others` have to finish as well, since a Job was left failed."""
        succeeded = sum(job.has_succeeded for job in targets)
        holds = succeeded > 0 if operator == "Any" else succeeded == wanted
        return holds and all(job.is_finished for job in others)

    def is_out_of_reach(self, wanted: int, left_failed: int) -> bool:
        """True if no target is left that could succeed."""
        return left_failed > 0 and wanted == 0
