"""A queue on failure pages: reserved against used, releases, positions, timers, and a table."""

from __future__ import annotations

import pytest

from conformance.claims import CLAIMS
from conformance.implementations.ours import implementations
from conformance.report.pages.failure_page import failure_page
from conformance.report.pages.lane import DrawnLane
from conformance.report.pages.lanes import lane_groups, sheets_at
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.run_result import RunResult
from conformance.report.tables import tables_of
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS

QUEUE = "clusterqueue/run-main"


def run_of(scenario: str, controller: str, edition: str = "") -> RunResult:
    found = SCENARIOS[scenario]
    return run_one(found, implementations(controller, found.roles), 1729, edition=edition)


def lanes(run: RunResult, group: str) -> dict[str, DrawnLane]:
    axis = TimeAxis(entry.t for entry in run.entries)
    shown = frozenset(range(len(run.entries)))
    groups = lane_groups(run.header, run.entries, run.verdicts[:1], axis, shown)
    (found,) = (each for each in groups if each.title.startswith(group))
    return {lane.label: lane for lane in found.lanes}


def texts(lane: DrawnLane) -> list[str]:
    return [band.text for band in lane.bands]


@pytest.fixture(scope="module")
def early() -> RunResult:
    """Quota is released while a pod runs, and another Job is admitted beside it."""
    return run_of("quota/releases/eviction-makes-room", "mutant:strategy-is-ignored", "strict")


def test_reserved_stands_against_used_and_what_exceeds_it_is_bad(early: RunResult) -> None:
    found = lanes(early, QUEUE)
    assert {"1 of 1", "0 of 1"} == {*texts(found["cpu reserved"])}
    beyond = [(band.tone, band.text) for band in found["cpu used"].bands if band.tone == "bad"]
    assert beyond == [("bad", "1 of 0 reserved"), ("bad", "2 of 1 reserved")]


def test_each_release_is_marked_with_its_cause_and_an_early_one_is_bad(early: RunResult) -> None:
    first, second, _ = lanes(early, QUEUE)["last release"].bands
    assert (first.tone, second.tone) == ("bad", "done")
    assert first.text.endswith("1 cpu after eviction (WorkloadInactive), while its pods run")
    assert second.text.endswith("1 cpu after success")


def test_the_order_of_those_that_wait_is_told_for_the_queue_and_for_each() -> None:
    run = run_of("kueue/requeuing/others-run-meanwhile", "reference")
    waiting = texts(lanes(run, QUEUE)["waiting"])
    assert [each.split("-")[:2] for each in waiting if each.startswith("2: ")] == [["2: job", "a"]]
    assert waiting[-1] == "nothing waits"
    first = lanes(run, "workload/job-a-")
    assert "backs off, 1 of 2" in texts(first["queue position"])
    timers = texts(first["requeue timer"])
    assert [each.split(" in ")[0] for each in timers] == ["requeue 1", "requeue 2"]


def test_queues_of_a_cohort_show_what_all_of_it_holds() -> None:
    run = run_of("kueue/quota/unused-quota-is-lent", "reference")
    found = lanes(run, QUEUE)
    assert "3 of 2" in texts(found["cpu reserved"])
    assert "4 of 4" in texts(found["cohort's cpu reserved"])


def test_the_page_has_a_table_of_the_queue_at_the_contradiction(early: RunResult) -> None:
    failed = next(each for each in early.verdicts if each.claim == "QL-003")
    (sheet,) = sheets_at(early.header, early.entries, failed.violations[0].at)
    assert sheet.title.startswith("Queue run-main at t=45.")
    assert sheet.lines == ["cpu: 1 nominal, 0 reserved, 1 used (1 more than reserved)"]
    states = [(row[1], row[2], row[3]) for row in sheet.rows]
    assert states == [
        ("deactivated", "", "1 cpu"),
        ("waits, 1 of 2", "", ""),
        ("waits, 2 of 2", "", ""),
    ]
    page = failure_page([(CLAIMS["QL-003"], failed)], early, command="")
    assert sheet.title in page and sheet.lines[0] in page


def test_a_claim_about_reactions_says_what_one_is() -> None:
    run = run_of("quota/releases/eviction-makes-room", "reference")
    verdict = next(each for each in run.verdicts if each.claim == "QL-007")
    meaning = "the longest time that the controller under test is granted for one step"
    assert "three reactions" in CLAIMS["QL-007"].text
    assert meaning in failure_page([(CLAIMS["QL-007"], verdict)], run, command="")


def test_the_table_of_cells_is_of_undisturbed_runs_of_its_suite() -> None:
    cell = run_of("quota/cells/of-job/deactivation/quick", "reference")
    ((name, text),) = tables_of([cell, run_of("kueue/requeuing/others-run-meanwhile", "reference")])
    assert name == "quota"
    assert "deactivation" in text and "edition strict" in text


def test_of_too_many_workloads_no_place_is_worked_out(
    early: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.suites.kueue.lanes.MAX_WORKLOADS", 1)
    monkeypatch.setattr("conformance.suites.quota.lanes.MAX_WORKLOADS", 1)
    assert [*lanes(early, QUEUE)] == ["3 Workloads", "Active"]
