"""JS-113: whatever a JobSet owns, none of it comes back once the JobSet is being deleted."""

from __future__ import annotations

from dataclasses import replace

from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object, is_terminating

DELETED = "jobset/outside/jobset-is-deleted-slowly/foreground"


class ServesTheDeleted(Rules):
    """The headless Service of a deleted JobSet comes back, and no Job does."""

    is_deleted = False

    def works_on(self, job_set: Object) -> bool:
        self.is_deleted = is_terminating(job_set)
        return True

    def is_missing(self, stands: bool) -> bool:
        return not self.is_deleted and super().is_missing(stands)


def test_a_service_of_a_deleted_jobset_comes_back() -> None:
    serves = replace(implementation("reference", "jobset"), rules=ServesTheDeleted)
    run = run_one(SCENARIOS[DELETED], serves, DEFAULT_SEED)
    found = {verdict.claim: verdict for verdict in run.verdicts}
    assert found["JS-113"].outcome is Outcome.FAILED
    assert "Service a was created for jobset/a" in found["JS-113"].violations[0].because
