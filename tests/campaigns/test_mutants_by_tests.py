"""Mutants are noticed by the tests that execute their line, and survive where none fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.mutating.by_tests import BaselineError, Suite, measure, try_mutants
from conformance.mutating.equivalent import equivalents
from conformance.mutating.mutants import SourceMutant, Sources

MODULE = "vocabulary.nearest"
TESTS = "tests/test_nearest.py"


@pytest.fixture(scope="module")
def mutant() -> SourceMutant:
    return next(
        found
        for found in Sources([MODULE]).draw(500, seed=1)
        if found.operator == "return_other" and found.after == "return None"
    )


@pytest.fixture(scope="module")
def tests(mutant: SourceMutant) -> Suite:
    return measure([mutant.path], [TESTS], jobs=1)


def test_a_mutant_is_noticed_by_a_test_that_executes_its_line(
    mutant: SourceMutant, tests: Suite
) -> None:
    assert tests.of(mutant)
    (result,) = try_mutants([mutant], tests, jobs=1)
    assert result.fate == "noticed"
    assert result.by in tests.of(mutant)


def test_a_mutant_under_which_no_test_fails_survives(mutant: SourceMutant, tests: Suite) -> None:
    same = replace(mutant, source=Path(mutant.path).read_text())
    (result,) = try_mutants([same], tests, jobs=1)
    assert (result.fate, result.by) == ("survived", "")


def test_what_is_executed_at_loading_is_tried_with_all_tests(mutant: SourceMutant) -> None:
    """One test has loaded the module, another one uses it, and a third one does neither."""
    at_loading = replace(mutant, line=1, lines=(1,), scope=(1,))
    executed = {mutant.path: {1: ["loads"], 9: ["uses"]}, "other.py": {3: ["uses", "others"]}}
    assert Suite(executed, 1.0).of(at_loading) == ["loads", "uses", "others"]


def test_tests_that_fail_by_themselves_notice_nothing(mutant: SourceMutant) -> None:
    with pytest.raises(BaselineError, match="the tests do not pass as they are"):
        measure([mutant.path], ["tests/no_such_test.py"], jobs=1)


def test_each_mutant_that_is_argued_to_be_equivalent_is_one_of_the_code_as_it_stands() -> None:
    listed = equivalents(Path(__file__).parents[2] / "ci" / "weaken-equivalent.yaml")
    for argued in listed.values():
        module, _, function = argued.where.partition(":")
        found = Sources([module]).by_id(argued.id)
        assert (found.function, found.change) == (function, argued.change)
        assert len(argued.reason) > 20
