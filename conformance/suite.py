"""Runs many scenarios, side by side, and campaigns over them: crash points, reruns.

Work is cut into `Task`s, which are plain data, so that they can go to other processes.
Results come back in the order of the tasks, whichever ends first: equal suites give equal
reports, whatever the number of jobs.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from chaos.exploration import crash_points
from chaos.fault import FAULTS
from chaos.plan import Plan, plan_from_data
from conformance.claims import CLAIMS
from conformance.implementation import implementation
from conformance.report.run_result import Implementation, RunResult, SuiteResult
from conformance.run_options import OnProgress, Progress, RunOptions
from conformance.runner import run_one
from conformance.scenario import Scenario
from conformance.scenarios import SCENARIOS
from conformance.verdict import Outcome, worst
from vocabulary.history import history_digest

FEW: Final = 24
"""So few runs are done sooner here than other processes are started."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run to be made."""

    scenario: str
    implementation: str
    seed: int
    plan: dict[str, Any] | None = None
    variant: str = ""
    keep_history: bool = True
    """Whether the history is wanted even if nothing was violated."""


def run_suite(
    selection: Sequence[str], options: RunOptions, on_progress: OnProgress
) -> SuiteResult:
    """Run what the words select (suites, scenarios, claims; nothing means everything)."""
    began = time.perf_counter()
    scenarios = select(selection)
    baseline = [Task(s.id, options.implementation, options.seed) for s in scenarios]
    runs: list[RunResult] = []
    mismatches = tried = 0
    with _Workers(options.jobs, many=options.crash_points or len(baseline) > FEW) as workers:
        total = len(baseline) * (2 if options.rerun else 1)
        for result in workers.run(baseline):
            runs.append(result)
            on_progress(_progress(len(runs), total, result))
        done = len(runs)
        if options.rerun:
            for first, second in zip(runs[:done], workers.run(baseline), strict=True):
                mismatches += history_digest(first.header, first.entries) != history_digest(
                    second.header, second.entries
                )
                done += 1
                on_progress(_progress(done, total, second))
        if options.crash_points:
            tasks = [task for run in tuple(runs) for task in _crashes(run, options)]
            total += len(tasks)
            for result in workers.run(tasks):
                runs.append(result)
                tried += 1
                done += 1
                on_progress(_progress(done, total, result))
    return SuiteResult(
        runs=tuple(runs),
        implementation=_implementation(options.implementation),
        cluster=options.cluster,
        kubernetes_version=runs[0].header.kubernetes_version if runs else "",
        clock="virtual",
        seed=options.seed,
        command=options.command,
        wall_seconds=time.perf_counter() - began,
        claims=tuple(word for word in selection if word in CLAIMS),
        fault_classes=tuple(sorted(FAULTS)),
        crash_points=(tried, tried),
        plans=len(runs),
        rerun=len(baseline) if options.rerun else 0,
        mismatches=mismatches,
    )


def select(words: Iterable[str]) -> list[Scenario]:
    """The scenarios that the words name: suites, scenario ids, or claims that they arm."""
    wanted = list(words)
    return [
        found
        for found in SCENARIOS.values()
        if not wanted
        or any(word in (found.suite, found.id) or word in found.arms for word in wanted)
    ]


def run_task(task: Task) -> RunResult:
    """Make one run; what a worker process does."""
    plan = None if task.plan is None else plan_from_data(task.plan)
    result = run_one(
        SCENARIOS[task.scenario],
        implementation(task.implementation),
        task.seed,
        plan,
        task.variant,
    )
    if task.keep_history or _outcome(result) is Outcome.FAILED:
        return result
    return _without_history(result)


def _without_history(result: RunResult) -> RunResult:
    import msgspec

    return msgspec.structs.replace(
        result, entries=(), history_sha256=history_digest(result.header, result.entries)
    )


def _crashes(run: RunResult, options: RunOptions) -> Iterator[Task]:
    """The same scenario, with the operator killed at each of its crash points in turn."""
    base = Plan(scenario=run.scenario, seed=run.seed)
    for point in crash_points(run.entries):
        yield Task(
            run.scenario,
            options.implementation,
            run.seed,
            point.plan(base).to_data(),
            point.describe(),
            keep_history=False,
        )


def _outcome(result: RunResult) -> Outcome:
    """The worst outcome among the claims which a run armed."""
    return worst(
        verdict.outcome
        for verdict in result.verdicts
        if verdict.armed or verdict.outcome is Outcome.FAILED
    )


def _progress(done: int, total: int, result: RunResult) -> Progress:
    return Progress(done=done, total=total, scenario=result.scenario, outcome=_outcome(result))


def _implementation(name: str) -> Implementation:
    from conformance.report.suite_version import version

    return Implementation(
        organization="Assay",
        project=f"AppWrapper {name}",
        url="https://github.com/assay/assay",
        version=version(),
    )


class _Workers:
    """This process, or a pool of others: tasks in, results out, in order."""

    def __init__(self, jobs: int, *, many: bool) -> None:
        wanted = jobs or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None
        if wanted > 1 and many:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload(["conformance.suite"])
            self._pool = ProcessPoolExecutor(wanted, mp_context=context)

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, tasks: Sequence[Task]) -> Iterator[RunResult]:
        if self._pool is None:
            return map(run_task, tasks)
        chunk = max(1, min(32, len(tasks) // 16))
        return self._pool.map(run_task, tasks, chunksize=chunk)
