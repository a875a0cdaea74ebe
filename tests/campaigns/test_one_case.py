"""A shorter suite: of scenarios that differ in their case alone, one."""

from __future__ import annotations

from conformance.running.suite import select
from conformance.scenarios import SCENARIOS

ALL_CASES = ["its-own", "none", "others"]


def test_of_the_cases_of_one_function_the_first_is_left_and_no_claim_is_lost() -> None:
    chosen = select([], one_case=True)
    queues = [found.id for found in chosen if "/waits-in-its-queue/" in found.id]
    assert queues == ["appwrapper/submission/waits-in-its-queue/its-own"]
    assert "appwrapper/retry/one-failure-is-retried" in {found.id for found in chosen}
    assert len(chosen) < len(SCENARIOS)
    armed = {claim for found in chosen for claim in found.arms}
    assert armed == {
        claim
        for found in SCENARIOS.values()
        if found.suite != "operator"  # not run unless it is asked for
        for claim in found.arms
    }


def test_without_it_there_are_all_cases() -> None:
    queues = [found.id for found in select([]) if "/waits-in-its-queue/" in found.id]
    assert queues == [f"appwrapper/submission/waits-in-its-queue/{case}" for case in ALL_CASES]


def test_a_case_that_is_asked_for_by_name_is_run() -> None:
    name = "appwrapper/submission/waits-in-its-queue/others"
    assert [found.id for found in select([name], one_case=True)] == [name]
