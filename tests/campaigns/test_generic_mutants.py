"""Generic mutants: drawn alike each time, tried where they matter, each with its fate."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.mutating.alone import OutOfTimeError, Say, each_alone, processor_time
from conformance.mutating.equivalent import equivalents
from conformance.mutating.executed import by_whom
from conformance.mutating.mutants import SourceMutant, Sources, UnknownMutantError
from conformance.running.generic_mutants import EQUIVALENT, run_generic
from conformance.running.mutant_trials import MutantFate
from conformance.running.run_options import RunOptions
from reference_controller import programs
from reference_controller.appwrapper.decision_code import DECISION_CODE

pytestmark = pytest.mark.slow

QUOTA = "reference_controller.appwrapper.rules.quota"
SCENARIOS_THAT_DELETE = ["appwrapper/deletion/slow-pods-hold-their-quota"]
RETRIES = "reference_controller.appwrapper.rules.retries"


@pytest.fixture(scope="module")
def sources() -> Sources:
    return Sources([QUOTA, RETRIES])


def test_a_seed_draws_the_same_mutants_each_time_and_more_of_them_begin_alike(
    sources: Sources,
) -> None:
    drawn = sources.draw(12, seed=7)
    assert [found.id for found in Sources([QUOTA, RETRIES]).draw(12, seed=7)] == [
        found.id for found in drawn
    ]
    assert [found.id for found in sources.draw(20, seed=7)][:12] == [found.id for found in drawn]
    assert [found.id for found in sources.draw(12, seed=8)] != [found.id for found in drawn]
    assert len({found.id for found in drawn}) == 12


def test_every_mutant_is_found_again_by_its_id_and_compiles_to_another_program(
    sources: Sources,
) -> None:
    for found in sources.draw(30, seed=1):
        assert sources.by_id(found.id) == found
        assert found.source != Path(found.path).read_text()
        assert found.diff().count("\n@@ ") == 1


def test_what_is_for_people_to_read_is_left_alone() -> None:
    module = "reference_controller.appwrapper.transitions"
    every = Sources([module]).draw(10_000, seed=1)
    decisions = Sources([module], DECISION_CODE.told).draw(10_000, seed=1)
    assert any("Note(" in found.before for found in every)
    assert not any(found.before.startswith("Note(") for found in decisions)


def test_a_mutant_is_tried_where_its_function_is_executed_after_where_its_line_is() -> None:
    executed = {"f.py": {3: ["a"], 4: ["b", "a"], 5: ["c"], 9: ["d"]}}
    assert by_whom(executed, "f.py", (4,), range(3, 6)) == ["b", "a", "c"]
    assert by_whom(executed, "f.py", (4,)) == ["b", "a"]
    assert by_whom(executed, "g.py", (4,), range(3, 6)) == []


def test_the_scope_of_a_mutant_is_its_outermost_function(sources: Sources) -> None:
    for found in sources.draw(30, seed=1):
        assert set(found.lines) <= set(found.scope)
        first = Path(found.path).read_text().splitlines()[found.scope[0] - 1].lstrip()
        assert first.startswith(("def ", "@")) or found.scope == found.lines


def test_an_id_that_names_no_replacement_is_refused(sources: Sources) -> None:
    with pytest.raises(UnknownMutantError, match="no mutant has the id 00000000"):
        sources.by_id("00000000")


@pytest.fixture(scope="module")
def results() -> dict[str, MutantFate]:
    """A mutant that any claim notices, and four that are made up for this: one which changes
    nothing, two which never end, and one which cannot be loaded."""
    found = next(
        each
        for each in Sources([QUOTA]).draw(200, seed=1)
        if each.before == '"False"' and "-            Condition.RESOURCES_DEPLOYED" in each.diff()
    )
    text = Path(found.path).read_text()
    made_up = {
        "same": text + "\n_UNUSED = 1\n",
        "endless": text
        + "\ndef _endless(*_):\n    while True:\n        pass\n"
        + "\nQuotaRules.on_deleted = _endless\n",
        "endless import": text + "\nwhile True:\n    pass\n",
        "broken": text + "\nraise ValueError\n",
    }
    mutants = [found, *(replace(found, id=id_, source=made_up[id_]) for id_ in made_up)]
    told = run_generic(mutants, RunOptions(jobs=2), lambda _: None, SCENARIOS_THAT_DELETE)
    return {"wrong" if each.id == found.id else each.id: each for each in told}


def test_a_mutant_is_killed_by_a_claim_in_a_scenario_that_executes_its_line(
    results: dict[str, MutantFate],
) -> None:
    assert results["wrong"].fate == "killed"
    assert results["wrong"].killed_by
    assert results["wrong"].scenario


def test_a_mutant_that_nobody_notices_survives_with_the_claims_that_come_nearest(
    results: dict[str, MutantFate],
) -> None:
    assert results["same"].fate == "survived"
    assert results["same"].differs == ()
    assert results["same"].nearest


def test_a_mutant_whose_runs_never_end_is_inconclusive(results: dict[str, MutantFate]) -> None:
    assert results["endless"].fate == "inconclusive"
    assert results["endless"].broke_off == tuple(SCENARIOS_THAT_DELETE)


def test_a_mutant_that_is_never_loaded_is_ended(results: dict[str, MutantFate]) -> None:
    assert results["endless import"].fate == "timed out"


def test_a_mutant_that_cannot_be_loaded_does_not_run(results: dict[str, MutantFate]) -> None:
    assert results["broken"].fate == "does not run"


def test_each_mutant_that_is_argued_to_be_equivalent_is_one_of_the_code_as_it_stands() -> None:
    decided = [programs.load(role).decision_code for role in programs.names()]
    sources = Sources(
        {name for each in decided for name in each.modules},
        {name for each in decided for name in each.told},
    )
    for argued in equivalents(EQUIVALENT).values():
        found: SourceMutant = sources.by_id(argued.id)
        assert argued.where == f"{found.module}:{found.function}"
        assert argued.change == found.change
        assert len(argued.reason) > 20


def test_work_that_dies_is_told_by_what_it_said_last() -> None:
    told = dict(each_alone(_work, ["returns", "dies"], jobs=2, silence_seconds=600))
    assert told == {0: "returned", 1: "began"}


def test_work_that_is_silent_for_too_long_is_ended() -> None:
    ((_, said),) = each_alone(_work, ["sleeps"], jobs=1, silence_seconds=5)
    assert said != "returned"


def _work(task: str, say: Say) -> str:
    import os
    import time

    say("began")
    if task == "dies":
        os._exit(1)
    if task == "sleeps":
        time.sleep(600)
    return "returned"


def test_processor_time_ends_what_catches_every_exception() -> None:
    def endless() -> None:
        while True:
            with suppress(Exception):
                sum(range(1000))

    with pytest.raises(OutOfTimeError), processor_time(0.05):
        endless()
