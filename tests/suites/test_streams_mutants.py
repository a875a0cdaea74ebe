"""Each wrong controller is convicted by each claim that it is said to be killed by, alone."""

from __future__ import annotations

import pytest

from conformance.claims import judged_on
from conformance.running.mutation import run_mutants
from conformance.running.run_options import RunOptions
from reference_controller import programs


@pytest.mark.slow
def test_each_claim_is_the_oracle_of_a_mutant_that_it_convicts_alone() -> None:
    mutants = programs.load("streams").mutants
    results = run_mutants(
        sorted(mutants), RunOptions(jobs=2), lambda _: None, role="streams", alone=True
    )
    assert len(results) == len(mutants) >= 46
    for result in results:
        assert result.killed_by == mutants[result.mutant].killed_by
    oracles = {claim for each in mutants.values() for claim in each.killed_by}
    judged = judged_on("streams", frozenset({"streams"}))
    assert {each.id for each in judged if not each.not_judged} == oracles
