"""Mutants: each makes exactly one decision differently, and says which claims should notice."""

from __future__ import annotations

import re
from importlib import resources
from itertools import product

import pytest
import yaml

from conformance.claims import load
from conformance.implementations.ours import implementation
from reference_controller import appwrapper
from reference_controller.appwrapper import OperatorConfig, Rules
from reference_controller.appwrapper.mutants import MUTANTS
from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.mutants.timing import no_retry_pause
from reference_controller.mutants import Mutant
from reference_controller.rules import decision_of
from vocabulary.objects import Object

EACH = pytest.mark.parametrize("one", MUTANTS.values(), ids=MUTANTS)


def definition() -> Object:
    """The CustomResourceDefinition that is installed with the sound controller."""
    text = resources.files(appwrapper).joinpath("manifests", "crd.yaml").read_text("utf-8")
    loaded: Object = yaml.safe_load(text)
    return loaded


@pytest.mark.parametrize("one", [one for one in MUTANTS.values() if not one.is_installed_wrong])
def test_a_mutant_overrides_exactly_one_decision_of_the_sound_rules(one: Mutant[Rules]) -> None:
    own = [name for name, value in vars(one.rules).items() if callable(value)]
    assert own == [decision_of(one.rules, Rules)]
    assert hasattr(Rules, own[0])


@pytest.mark.parametrize("one", [one for one in MUTANTS.values() if one.definition is not None])
def test_a_mutant_that_is_installed_wrong_has_the_sound_rules_and_its_own_definition(
    one: Mutant[Rules],
) -> None:
    assert one.rules is Rules
    assert one.definition is not None
    changed = one.definition(definition())
    assert changed != definition()
    assert changed["metadata"] == definition()["metadata"]


@pytest.mark.parametrize("one", [one for one in MUTANTS.values() if one.role is not None])
def test_a_mutant_whose_roles_are_wrong_has_the_sound_rules_and_lacks_a_right(
    one: Mutant[Rules],
) -> None:
    assert one.rules is Rules
    sound, wrong = (
        {
            right
            for role in implementation(name, "appwrapper").rbac()
            for rule in role.get("rules", ())
            for right in product(rule["apiGroups"], rule["resources"], rule["verbs"])
        }
        for name in ("reference", f"mutant:{one.name}")
    )
    assert wrong < sound


@EACH
def test_a_mutant_has_a_readable_name_a_sentence_and_claims_that_should_kill_it(
    one: Mutant[Rules],
) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", one.name)
    assert one.sentence.endswith(".")
    assert one.killed_by
    assert {claim.id for claim in load()} >= set(one.killed_by)


def test_a_mutants_controller_follows_its_own_rules() -> None:
    one = MUTANTS["one-reset-too-many"]
    assert appwrapper.controller(OperatorConfig(), one.rules()).rules.is_within_limit(3, 3)
    assert not Rules().is_within_limit(3, 3)


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="defined twice"):
        mutant(Rules.pause_ends_at, "Once more.", "AW-047")(no_retry_pause)
