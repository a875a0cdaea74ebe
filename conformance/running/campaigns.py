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
from conformance.report.uneventful import Uneventful
from conformance.running.counted_campaigns import Tally, was_killed
from conformance.running.crash_states import (
    FEW_OF_OTHERS,
    FEW_SECOND,
    crash_states,
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
)
from conformance.running.random_plans import (
    in_spite_of_its_faults,
    is_of_pairs,
    random_count,
    random_tasks,
)
from conformance.running.rearming import STRETCHES, tasks_again, unarmed
from conformance.running.rearming import in_words as rearming_in_words
from conformance.running.run_options import RunOptions
from conformance.running.shrunk_really import shrink_new
from conformance.running.workers import ManyTasks, Task, Tasks, without_uneventful_history


@dataclass(slots=True)
class UnderWay:
    """A suite whose scenarios have been run once, and what campaigns have added to it."""

    options: RunOptions
    baseline: Sequence[Task]
    run_more: Callable[[Tasks], Iterator[RunResult]]
    """Runs additional tasks."""
    run_uncounted: Callable[[Task], RunResult]
    """Makes one run on the way to another; may be called from several threads."""
    first_runs: Sequence[RunResult]
    """Those of the baseline; other shards may report some of them."""
    runs: list[RunResult] = field(init=False)
    """Those that are reported one by one."""
    uneventful: Uneventful = field(default_factory=Uneventful)
    """All others that are reported."""
    notes: list[str] = field(default_factory=list)
    crash_points: tuple[int, int] = (0, 0)
    """(tried, existing)."""
    random_plans: int = 0
    shrunk: dict[str, RunResult] = field(default_factory=dict)
    """By claim, the smallest run found that violates it."""
    left_behind: str = ""
    """Why the cluster is not as it was before the suite, if it is not."""
    interrupted: str = ""
    """How far a campaign had come when it was interrupted: its runs so far count."""

    def __post_init__(self) -> None:
        self.runs = [run for run in self.first_runs if run.is_reported]

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
        return list(self._until_interrupted(tasks))

    def count(
        self,
        tasks: Tasks,
        finished: Callable[[RunResult], RunResult],
        shares_seed: Callable[[RunResult], bool],
    ) -> Tally:
        """Run additional tasks, and keep the runs that have to be reported one by one. `finished`
        is applied to each result; `shares_seed`: see `Uneventful.add`."""
        tally = Tally()
        for made in self._until_interrupted(tasks):
            if not made.is_reported:
                continue
            tally.add(made)
            run = finished(made)
            if Uneventful.is_one(run):
                self.uneventful.add(run, shares_seed=shares_seed(run))
            else:
                self.runs.append(run)
        return tally

    def _until_interrupted(self, tasks: Tasks) -> Iterator[RunResult]:
        """In the simulation an interrupt ends the runs, and not the suite."""
        count = 0
        try:
            for run in self.run_more(tasks):
                count += 1
                yield run
        except KeyboardInterrupt:
            if self.options.cluster != "simulated":
                raise
            self.interrupted = f"interrupted after {count:,} of {len(tasks):,} runs"
            self.notes.append(self.interrupted)


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
    yield from options.further
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

    def every() -> Iterator[Task]:
        return _of_each(suite, lambda run: crash_tasks(run, options.implementation))

    if is_simulated and not options.sample and any(map(_counts_states, suite.first_runs)):
        _at_crash_states(suite, list(every()))
        return
    existing = sum(1 for _ in every())
    most = options.sample or (existing if is_simulated else FEW_ENOUGH)
    chosen = (
        ManyTasks(existing, every) if most >= existing else drawn(list(every()), most, options.seed)
    )
    finished = unless_missed if is_simulated else _as_it_is
    tally = suite.count(chosen, finished, shares_seed=lambda _run: True)
    suite.crash_points = (tally.killed, existing)
    if not is_simulated:
        suite.notes += in_words(tally.runs, tally.without_strike, existing)
    if _is_of_programs(options):
        suite.notes += _left_alone(suite)
        suite.notes.append(tally.in_one_line("crash points", suite.without_plans))
    suite.notes += tally.repeated_in_words("crash points")


def _as_it_is(run: RunResult) -> RunResult:
    return run


def _counts_states(run: RunResult) -> bool:
    return crash_states(run.scenario) is not None


def _at_crash_states(suite: UnderWay, tasks: Sequence[Task]) -> None:
    """The crash points of suites that count states, in the simulation: all runs are kept."""
    options = suite.options
    others = [task for task in tasks if not task.has_state]
    chosen = [task for task in tasks if task.has_state]
    counts_states = bool(chosen)
    chosen += drawn(others, FEW_OF_OTHERS if chosen else len(others), options.seed)
    existing = len(tasks)
    runs = suite.as_many_as_come(chosen)
    if counts_states and not suite.interrupted:
        suite.notes += states_in_words(runs)
        again, existing_again = _second_kills(suite, runs)
        runs, existing = [*map(without_uneventful_history, runs), *again], existing + existing_again
    reported = [run for run in runs if run.is_reported]
    suite.crash_points = (sum(map(was_killed, reported)), existing)
    tally = Tally(reported)
    if _is_of_programs(options):
        suite.notes += _left_alone(suite)
        suite.notes.append(tally.in_one_line("crash points", suite.without_plans))
    suite.notes += tally.repeated_in_words("crash points")
    suite.runs += map(unless_missed, reported)


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
    tried = sum(was_killed(run) for run in made if run.is_reported)
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

    def of_each(count: int) -> ManyTasks:
        return ManyTasks(
            sum(random_count(run, count, pairs=pairs) for run in _explored(suite)),
            lambda: _of_each(
                suite, lambda run: random_tasks(run, options.implementation, count, pairs=pairs)
            ),
        )

    tasks: Tasks = of_each(wanted)
    if is_of_programs:
        count = math.ceil(wanted / len(suite.baseline))
        of_program = list(of_each(count))
        if 0 < len(of_program) < wanted:  # some scenarios have none
            of_program = list(of_each(math.ceil(count * wanted / len(of_program))))
        tasks = drawn(of_program, wanted, options.seed, "random plans")
    tally = suite.count(
        tasks, in_spite_of_its_faults, shares_seed=lambda run: is_of_pairs(run, options.seed)
    )
    if is_of_programs:
        suite.notes.append(tally.in_one_line("random plans", suite.without_plans))
    suite.notes += tally.repeated_in_words("random plans")
    suite.random_plans = tally.runs


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
    for run in _explored(suite):
        yield from tasks_of(run)


def _explored(suite: UnderWay) -> Iterator[RunResult]:
    is_of_programs = _is_of_programs(suite.options)
    for run in suite.first_runs:
        # A program that never comes to rest takes as long as a hundred other runs, each time.
        if not (is_of_programs and GIVEN_UP in run.error):
            yield run
