"""A sample of crash points."""

from __future__ import annotations

from collections import Counter

from conformance.running.crash_tasks import drawn
from conformance.running.workers import Task

TASKS = [Task("long", "reference", n) for n in range(1000)] + [
    Task("short", "reference", n) for n in range(5)
]


def test_each_scenario_has_about_as_many_in_a_sample() -> None:
    chosen = drawn(TASKS, 20, seed=7)
    assert Counter(task.scenario for task in chosen) == {"long": 15, "short": 5}
    assert Counter(task.scenario for task in drawn(TASKS, 6, seed=7)) == {"long": 3, "short": 3}


def test_a_sample_is_in_order_and_the_same_for_the_same_seed() -> None:
    chosen = drawn(TASKS, 20, seed=7)
    assert chosen == [task for task in TASKS if task in chosen]
    assert drawn(TASKS, 20, seed=7) == chosen
    assert drawn(TASKS, 20, seed=8) != chosen


def test_all_are_drawn_if_there_are_no_more() -> None:
    assert drawn(TASKS, 2000, seed=7) == TASKS
