"""A rerun names the scenarios whose second history was another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from conformance.report.run_result import RunResult
from conformance.running.campaigns import UnderWay, once_more
from conformance.running.run_options import RunOptions
from conformance.running.workers import Task
from tests.report.sample_run import failing_run


def test_a_scenario_whose_second_history_differs_is_named() -> None:
    same = failing_run()
    before = msgspec.structs.replace(same, scenario="other")
    after = msgspec.structs.replace(before, entries=before.entries[:-1])

    def run(_: Sequence[Task]) -> Iterator[RunResult]:
        return iter([same, after])

    tasks = [Task(each.scenario, "reference", each.seed) for each in (same, before)]
    suite = UnderWay(RunOptions(), tasks, run, run, lambda _: same, runs=[same, before])
    once_more(suite)
    assert suite.mismatches == 1
    assert suite.notes == ["other gave another history the second time"]
