"""Each scenario again, with the operator killed at one of its crash points: all, or a sample.

In the simulation a run is the same up to its crash point, so every point is reached, and all
of them are tried. On a real cluster a run takes seconds, and the operator writes a little more
or less often each time: there a sample is drawn, by the seed, and a point that was not reached
is counted as not tried.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final

import msgspec

from chaos.exploration import crash_points
from chaos.plan import Plan
from conformance.report.run_result import RunResult
from conformance.running.workers import Task
from conformance.suite import load as suites

FEW_ENOUGH: Final = 60
"""The default number of tries on a real cluster: some minutes' worth."""


def crash_tasks(run: RunResult, implementation: str) -> Iterator[Task]:
    """The same scenario, with each operator killed at each of its crash points in turn, or with
    what its suite tries instead."""
    base = Plan(scenario=run.scenario, seed=run.seed)
    instead = tuple(_instead(base))
    for text, plan in instead:
        yield Task(run.scenario, implementation, run.seed, plan.to_data(), text, keep_history=False)
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


def _instead(base: Plan) -> Iterable[tuple[str, Plan]]:
    """The plans that the module `crash_states` of its suite has for a scenario, with texts."""
    package = suites()[base.scenario.partition("/")[0]].package
    if find_spec(f"{package}.crash_states") is None:
        return ()
    found: Iterable[tuple[str, Plan]] = import_module(f"{package}.crash_states").crash_plans(base)
    return found


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
    """The run of a crash point, as an error if the operator was not killed after all."""
    if run.strikes or run.error:
        return run
    return msgspec.structs.replace(run, error="the operator was not killed: point not reached")


def in_words(runs: Sequence[RunResult], existing: int) -> Iterator[str]:
    """Notes on a sample that was tried on a real cluster."""
    missed = sum(run.strikes == 0 for run in runs)
    if len(runs) < existing:
        yield f"{len(runs)} of {existing} crash points were drawn by the seed"
    if missed:
        yield f"{missed} crash points were not reached: the operator wrote less often than before"
