"""Campaigns on a control plane: random plans in all, what they add, and failures made small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from chaos.campaign import random_plan
from chaos.menu import FAULT_MENU
from chaos.plan import plan_from_data
from chaos.terrain import terrain_of
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import GIVEN_UP, RunResult, SuiteResult
from conformance.running import suite
from conformance.running.counted_campaigns import Tally
from conformance.running.random_plans import random_tasks
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.shrunk_really import MAX_RUNS, shrink_new
from conformance.running.workers import RunAll, Task
from conformance.scenarios import SCENARIOS

SCENARIO = "appwrapper/retry/one-failure-is-retried"
OTHER = "appwrapper/nodes/node-is-lost"
SEED = 1729


@pytest.fixture(scope="module")
def recorded() -> RunResult:
    return run_one(SCENARIOS[SCENARIO], implementation("reference", "appwrapper"), SEED)


def in_real_time(run: RunResult, **changes: Any) -> RunResult:
    """The run as one on a control plane."""
    header = msgspec.structs.replace(run.header, clock="wall", cluster="control-plane")
    return msgspec.structs.replace(run, header=header, **changes)


def violating(run: RunResult, *claims: str) -> RunResult:
    """The run with a failed verdict on each of these claims, and none on others."""
    failed = tuple(Verdict(claim=claim, outcome=Outcome.FAILED) for claim in claims)
    return msgspec.structs.replace(run, verdicts=failed)


Play = Callable[[Task], RunResult]


def suite_of(
    play: Play, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], **options: Any
) -> tuple[SuiteResult, list[Task]]:
    """A suite on a pretended control plane, on which a run gives what `play` says."""
    made: list[Task] = []

    @contextmanager
    def workers(_options: RunOptions, _roles: object, *, many: bool) -> Iterator[RunAll]:
        def run_all(tasks: Sequence[Task]) -> Iterator[RunResult]:
            made.extend(tasks)
            return map(play, tasks)

        yield run_all

    monkeypatch.setattr(suite, "workers", workers)
    asked = RunOptions(cluster="control-plane", **options)
    return suite.run_suite(words, asked, lambda _: None), made


def played(recorded: RunResult, task: Task) -> RunResult:
    """A run that gives the recorded history; all faults of its plan have struck."""
    plan = task.plan or {"scenario": task.scenario, "faults": []}
    return in_real_time(
        recorded,
        scenario=task.scenario,
        seed=task.seed,
        plan=plan,
        struck=tuple(plan["faults"]),
        variant=task.variant,
    )


@pytest.mark.parametrize(("asked", "each"), [(1, 1), (3, 2)])
def test_random_plans_on_a_control_plane_are_so_many_in_all(
    asked: int, each: int, recorded: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, made = suite_of(
        lambda task: played(recorded, task), monkeypatch, [SCENARIO, OTHER], random_plans=asked
    )
    drawn = [task for task in made if task.plan]
    assert result.random_plans == len(drawn) == asked
    assert f"of {each}" in drawn[0].variant
    assert any(f"{asked} run" in note and f"{asked} armed" in note for note in result.notes)


def test_plans_for_scenarios_that_are_not_explored_go_to_the_others(
    recorded: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(task: Task) -> RunResult:
        run = played(recorded, task)
        is_endless = task.scenario == OTHER and not task.plan
        return msgspec.structs.replace(run, error=GIVEN_UP) if is_endless else run

    result, made = suite_of(play, monkeypatch, [SCENARIO, OTHER], random_plans=3)
    assert [task.scenario for task in made if task.plan] == [SCENARIO] * 3
    assert result.random_plans == 3


def test_random_plans_of_equal_seeds_are_equal(
    recorded: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plans(seed: int) -> list[Any]:
        _, made = suite_of(
            lambda task: played(recorded, task),
            monkeypatch,
            [SCENARIO, OTHER],
            random_plans=3,
            seed=seed,
        )
        return [task.plan for task in made if task.plan]

    assert plans(1) == plans(1) != plans(2)


def test_beside_other_runs_no_plan_stops_what_they_stand_on(recorded: RunResult) -> None:
    def drawn_for(run: RunResult) -> set[str]:
        tasks = random_tasks(run, "reference", 300)
        return {
            actor if (actor := fault.get("pause", {}).get("actor")) else name
            for task in tasks
            for fault in (task.plan or {})["faults"]
            for name in fault.keys() & FAULT_MENU.keys()
        }

    beside = drawn_for(in_real_time(recorded))
    assert not beside & {"node_lost", "job-controller", "scheduler", "garbage-collector"}
    assert {"operator", "kill", "delay_watch", "break_watch", "api_error"} <= beside
    assert {"node_lost", "scheduler"} <= drawn_for(recorded)
    alone = "appwrapper/deletion/garbage-collector-is-paused"
    assert {"node_lost", "scheduler"} <= drawn_for(in_real_time(recorded, scenario=alone))


def test_a_campaign_is_counted_by_what_it_adds_to_the_fault_free_runs(recorded: RunResult) -> None:
    terrain = terrain_of(SCENARIO, recorded.entries, recorded.header.operators)
    assert terrain is not None
    struck = tuple(step.to_data() for step in random_plan(terrain, 1).faults)
    recorded = msgspec.structs.replace(recorded, wall_seconds=0.9)
    armed = msgspec.structs.replace(recorded, struck=struck)
    unarmed = msgspec.structs.replace(recorded, struck=({"kill": {}, "when": {"injection": 1}},))
    runs = [violating(armed, "AW-005", "AW-013"), violating(armed, "AW-013"), violating(unarmed)]
    told = Tally(runs).in_one_line("random plans", [violating(recorded, "AW-005")])
    assert told == (
        "random plans: 3 runs, 4,000 per hour of a worker, 2 armed; "
        "claims violated beyond the fault-free runs: AW-013 (2 runs)"
    )
    assert (
        Tally([violating(unarmed)])
        .in_one_line("crash points", [])
        .endswith(
            "1 run, 4,000 per hour of a worker, 0 armed; "
            "claims violated beyond the fault-free runs: none"
        )
    )


def fails_with(recorded: RunResult, needed: str) -> Callable[[Task], RunResult]:
    """A controller that violates AW-013 whenever a fault of that name strikes, AW-005 always."""

    def play(task: Task) -> RunResult:
        run = played(recorded, task)
        claims = ["AW-005", *(["AW-013"] if any(needed in step for step in run.struck) else [])]
        return violating(run, *claims)

    return play


def test_what_only_a_campaign_violates_is_made_small_in_a_few_runs(recorded: RunResult) -> None:
    play = fails_with(recorded, "delay_watch")
    task = next(
        task
        for task in random_tasks(in_real_time(recorded), "reference", 60)
        if len(names := [set(step) for step in (task.plan or {})["faults"]]) > 2
        and sum("delay_watch" in each for each in names) == 1
    )
    made: list[Task] = []

    def run(task: Task) -> RunResult:
        made.append(task)
        return play(task)

    (found,) = shrink_new([play(task)], [play(Task(SCENARIO, "reference", 1))], "any", run)
    failure, smallest = found
    assert failure.claims == ("AW-013",)
    assert smallest is not None
    assert "plan shrunk" in smallest.shrunk
    assert [fault.fault.plan_key for fault in plan_from_data(smallest.plan).faults] == [
        "delay_watch"
    ]
    assert len(made) <= MAX_RUNS + 1
    assert {task.implementation for task in made} == {"any"}


def test_a_smaller_failure_that_a_race_hides_at_the_end_is_still_shown(
    recorded: RunResult,
) -> None:
    play = fails_with(recorded, "kill")
    kill = {"kill": {"actor": "appwrapper"}, "when": {"at": "1s"}}
    cordon = {"cordon": {"node": "n0"}, "when": {"at": "2s"}}
    plan = {"seed": 1, "scenario": SCENARIO, "faults": [kill, cordon]}
    whole = violating(play(Task(SCENARIO, "reference", 1, plan)), "AW-013")
    lost = iter([True])

    def run(task: Task) -> RunResult:
        is_lost = len((task.plan or {})["faults"]) == 1 and next(lost, False)
        return violating(play(task), *(["AW-013"] if is_lost else []))

    ((failure, smallest),) = shrink_new([whole], [], "any", run)
    assert failure.claims == ("AW-013",)
    assert smallest is not None
    assert smallest.shrunk == "plan shrunk 2 → 1 fault"
