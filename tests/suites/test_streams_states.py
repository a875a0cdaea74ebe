"""The states that a crash can leave of the canonical Job, against the causes of its writes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Final

import pytest

from chaos.plan import Plan
from conformance.implementation import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.streams.crash_states import (
    BEFORE_ELEMENTS,
    CANONICAL,
    MEANWHILE,
    SIZE,
    State,
    crash_plans,
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
    assert not [verdict for verdict in run.verdicts if verdict.outcome == "failed"], told
