"""OP-025: the cost of one more workload, also of an operator that is stopped for it."""

from __future__ import annotations

from conformance.history.request_counts import stage_in_words, stages_in
from conformance.norm.verdict import Outcome
from tests.explore.by_hand import step, verdict_on
from vocabulary.history import Mark

STABLE = Mark(n=0, t=0, mark="stable")
END = Mark(n=0, t=0, mark="end")


def outcome(*stages: tuple[int, int]) -> Outcome:
    """The outcome with so many workloads and so many requests until then."""
    marks = [step(stage_in_words(count, {"get sites": total})) for count, total in stages]
    return verdict_on("OP-025", *marks, STABLE, END).outcome


def test_the_requests_of_a_start_are_those_of_no_workload() -> None:
    marks = [step(stage_in_words(0, {"list sites": 90})), step("another")]
    marks.append(step(stage_in_words(1, {"list sites": 90, "get sites": 5})))
    (stage,) = stages_in(marks)
    assert (stage.workloads, stage.each) == (1, 5)
    assert outcome((0, 90), (1, 95), (10, 185), (100, 2_000)) is Outcome.FAILED


def test_an_equal_cost_passes_with_all_workloads_and_with_fewer_is_not_known() -> None:
    assert outcome((0, 90), (1, 95), (10, 140), (100, 590)) is Outcome.PASSED
    assert outcome((0, 90), (1, 95), (10, 140)) is Outcome.INCONCLUSIVE
    assert outcome((0, 90), (1, 95)) is Outcome.INCONCLUSIVE


def test_an_operator_that_is_stopped_for_its_cost_does_not_pass() -> None:
    assert outcome((0, 90), (1, 95), (10, 140), (30, 20_001)) is Outcome.FAILED
    assert outcome((0, 90), (1, 2_090), (10, 20_090), (11, 21_000)) is Outcome.INCONCLUSIVE
