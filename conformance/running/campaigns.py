"""Campaigns of a suite beyond running each scenario once: one function per campaign.

Each continues from the existing runs, adds its own, and reports its results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.profiles.choosing import profiles_named
from conformance.report.run_result import GIVEN_UP, RunResult
from conformance.running.counted_campaigns import in_one_line
from conformance.running.crash_states import (
    FEW_OF_OTHERS,
    FEW_SECOND,
    is_in_full,
    states_in_words,
)
from conformance.running.crash_tasks import (
    FEW_ENOUGH,
    crash_tasks,
    drawn,
    in_words,
    second_kills,
    unless_missed,
    was_killed,
)
from conformance.running.random_plans import in_spite_of_its_faults, random_tasks
from conformance.running.rearming import STRETCHES, tasks_again, unarmed
from conformance.running.rearming import in_words as rearming_in_words
from conformance.running.repeated import repeated_in_words
from conformance.running.run_options import RunOptions
from conformance.running.shrunk_really import shrink_new
from conformance.running.workers import Task, without_uneventful_history


@dataclass(slots=True)
class UnderWay:
    """A suite whose scenarios have been run once, and what campaigns have added to it."""

    options: RunOptions
    baseline: Sequence[Task]
    run_more: Callable[[Sequence[Task]], Iterator[RunResult]]
    """Runs additional tasks."""
    run_uncounted: Callable[[Task], RunResult]
    """Makes one run on the way to another; may be called from several threads."""
    runs: list[RunResult]
    notes: list[str] = field(default_factory=list)
    crash_points: tuple[int, int] = (0, 0)
    """(tried, existing)."""
    random_plans: int = 0
    shrunk: dict[str, RunResult] = field(default_factory=dict)
    """By claim, the smallest run found that violates it."""
    left_behind: str = ""
    """Why the cluster is not as it was before the suite, if it is not."""
    interrupted: bool = False
    """True if a campaign was interrupted: its runs so far count."""

    @property
    def first_runs(self) -> Sequence[RunResult]:
        """Those of the baseline."""
        return self.runs[: len(self.baseline)]

    @property
    def without_plans(self) -> Sequence[RunResult]:
        """Those in which nothing went wrong but by the scenarios' own steps."""
        return [run for run in self.runs if not run.plan["faults"]]

    @property
    def with_plans(self) -> Sequence[RunResult]:
        """Those of campaigns."""
        return [run for run in self.runs if run.plan["faults"]]

    def as_many_as_come(self, tasks: Sequence[Task]) -> list[RunResult]:
        """Run additional tasks; in the simulation those that ended before an interrupt."""
        made: list[RunResult] = []
        try:
            made.extend(self.run_more(tasks))
        except KeyboardInterrupt:
            if self.options.cluster != "simulated":
                raise
            self.interrupted = True
            self.notes.append(f"interrupted after {len(made)} of {len(tasks)} runs")
        return made


Campaign: TypeAlias = Callable[[UnderWay], None]


def campaigns(options: RunOptions) -> Iterator[Campaign]:
    """Those that the options ask for, in their order."""
    undertaking = options.undertaking
    # Without writers a claim that was not armed would not be armed in a longer run either.
    shows_writers = undertaking is None or undertaking.tells_writers
    if options.cluster != "simulated" and shows_writers:
        yield with_longer_durations
    if options.crash_points:
        yield at_crash_points
    if options.random_plans or options.fault_pairs:
        yield under_random_faults
    if options.cluster == "control-plane" and options.shrink:
        yield with_fewer_faults


def with_longer_durations(suite: UnderWay) -> None:
    """The scenarios that were over before they had armed what they are for."""
    options = suite.options
    for stretch in STRETCHES:
        missing = unarmed(suite.runs)
        if missing:
            suite.notes.append(rearming_in_words(missing, stretch))
            tasks = tasks_again(missing, options.implementation, options.seed, stretch)
            suite.runs += suite.run_more(tasks)


