"""The campaign: every disturbance of the undisturbed runs, as runs of suite `operator`."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, TypeAlias

import msgspec

from chaos.plan import Plan, plan_from_data
from conformance.explore import SORTS, disturbances
from conformance.explore.disturbances import Disturbance, Terrain
from conformance.explore.first_look import first_look, rest_of
from conformance.explore.unused_rights import unused_rights
from conformance.history import History
from conformance.history.request_counts import stages_in
from conformance.profiles.choosing import all_simulated
from conformance.report.counted import counted
from conformance.report.run_result import LIMIT, RunResult
from conformance.running.campaigns import UnderWay
from conformance.running.counted_campaigns import Tally
from conformance.running.workers import Task
from vocabulary.history import AT_REST, Mark

Disturbed: TypeAlias = tuple[RunResult, Disturbance]
"""An undisturbed run, and one thing that breaks in it."""

SUITE: Final = "operator"
CREATED: Final = f"{SUITE}/workload/created"
LEFT_ALONE: Final = f"{SUITE}/workload/left-alone"
DELETED: Final = f"{SUITE}/deletion/deleted/"
NEIGHBOURS: Final = f"{SUITE}/neighbours/"
GROWTH: Final = f"{SUITE}/growth/one-ten-and-a-hundred"
ELECTION: Final = f"{SUITE}/election/"
SUBMITTED_AGAIN: Final = f"{SUITE}/webhooks/submitted-again"
RESYNCED: Final = f"{SUITE}/workload/resynced"
_EVENTS: Final = re.compile(rf"\b\d+ events, {LIMIT}")
_LEFT: Final = re.compile(r"^Undecided: left alone: (.*)\.$")
OF_ANY_FAULT: Final = ("OP-017",)
"""Claims that disturbances of every sort put to the test, but for other seeds and workloads."""
GROWS: Final = 1.5
"""A kind of request of which each workload takes so many times more, and one at least, grows."""
MOST_NAMED: Final = 3
FIRST: Final = 2
"""For each other disturbance of a sort so many are drawn of those that come first."""
WITHOUT_REST: Final = 20
"""Disturbed runs, unless more are asked for, of an operator that never rests: each takes long, and
no ends can be compared."""
SEEDS: Final = 8
"""Further seeds of the undisturbed run."""


class Exploration:
    """Describes the undisturbed runs, and disturbs them; `say` prints a line."""

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        sample: int = 0,
        only: Collection[str] = (),
        upgrade_from: str = "",
    ) -> None:
        """`sample`: so many disturbed runs at most, drawn by the seed; 0: all, or `WITHOUT_REST` of
        an operator that never rests. `only`: the sorts
        of disturbances; none: every sort. `upgrade_from`: another version of the operator, which
        is replaced by this one, and the other way round; empty: none is."""
        self._say = say
        self._sample = sample
        self._only = only
        self._upgrade_from = upgrade_from
        self.no_occasion: tuple[str, ...] = ()
        """The claims that no disturbance of this workload puts to the test."""

    def __call__(self, suite: UnderWay) -> None:
        """Make the disturbed runs of a suite whose scenarios have been run once."""
        runs = {run.scenario: run for run in suite.first_runs}
        created = runs.get(CREATED)
        if created is None:
            return
        for line in first_look(created, runs.get(LEFT_ALONE)):
            self._say(line)
        if created.error:
            suite.notes.append(f"not explored, since the undisturbed run ends so: {created.error}")
            return
        options = suite.options
        operator = all_simulated(options.implementation, (SUITE,))[SUITE]
        again = runs.get(SUBMITTED_AGAIN)
        objects = disturbances.drawn(again, options.manifests, operator.crds()) if again else ()
        every = chain(
            ((run, each) for run in runs.values() for each in of_run(run)),
            ((again, each) for each in objects if again),
            self._upgrades(suite, created),
        )
        found = [(run, each) for run, each in every if not self._only or each.sort in self._only]
        there = {each.sort for _, each in found}
        absent = [claims for sort, claims in SORTS.items() if sort not in there]
        if not any(each.steps and not each.implementation for _, each in found):
            absent.append(OF_ANY_FAULT)
        self.no_occasion = tuple(sorted(chain.from_iterable(absent)))
        most = self._sample or (0 if rest_of(created) is not None else WITHOUT_REST)
        chosen = drawn(found, most, suite.options.seed) if most else found
        self._say(f"  campaign: {_outline(each for _, each in found)}")
        why = "" if rest_of(created) is not None else "; it never rests, so no ends can be compared"
        self._say(f"  = {_estimate(suite, len(chosen), len(found))}{why}")
        tasks = [task_of(run, each, options.implementation) for run, each in chosen]
        made = [_despite_its_faults(run) for run in suite.as_many_as_come(tasks)]
        tally = Tally(made)
        suite.notes.append(tally.in_one_line("disturbed runs", suite.without_plans))
        suite.notes += tally.repeated_in_words("disturbed runs")
        if endless := [run.variant for run in made if _is_endless(run)]:
            suite.notes.append(f"retried without end, and given up: {'; '.join(endless)}")
            made = [
                msgspec.structs.replace(run, error="") if _is_endless(run) else run for run in made
            ]
        if left := sorted(set(_left_alone(made))):
            suite.notes.append(f"left alone after a change by a user: {', '.join(left)}")
        suite.runs += made
        suite.notes += (line for run in made if run.scenario == GROWTH for line in _costs(run))
        suite.notes += accepted_in_words(operator.facts.accepts, suite.runs)
        if unused := unused_rights(operator.rbac(), (run.requested for run in suite.runs)):
            suite.notes.append(f"rights that no run used (OP-026): {'; '.join(unused)}")

    def _upgrades(self, suite: UnderWay, created: RunResult) -> Iterator[Disturbed]:
        """Those of the undisturbed runs of this version and of the other one."""
        if not self._upgrade_from or (self._only and "upgrades" not in self._only):
            return
        options = suite.options
        found = (f"{SUITE}={self._upgrade_from}", options.implementation)
        old, new = (all_simulated(name, (SUITE,))[SUITE].as_option for name in found)
        plan = replace(plan_from_data(created.plan), implementation="")
        alone = Task(CREATED, found[0], created.seed, plan.to_data(), keep_history=True)
        (before,) = suite.as_many_as_come([alone])
        if before.error:
            suite.notes.append(f"no upgrades, since the run of {old} ends so: {before.error}")
            return
        for run, replaced, by in ((before, old, new), (created, new, old)):
            history = History(run.header, run.entries)
            for each in disturbances.upgrades(Terrain(run, history), replaced, by):
                yield run, each
            history.close()


def of_run(run: RunResult) -> Iterator[Disturbance]:
    """The disturbances of an undisturbed run: of one that creates all, of others what comes after
    their first rest."""
    history = History(run.header, run.entries)
    if run.scenario == CREATED:
        terrain = Terrain(run, history)
        yield from disturbances.around_writes(terrain)
        yield from disturbances.touches(terrain)
        yield from disturbances.lost_updates(terrain)
        yield from disturbances.stale_lists(terrain)
        yield from disturbances.early_deletions(terrain)
        yield from disturbances.at_rest(terrain)
        yield from disturbances.broken_watches(terrain)
        yield from disturbances.lasting(terrain)
        yield from disturbances.namesakes(terrain)
        yield from disturbances.seeds(terrain, SEEDS)
        yield Disturbance("growth", "1, 10 and 100 workloads", (), scenario=GROWTH)
    elif run.scenario.startswith(NEIGHBOURS):
        yield from disturbances.beside_neighbours(Terrain(run, history))
    elif run.scenario.startswith(ELECTION):
        yield from disturbances.elections(run, history)
    elif run.scenario not in (LEFT_ALONE, RESYNCED, SUBMITTED_AGAIN):
        rests = (e.n for e in run.entries if getattr(e, "text", "") == AT_REST)
        since_n = next(rests, len(run.entries))
        terrain = Terrain(run, history, since_n)
        yield from disturbances.around_writes(terrain)
        if run.scenario.startswith(DELETED):
            yield from disturbances.namesakes(terrain)
    history.close()


def task_of(run: RunResult, each: Disturbance, implementation: str) -> Task:
    seed = run.seed if each.seed is None else each.seed
    base = replace(plan_from_data(run.plan), implementation="", seed=seed)
    plan: Plan = replace(
        base,
        scenario=each.scenario or run.scenario,
        faults=(*base.faults, *each.steps),
        manifests=each.manifests or base.manifests,
    )
    return Task(
        plan.scenario,
        each.implementation or implementation,
        seed,
        plan.to_data(),
        each.text,
        keep_history=plan.scenario == GROWTH,
    )


def drawn(found: Sequence[Disturbed], most: int, seed: int) -> Sequence[Disturbed]:
    """So many at most, in their order, of each sort about as many: there are a hundred times as
    many refusals as deletions. Equal seeds draw equal ones."""
    shuffled = random.Random(f"{seed}/disturbances").sample(range(len(found)), len(found))
    turns: Counter[tuple[str, bool]] = Counter()
    by_sort: dict[str, list[tuple[float, int]]] = {}
    for n in shuffled:
        sort, is_first = found[n][1].sort, found[n][1].is_first
        turn = turns[sort, is_first]
        turns[sort, is_first] += 1
        by_sort.setdefault(sort, []).append((turn / FIRST if is_first else turn + 0.5, n))
    ranked = [
        (rank, n) for of_sort in by_sort.values() for rank, (_, n) in enumerate(sorted(of_sort))
    ]
    return [found[n] for n in sorted(n for _, n in sorted(ranked)[:most])]


def _outline(found: Iterable[Disturbance]) -> str:
    """`164 kills, 492 refusals, 82 touches`."""
    counts = Counter(each.sort for each in found)
    return ", ".join(f"{n:,} {sort}" for sort, n in counts.items())


def _estimate(suite: UnderWay, chosen: int, existing: int) -> str:
    first = suite.first_runs
    each = sum(run.wall_seconds for run in first) / max(len(first), 1)
    seconds = round(each * chosen / max(suite.options.jobs, 1))
    of = "" if chosen == existing else f" of {existing:,}"
    return f"{chosen:,}{of} runs, about {counted(max(seconds, 1), 'second')} of processor time"


def accepted_in_words(
    accepts: Iterable[Mapping[str, str]], runs: Sequence[RunResult]
) -> Iterator[str]:
    """The findings that the profile accepts, and what in it no finding has the text of."""
    used = Counter(
        (verdict.claim, text)
        for run in runs
        for verdict in run.verdicts
        for text in verdict.accepted
    )
    for each in accepts:
        claim = each["claim"]
        if times := used[claim, each["text"]]:
            yield f"accepted by the profile: {claim} in {counted(times, 'run')}: {each['because']}"
        else:
            yield (
                f"accepts: no finding of {claim} has the text {each['text']!r} in these runs; cite "
                "what it says now, or take the entry out"
            )


def _costs(run: RunResult) -> Iterator[str]:
    """The requests per workload, as their number grows; and those that grow most."""
    stages = list(stages_in(entry for entry in run.entries if isinstance(entry, Mark)))
    if not stages:
        return
    counts = ", ".join(str(stage.workloads) for stage in stages)
    yield f"requests per workload, with {counts}: {_per_stage(stage.each for stage in stages)}"
    first, last = stages[0].each_of, stages[-1].each_of
    growing = [name for name, each in last.items() if each > GROWS * max(first.get(name, 0), 1)]
    for name in sorted(growing, key=lambda name: -last[name])[:MOST_NAMED]:
        yield f"grows: {name}: {_per_stage(stage.each_of.get(name, 0) for stage in stages)}"


def _per_stage(costs: Iterable[float]) -> str:
    return ", ".join(f"{each:.1f}" for each in costs)


def _left_alone(runs: Iterable[RunResult]) -> Iterator[str]:
    """The fields that kept a value which a user gave them: no failure, and no pass either."""
    for run in runs:
        for verdict in run.verdicts:
            if found := _LEFT.search(verdict.because):
                yield found[1]


def _despite_its_faults(run: RunResult) -> RunResult:
    """The run as one that came to its end: that its steps did not is what faults may do."""
    return run if LIMIT in run.error else msgspec.structs.replace(run, error="")


def _is_endless(run: RunResult) -> bool:
    """True for an object that the operator handled again and again, without a write: an object that
    it cannot handle. The other limits are Assay's own, and say nothing of it."""
    return run.scenario == SUBMITTED_AGAIN and bool(_EVENTS.search(run.error))
