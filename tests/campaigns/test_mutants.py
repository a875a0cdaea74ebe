"""Mutants are run where they matter, and nothing that they would have shown is lost by that."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance.implementations.ours import implementation
from conformance.running.mutation import kill, who_decides_otherwise
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller import programs
from reference_controller.appwrapper.mutants import MUTANTS
from reference_controller.appwrapper.rules import Rules
from reference_controller.rules import comparing, decision_of
from vocabulary.history import Entry

ROLE = "appwrapper"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "scenario"),
    [
        (role, name)
        for role in programs.names()
        for name in sorted(found.id for found in SCENARIOS.values() if found.roles == (role,))[::16]
    ],
)
def test_where_it_decides_nothing_otherwise_a_mutants_history_is_that_of_the_reference(
    role: str, scenario: str
) -> None:
    mutants = programs.load(role).mutants
    otherwise = who_decides_otherwise(scenario, names=list(mutants), seed=DEFAULT_SEED, role=role)
    alike = sorted(mutants.keys() - otherwise)
    reference = _entries(role, "reference", scenario)
    for name in random.Random(scenario).sample(alike, min(3, len(alike))):
        assert _entries(role, f"mutant:{name}", scenario) == reference, name


def _entries(role: str, controller: str, scenario: str) -> Sequence[Entry]:
    under_test = implementation(controller, role)
    return run_one(SCENARIOS[scenario], under_test, DEFAULT_SEED, is_judged=False).entries


def test_a_mutant_is_run_where_it_decides_otherwise() -> None:
    scenario = "appwrapper/deletion/slow-pods-hold-their-quota"
    name = "quota-released-on-failed"
    assert name in who_decides_otherwise(scenario, names=[name], seed=DEFAULT_SEED, role=ROLE)
    told = {found: {name} if found == scenario else set[str]() for found in SCENARIOS}
    result = kill(name, otherwise=told, seed=DEFAULT_SEED, role=ROLE, thorough=True)
    assert result.runs == 1
    assert result.scenarios == (scenario,)
    assert "AW-015" in result.killed_by


def test_a_wrong_manifest_is_installed_in_every_scenario() -> None:
    wrong = [name for name, one in MUTANTS.items() if one.is_installed_wrong]
    scenario = "appwrapper/retry/one-failure-is-retried"
    assert who_decides_otherwise(scenario, names=wrong, seed=DEFAULT_SEED, role=ROLE) == set(wrong)


def test_a_claim_that_should_have_noticed_and_did_not_is_named() -> None:
    nowhere = dict.fromkeys(SCENARIOS, frozenset[str]())
    name = "quota-released-on-failed"
    result = kill(name, otherwise=nowhere, seed=DEFAULT_SEED, role=ROLE, thorough=False)
    assert result.missed == MUTANTS[name].killed_by


class BreaksDown(Rules):
    def is_within_limit(self, resets: int, limit: int) -> bool:
        if limit == 5:
            raise ZeroDivisionError
        return super().is_within_limit(resets, limit)


def test_answers_are_compared_each_time_and_the_sound_one_counts() -> None:
    otherwise: set[str] = set()
    one_too_many = MUTANTS["one-reset-too-many"].rules
    wrong = {"one-reset-too-many": one_too_many, "breaks-down": BreaksDown}
    rules = comparing(Rules, wrong, otherwise)()
    assert rules.is_within_limit(2, 3)
    assert otherwise == set()
    assert not rules.is_within_limit(3, 3)
    assert otherwise == {"one-reset-too-many"}
    assert not rules.is_within_limit(5, 5)
    assert otherwise == {"one-reset-too-many", "breaks-down"}


class AnswersAnyway(Rules):
    def is_within_limit(self, resets: int, limit: int) -> bool:
        return True


def test_where_the_sound_rules_break_down_a_mutant_may_do_something_else() -> None:
    otherwise: set[str] = set()
    rules = comparing(Rules, {"answers-anyway": AnswersAnyway}, otherwise)()
    no_number: Any = None
    with pytest.raises(TypeError):
        rules.is_within_limit(1, no_number)
    assert otherwise == {"answers-anyway"}


def test_a_mutant_of_two_decisions_cannot_be_compared() -> None:
    class TwoDecisions(BreaksDown):
        def survives_reset(self, obj: object) -> bool:
            return True

    with pytest.raises(ValueError, match="exactly one decision"):
        decision_of(TwoDecisions, Rules)


class ForgetsTheLimit(Rules):
    """Remembers the first limit that it is asked about."""

    def __init__(self) -> None:
        self._limit: int | None = None

    def is_within_limit(self, resets: int, limit: int) -> bool:
        self._limit = limit if self._limit is None else self._limit
        return resets < self._limit


def test_what_a_mutant_remembers_is_that_of_one_process() -> None:
    otherwise: set[str] = set()
    process = comparing(Rules, {"forgets-the-limit": ForgetsTheLimit}, otherwise)
    process().is_within_limit(1, 1)
    process().is_within_limit(1, 2)
    assert otherwise == set()
    same = process()
    same.is_within_limit(1, 1)
    same.is_within_limit(1, 2)
    assert otherwise == {"forgets-the-limit"}


def test_each_operator_process_decides_by_rules_of_its_own() -> None:
    made: list[Rules] = []

    class Counted(Rules):
        def __init__(self) -> None:
            made.append(self)

    counted = replace(implementation("reference", "appwrapper"), rules=Counted)
    scenario = SCENARIOS["appwrapper/operator-restarts/within-the-retry-pause/killed"]
    run_one(scenario, counted, DEFAULT_SEED)
    webhooks, first, second = made
    assert len({id(webhooks), id(first), id(second)}) == 3


@pytest.mark.parametrize("way", ["killed", "recreated", "rolled-out", "leader-lost"])
def test_a_timer_kept_in_memory_is_noticed_however_the_operator_is_replaced(way: str) -> None:
    scenario = f"appwrapper/operator-restarts/within-the-retry-pause/{way}"
    for name in ("restart-renews-the-pause", "restart-ends-the-pause"):
        result = kill(
            name, otherwise=_only(scenario, name), seed=DEFAULT_SEED, role=ROLE, thorough=False
        )
        assert result.missed == ()


def _only(scenario: str, mutant: str) -> dict[str, set[str]]:
    return {found: {mutant} if found == scenario else set[str]() for found in SCENARIOS}
