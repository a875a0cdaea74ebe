"""Jobs of other clients with the name of a child Job: left alone, given back, or deleted."""

from __future__ import annotations

import pytest

from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from tests.claims.jobset_runs import outcome_of, run_scenario, violated

REPLACED = "outside/job-is-replaced-unseen"


@pytest.mark.parametrize("action", ["counted", "uncounted"])
def test_a_controller_that_names_uids_leaves_them_alone(action: str) -> None:
    assert outcome_of(run_scenario(f"{REPLACED}/{action}"), "JS-112") is Outcome.PASSED


@pytest.mark.parametrize(
    ("mutant", "action", "verb"),
    [
        ("deletes-any-namesake", "counted", "delete"),
        ("changes-any-namesake", "uncounted", "patch"),
    ],
)
def test_one_that_goes_by_names_is_convicted(mutant: str, action: str, verb: str) -> None:
    wrong = implementation(f"mutant:{mutant}", "jobset")
    run = run_scenario(f"{REPLACED}/{action}", wrong)
    assert f"the controller sent a {verb} of job/a-w-0" in violated(run.verdicts)["JS-112"]


@pytest.mark.parametrize("scenario", ["deleted", "given-back"])
def test_a_job_that_was_the_jobsets_is_no_other_clients(scenario: str) -> None:
    run = run_scenario(f"outside/job-is-taken-away/{scenario}")
    assert "JS-112" not in violated(run.verdicts)
