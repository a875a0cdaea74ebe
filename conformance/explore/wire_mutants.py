"""How strong the claims about any operator are on one operator: explored with mistakes in its
writes.

Each mistake gets what `assay explore` does: the undisturbed runs, and disturbances that are drawn
from these, of the operator as it is then. They end with the first claim that the operator violates
in none of its runs without the mistake.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from chaos.plan import Plan, plan_from_data
from conformance.explore.campaign import CREATED, SUITE, drawn, of_run, task_of
from conformance.implementations.ours import Implementation
from conformance.profiles.choosing import all_simulated, mistaken
from conformance.profiles.profiled import Profiled
from conformance.report.run_result import RunResult
from conformance.running.mutant_trials import MutantFate, Sound, nearest, sound_of, try_in
from conformance.running.run_options import OnProgress, RunOptions
from conformance.running.runner import run_one
from conformance.running.side_by_side import side_by_side
from conformance.running.suite import select
from conformance.running.wire_mutants import (
    Measured,
    explained,
    fate_of,
    lost,
    of_role,
    progress,
    same_but_name,
    stored_in,
)
from conformance.running.workers import Task, processes
from conformance.scenarios import ALL_SCENARIOS
from conformance.wire import drawn as drawing
from conformance.wire.drawn import OfRole
from conformance.wire.interposed import Mistaken, Noted


class ExploredTask(msgspec.Struct, frozen=True):
    """A mistake to be explored with."""

    wrong: str
    undisturbed: tuple[Task, ...]
    """Those in which the mistake occurs come first."""
    sample: int
    measured: dict[str, Measured]
    """Of all runs without the mistake, by scenario and disturbance."""


class NotExploredError(Exception):
    """The operator does not come to rest without any mistake; the message says why."""


def explore_wire(
    options: RunOptions,
    on_progress: OnProgress,
    *,
    sample: int,
    wanted: Sequence[OfRole] = (),
    count: int = 0,
    seed: int = 0,
) -> list[MutantFate]:
    """The result of each mistake that is wanted, or of so many that are drawn by a seed, with so
    many disturbances each. Raises NotExploredError."""
    undisturbed = [
        Task(
            found.id,
            options.implementation,
            options.seed,
            Plan(found.id, options.seed, manifests=options.manifests).to_data(),
        )
        for found in select((SUITE,))
    ]
    with side_by_side(processes(options, (SUITE,)), many=True) as each:
        first = list(each(_noted, undisturbed, 1))
        measured = {_key(task): one for task, (one, _) in zip(undisturbed, first, strict=True)}
        for _, run in first:
            if run.scenario == CREATED and run.error:
                raise NotExploredError(run.error)
        disturbed = _disturbed([run for _, run in first], options.implementation, sample)
        for task, one in zip(disturbed, each(_measured, disturbed, 2), strict=True):
            measured[_key(task)] = one
        possible = {text for one in measured.values() for text in one.mistakes}
        chosen = list(wanted) or drawing.drawn(map(of_role, possible), count, seed)
        results: list[MutantFate] = []
        tasks = [_task(wrong, undisturbed, sample, measured) for wrong in chosen]
        for result in each(_explored, tasks, 1, lost):
            results.append(result)
            on_progress(progress(result, len(results), len(tasks)))
    return results


def _task(
    wrong: OfRole, undisturbed: Sequence[Task], sample: int, measured: dict[str, Measured]
) -> ExploredTask:
    text = str(wrong)
    found = sorted(undisturbed, key=lambda task: text not in measured[_key(task)].mistakes)
    without = {key: one._replace(mistakes=()) for key, one in measured.items()}
    return ExploredTask(text, tuple(found), sample, without)


def _key(task: Task) -> str:
    return f"{task.scenario}: {task.variant}" if task.variant else task.scenario


def _disturbed(runs: Sequence[RunResult], implementation: str, sample: int) -> list[Task]:
    found = [(run, each) for run in runs for each in of_run(run)]
    return [task_of(run, each, implementation) for run, each in drawn(found, sample, runs[0].seed)]


def _made(task: Task, operator: Implementation | Profiled) -> RunResult:
    plan = None if task.plan is None else plan_from_data(task.plan)
    scenario = ALL_SCENARIOS[task.scenario]
    return run_one(scenario, {SUITE: operator}, task.seed, plan, task.variant)


def _noted(task: Task) -> tuple[Measured, RunResult]:
    """An undisturbed run, and the mistakes that the operator's writes could have in it."""
    noted = Noted()
    (operator,) = all_simulated(task.implementation, (SUITE,)).values()
    began = time.process_time()
    run = _made(task, replace(operator, on_wire=noted))
    mistakes = tuple(str(OfRole(SUITE, each)) for each in noted.mistakes)
    return _as_measured(run, time.process_time() - began, mistakes), run


def _measured(task: Task) -> Measured:
    (operator,) = all_simulated(task.implementation, (SUITE,)).values()
    began = time.process_time()
    run = _made(task, operator)
    return _as_measured(run, time.process_time() - began, ())


def _as_measured(run: RunResult, seconds: float, mistakes: tuple[str, ...]) -> Measured:
    return Measured(sound_of(run, same_but_name(run), seconds), stored_in(run), mistakes)


def _explored(task: ExploredTask) -> MutantFate:
    """Explore with a mistake until a claim fails that no run without it violates."""
    wrong = Mistaken(of_role(task.wrong).mistake)
    implementation = task.undisturbed[0].implementation
    (plain,) = all_simulated(implementation, (SUITE,)).values()
    operator = mistaken(plain, wrong)
    violated = tuple({claim for one in task.measured.values() for claim in one.sound.failed})
    made: list[RunResult] = []
    stores_otherwise: set[str] = set()

    def run(key: str, tasks: dict[str, Task]) -> tuple[RunResult, bool]:
        result = _made(tasks[key], operator)
        made.append(result)
        before = task.measured.get(key)
        if before is None or stored_in(result) != before.stored:
            stores_otherwise.add(key)
        return result, before is not None and same_but_name(result) == before.sound.digest

    def tried(tasks: dict[str, Task], *, are_undisturbed: bool) -> dict[str, Any]:
        sound = {key: _sound(task, key, violated, counts=are_undisturbed) for key in tasks}
        return try_in(list(tasks), sound, (), partial(run, tasks=tasks), lambda _: None)

    found = tried({_key(each): each for each in task.undisturbed}, are_undisturbed=True)
    if found["fate"] == "survived" or (found["fate"] == "inconclusive" and not found["broke_off"]):
        disturbed = _disturbed(made[:], implementation, task.sample)
        further = tried({_key(each): each for each in disturbed}, are_undisturbed=False)
        if further["fate"] != "survived":
            found = further
        else:
            found |= {name: found[name] + further[name] for name in ("runs", "differs")}
    if found["fate"] == "survived":
        found |= explained(wrong, stores_otherwise=bool(stores_otherwise))
        sound = {key: one.sound for key, one in task.measured.items()}
        found["nearest"] = nearest(sound, found["differs"] or list(sound))
    return fate_of(task.wrong, **found)


def _sound(task: ExploredTask, key: str, violated: tuple[str, ...], *, counts: bool) -> Sound:
    """The sound run of a key; what a disturbance keeps from its end, or from a verdict, says
    nothing."""
    one = task.measured.get(key)
    if one is not None and counts:
        return msgspec.structs.replace(one.sound, failed=violated)
    armed = () if one is None else one.sound.armed
    return Sound(digest="", armed=armed, failed=violated, passed=(), seconds=0, broke_off=True)
