"""Each scenario again, with the operator killed at one of its crash points: all, or a sample.

In the simulation a run is the same up to its crash point, so every point is reached, and all
of them are tried. On a real cluster a run takes seconds, and the operator writes a little more
or less often each time: there a sample is drawn, by the seed, and a point that was not reached
is counted as not tried.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from chaos.exploration import crash_points
from chaos.happening import Place
from chaos.plan import Plan, plan_from_data
from conformance.report.run_result import RunResult
from conformance.running.counted_campaigns import was_killed
from conformance.running.crash_states import crash_states
from conformance.running.workers import Task
from vocabulary.history import Process, Write

FEW_ENOUGH: Final = 60
"""The default number of tries on a real cluster: some minutes' worth."""


def crash_tasks(run: RunResult, implementation: str) -> Iterator[Task]:
    """The same scenario, with each operator killed at each of its crash points in turn, or with
    what its suite tries instead."""
    base = Plan(scenario=run.scenario, seed=run.seed)
    states = crash_states(run.scenario)
    instead = () if states is None else tuple(states.crash_plans(base))
    for text, plan in instead:
        yield Task(
            run.scenario,
            implementation,
            run.seed,
            plan.to_data(),
            text,
            keep_history=states is not None and states.is_killed_again(text),
            has_state=True,
        )
    if instead:
        return
    roles = run.header.operators
    for role in roles:
        for point in crash_points(run.entries, role):
            yield Task(
                run.scenario,
                implementation,
                run.seed,
                point.plan(base).to_data(),
                f"{role} {point.describe()}" if len(roles) > 1 else point.describe(),
                keep_history=False,
            )


def second_kills(run: RunResult, implementation: str) -> Iterator[Task]:
    """The same run, with its operator killed again at each of its later crash points. Before its
    next write it leaves what the first kill has left."""
    ended = next((e for e in run.entries if isinstance(e, Process) and e.change == "killed"), None)
    if ended is None:
        return
    before = sum(
        isinstance(e, Write) and e.actor == ended.process and e.n < ended.n for e in run.entries
    )
    base = plan_from_data(run.plan)
    for point in crash_points(run.entries, ended.process):
        if point.k > before + (point.place is Place.BEFORE_COMMIT):
            yield Task(
                run.scenario,
                implementation,
                run.seed,
                point.plan(base).to_data(),
                f"{run.variant}; then {point.describe()}",
                keep_history=False,
            )


def drawn(tasks: Sequence[Task], most: int, seed: int, of: str = "crash points") -> list[Task]:
    """So many of the tasks at most, in their order, of each scenario about as many: one with a
    hundred times as many crash points as others is no more telling. Equal seeds draw equal ones."""
    shuffled = random.Random(f"{seed}/{of}").sample(range(len(tasks)), len(tasks))
    turns: Counter[str] = Counter()

    def turn(n: int) -> tuple[int, int]:
        scenario = tasks[n].scenario
        turns[scenario] += 1
        return turns[scenario], n

    chosen = [n for _, n in sorted(map(turn, shuffled))[:most]]
    return [tasks[n] for n in sorted(chosen)]


def unless_missed(run: RunResult) -> RunResult:
    """The run of a crash point, as an error if the operator was not killed after all, or in another
    state."""
    if run.error:
        return run
    if run.state and f" at {run.state}; then " not in run.variant:
        return msgspec.structs.replace(run, error=f"the operator was killed at: {run.state}")
    if was_killed(run):
        return run
    return msgspec.structs.replace(run, error="the operator was not killed: point not reached")


def in_words(made: int, missed: int, existing: int) -> Iterator[str]:
    """Notes on a sample that was tried on a real cluster, of whose points so many were missed."""
    if made < existing:
        yield f"{made} of {existing} crash points were drawn by the seed"
    if missed:
        yield f"{missed} crash points were not reached: the operator wrote less often than before"
