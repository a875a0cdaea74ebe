"""The states that a crash can leave of the canonical Job, against the causes of its writes."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Final

import msgspec
import pytest

from chaos.plan import Plan
from conformance.implementations.ours import implementation
from conformance.running.crash_tasks import second_kills, unless_missed
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.suite import run_suite
from conformance.scenarios import SCENARIOS
from conformance.suites.streams import crash_states
from conformance.suites.streams.crash_states import (
    BEFORE_ELEMENTS,
    CANONICAL,
    MEANWHILE,
    SIZE,
    State,
    counted,
    crash_plans,
    is_in_full,
    state_at_end,
    states,
)
from vocabulary.history import Process, Write

Event = tuple[str, int]
PLANS: Final = {
    case: list(crash_plans(Plan(scenario=f"{CANONICAL}{case}", seed=1)))
    for case in ("five", "nodes")
}


def causes(event: Event) -> list[Event]:
    """The writes that have to come before; the last one needs all."""
    what, number = event
    if what == "launch":
        return [("element", number)]
    if what == "pod":
        return [("launch", number)]
    if what == "phase":
        return [("pod", pe) for pe in range(SIZE)]
    if number:
        return [(what, number - 1)]
    return [("part", BEFORE_ELEMENTS - 1)] if what == "element" else []


def test_the_states_are_all_that_are_closed_under_their_causes() -> None:
    events: list[Event] = [("part", n) for n in range(BEFORE_ELEMENTS)]
    for what in ("element", "launch", "pod"):
        events += [(what, pe) for pe in range(SIZE)]
    events.append(("phase", 0))
    found: set[frozenset[Event]] = {frozenset()}
    fresh = set(found)
    while fresh:
        grown = {
            state | {event}
            for state in fresh
            for event in events
            if event not in state and state.issuperset(causes(event))
        }
        fresh = grown - found
        found |= fresh
    assert {written(state) for state in states()} == found
    assert len(found) == 381
    assert {case: len(plans) for case, plans in PLANS.items()} == {"five": 5334, "nodes": 762}
    assert len(MEANWHILE) == 8


@pytest.mark.parametrize("event", MEANWHILE)
def test_what_happens_to_a_submitted_job_happens(event: str) -> None:
    """The steps of the canonical Job last until then, and no claim takes the reaction amiss."""
    case = "nodes" if event == "a node is added" else "five"
    text = f"ended after reply at submitted; then {event}"
    plan = dict(PLANS[case])[text]
    run = run_one(
        SCENARIOS[plan.scenario], {"streams": implementation("reference", "streams")}, 1, plan
    )
    wanted = {fault.plan_key for fault in MEANWHILE[event]}
    assert wanted <= {key for step in run.struck for key in step}
    assert not [verdict for verdict in run.verdicts if verdict.outcome == "failed"]


def written(state: State) -> frozenset[Event]:
    done: list[Event] = [("part", n) for n in range(state.ordered)]
    for pe, stage in enumerate(state.stages):
        done += [(what, pe) for what in ("element", "launch", "pod")[: stage + 1]]
    if state.is_submitted:
        done.append(("phase", 0))
    return frozenset(done)


@pytest.mark.parametrize("n", range(16))
def test_plans_reach_their_states(n: int) -> None:
    """At its end the operator has written exactly what belongs to the state."""
    rng = random.Random(n)
    case = rng.choice(sorted(PLANS))
    wanted = list(states())[rng.randrange(381)]
    told, plan = rng.choice([each for each in PLANS[case] if f" at {wanted}; " in each[0]])
    run = run_one(
        SCENARIOS[plan.scenario], {"streams": implementation("reference", "streams")}, 1, plan
    )
    ended = next(e.n for e in run.entries if isinstance(e, Process) and e.change == "killed")
    before = [e for e in run.entries if isinstance(e, Write) and e.n < ended]
    by_operator = Counter(
        (e.verb, e.kind) for e in before if e.actor == "streams" and e.event and e.code < 400
    )
    expected = {(verb, str(kind)): count for verb, kind, count in wanted.counts() if count}
    assert by_operator == expected, told
    assert state_at_end(run.entries) == str(wanted)
    assert not [verdict for verdict in run.verdicts if verdict.outcome == "failed"], told


def test_states_count_if_all_their_runs_have_reached_them() -> None:
    runs = [
        (text, str(state))
        for plans in PLANS.values()
        for text, _ in plans
        for state in states()
        if f" at {state}; then " in text
    ]
    assert counted(runs) == "381 of 381 × 2 × 8"
    assert counted([*runs[1:], (runs[0][0], "submitted")]) == "380 of 381 × 2 × 8"


def test_the_states_that_are_tried_in_full_have_as_many_writes_as_the_norm_names() -> None:
    found = Counter(state.writes for state in states() if is_in_full(str(state)))
    assert found == {1: 1, 16: 1, 29: 15}


def test_a_campaign_has_all_states_and_second_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [State(1), State(3)]
    monkeypatch.setattr(crash_states, "states", lambda: iter(few))
    monkeypatch.setattr("conformance.running.campaigns.FEW_SECOND", 4)
    options = RunOptions(crash_points=True, jobs=1)
    suite = run_suite([f"{CANONICAL}five"], options, lambda _: None)
    assert "states that a crash can leave: 2 of 2 × 2 × 7" in suite.notes
    (told,) = (note for note in suite.notes if note.startswith("second kills: "))
    tried, existing, in_full = map(int, re.findall(r"[0-9]+", told.replace(",", "")))
    assert (tried - in_full, suite.crash_points) == (4, (28 + tried, 28 + existing))
    assert in_full < existing
    assert not [run.error for run in suite.runs if run.error]
    assert not [run for run in suite.runs if run.plan["faults"] and run.entries]
    killed_twice = [run for run in suite.runs if sum("kill" in step for step in run.struck) == 2]
    assert len(killed_twice) == tried


def test_a_run_that_was_killed_in_another_state_is_an_error() -> None:
    told, plan = PLANS["five"][0]
    run = run_one(
        SCENARIOS[plan.scenario],
        {"streams": implementation("reference", "streams")},
        1,
        plan,
        variant=told,
    )
    reached = msgspec.structs.replace(run, state=state_at_end(run.entries))
    assert not unless_missed(reached).error
    other = msgspec.structs.replace(run, state="16 writes")
    assert unless_missed(other).error == "the operator was killed at: 16 writes"
    assert not list(second_kills(msgspec.structs.replace(run, entries=()), "reference"))