def at_crash_points(suite: UnderWay) -> None:
    """Every scenario with the operator killed at each of its crash points, or at a sample; of a
    suite that counts the states that a crash can leave, all states, and second kills."""
    options = suite.options
    is_simulated = options.cluster == "simulated"
    is_of_programs = _is_of_programs(options)
    tasks = list(_of_each(suite, lambda run: crash_tasks(run, options.implementation)))
    existing = len(tasks)
    counts_states = is_simulated and not options.sample and any(task.has_state for task in tasks)
    if counts_states:
        others = [task for task in tasks if not task.has_state]
        chosen = [task for task in tasks if task.has_state]
        chosen += drawn(others, FEW_OF_OTHERS, options.seed)
    else:
        most = options.sample or (existing if is_simulated else FEW_ENOUGH)
        chosen = drawn(tasks, most, options.seed)
    runs = suite.as_many_as_come(chosen)
    if counts_states and not suite.interrupted:
        suite.notes += states_in_words(runs)
        again, existing_again = _second_kills(suite, runs)
        runs, existing = [*map(without_uneventful_history, runs), *again], existing + existing_again
    suite.crash_points = (sum(map(was_killed, runs)), existing)
    if not is_simulated:
        suite.notes += in_words(runs, existing)
    if is_of_programs:
        suite.notes += _left_alone(suite)
        suite.notes.append(in_one_line("crash points", runs, suite.without_plans))
    suite.notes += repeated_in_words("crash points", runs)
    suite.runs += map(unless_missed, runs) if is_simulated else runs


def _second_kills(suite: UnderWay, runs: Sequence[RunResult]) -> tuple[list[RunResult], int]:
    """Runs with a second kill, after some states all, after others a sample; and how many there
    could be."""
    of_run = [
        (run, list(second_kills(run, suite.options.implementation))) for run in runs if run.entries
    ]
    full = [task for run, tasks in of_run if is_in_full(run) for task in tasks]
    rest = [task for run, tasks in of_run if not is_in_full(run) for task in tasks]
    existing = len(full) + len(rest)
    chosen = full + drawn(rest, FEW_SECOND, suite.options.seed, "second kills")
    made = suite.as_many_as_come(chosen)
    tried = sum(map(was_killed, made))
    suite.notes.append(
        f"second kills: {tried:,} of {existing:,}, {len(full):,} of them after states that are "
        "tried in full"
    )
    return made, existing


def under_random_faults(suite: UnderWay) -> None:
    """Scenarios under faults drawn at random, and under pairs of their kinds: of a reference in the
    simulation each of them so often as asked for, of a program so many in all."""
    options = suite.options
    is_of_programs = _is_of_programs(options)
    wanted, pairs = options.random_plans, options.fault_pairs

    def of_each(count: int) -> list[Task]:
        return list(
            _of_each(
                suite, lambda run: random_tasks(run, options.implementation, count, pairs=pairs)
            )
        )

    if is_of_programs:
        count = math.ceil(wanted / len(suite.baseline))
        tasks = of_each(count)
        if 0 < len(tasks) < wanted:  # some scenarios have none
            tasks = of_each(math.ceil(count * wanted / len(tasks)))
        tasks = drawn(tasks, wanted, options.seed, "random plans")
    else:
        tasks = of_each(wanted)
    runs = list(map(in_spite_of_its_faults, suite.as_many_as_come(tasks)))
    if is_of_programs:
        suite.notes.append(in_one_line("random plans", runs, suite.without_plans))
    suite.notes += repeated_in_words("random plans", runs)
    suite.random_plans = len(runs)
    suite.runs += runs


def with_fewer_faults(suite: UnderWay) -> None:
    """The simplest failure of each claim that only campaigns violate, made simpler."""
    suite.shrunk |= {
        claim: run
        for failure, run in shrink_new(
            suite.with_plans,
            suite.without_plans,
            suite.options.implementation,
            suite.run_uncounted,
        )
        if run is not None
        for claim in failure.shown_for
    }


def _left_alone(suite: UnderWay) -> Iterator[str]:
    endless = [run.scenario for run in suite.first_runs if GIVEN_UP in run.error]
    if endless:
        yield f"not explored, since they never come to rest: {', '.join(endless)}"


def _is_of_programs(options: RunOptions) -> bool:
    """True if a run takes as long as processes need, and campaigns are samples."""
    return options.cluster != "simulated" or bool(profiles_named(options.implementation))


def _of_each(suite: UnderWay, tasks_of: Callable[[RunResult], Iterable[Task]]) -> Iterator[Task]:
    is_of_programs = _is_of_programs(suite.options)
    for run in suite.first_runs:
        # A program that never comes to rest takes as long as a hundred other runs, each time.
        if not (is_of_programs and GIVEN_UP in run.error):
            yield from tasks_of(run)
