"""Mutants: each makes exactly one decision differently, and says which claims should notice."""

from __future__ import annotations

import re

import pytest

from conformance.claims import load
from reference_controller.jobset.mutants import MUTANTS
from reference_controller.jobset.rules import Rules
from reference_controller.mutants import Mutant
from reference_controller.rules import decision_of

WRONG_RULES = [one for one in MUTANTS.values() if not one.is_installed_wrong]


@pytest.mark.parametrize("one", WRONG_RULES, ids=lambda one: one.name)
def test_a_mutant_overrides_exactly_one_decision_of_the_sound_rules(one: Mutant[Rules]) -> None:
    # Mutants that remember something begin with nothing.
    own = [
        name for name, value in vars(one.rules).items() if callable(value) and name != "__init__"
    ]
    assert own == [decision_of(one.rules, Rules)]


@pytest.mark.parametrize("one", MUTANTS.values(), ids=MUTANTS)
def test_a_mutant_has_a_readable_name_a_sentence_and_claims_that_should_kill_it(
    one: Mutant[Rules],
) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", one.name)
    assert one.sentence.endswith(".")
    assert one.killed_by
    assert {claim.id for claim in load()} >= set(one.killed_by)
