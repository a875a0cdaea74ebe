"""Runs many scenarios side by side, and campaigns over them: crash points, random plans, reruns.

Work is cut into `Task`s, which are plain data, so that they can go to other processes or
threads (`conformance.running.workers`). Results come back in the order of the tasks, whichever ends
first: equal suites give equal reports, whatever the number of jobs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from chaos.fault import FAULTS
from chaos.faults import UNDOING
from conformance.claim import CLAIMS
from conformance.implementation import UnknownImplementationError
from conformance.profiles.choosing import left_out, profile_named
from conformance.profiles.profile import ImplementationProfile
from conformance.report.run_result import (
    Implementation,
    OperatorPlace,
    RunResult,
    SuiteResult,
)
from conformance.running.crash_tasks import FEW_ENOUGH, crash_tasks, drawn, unless_missed
from conformance.running.crash_tasks import in_words as crash_tasks_in_words
from conformance.running.hosting import not_run, out_of_reach, reason_not_run
from conformance.running.random_plans import in_spite_of_its_faults, random_tasks
from conformance.running.rearming import STRETCHES, in_words, tasks_again, unarmed
from conformance.running.run_options import OnProgress, Progress, RunOptions
from conformance.running.shrunk import failures, shrink_all
from conformance.running.workers import Task, workers
from conformance.scenario import Scenario
from conformance.scenarios import SCENARIOS
from conformance.verdict import Outcome, worst
from vocabulary.history import history_digest

FEW: Final = 24
"""So few runs are done sooner here than other processes are started."""


def run_suite(
    selection: Sequence[str], options: RunOptions, on_progress: OnProgress
) -> SuiteResult:
    """Run what the words select (suites, scenarios, claims; nothing means everything)."""
    began = time.perf_counter()
    is_simulated = options.cluster == "simulated"
    cluster, undertaking = options.cluster, options.undertaking
    profile = profile_named(options.implementation)
    if profile is not None and is_simulated:
        raise UnknownImplementationError(
            f"{profile.name} is a program of its own, which virtual time cannot slow down; "
            "add --cluster control-plane"
        )
    chosen = select(selection)
    missing_out = {
        found.id: because for found in chosen if (because := left_out(profile).get(found.id))
    }
    scenarios = [
        found
        for found in chosen
        if not reason_not_run(found, cluster, undertaking) and found.id not in missing_out
    ]
    baseline = [Task(found.id, options.implementation, options.seed) for found in scenarios]
    runs: list[RunResult] = []
    mismatches = tried = existing = 0
    at_random: list[RunResult] = []
    shrunk: dict[str, RunResult] = {}
    draws = options.random_plans or options.fault_pairs
    many = options.crash_points or bool(draws) or len(baseline) > FEW
    with workers(options, many=many) as run_all:
        count = _Count(on_progress, len(baseline) * (2 if options.rerun else 1))
        runs += count.through(run_all(baseline))
        require_a_beginning(runs)
        notes = [f"{name} was not run: {because}" for name, because in missing_out.items()]
        notes += not_run(chosen, cluster, undertaking) if undertaking else []
        notes += not_in_time(baseline, runs)
        # Without writers a claim that was not armed would not be armed in a longer run either.
        shows_writers = undertaking is None or undertaking.tells_writers
        for stretch in () if is_simulated or not shows_writers else STRETCHES:
            missing = unarmed(runs)
            if missing:
                notes.append(in_words(missing, stretch))
                longer = tasks_again(missing, options.implementation, options.seed, stretch)
                count.total += len(longer)
                runs += count.through(run_all(longer))
        if options.rerun:
            again = count.through(run_all(baseline))
            mismatches = sum(
                _digest(first) != _digest(second)
                for first, second in zip(runs[: len(baseline)], again, strict=True)
            )
        if options.crash_points:
            tasks = [
                task
                for run in runs[: len(baseline)]
                for task in crash_tasks(run, options.implementation)
            ]
            existing = len(tasks)
            most = options.sample or (existing if is_simulated else FEW_ENOUGH)
            tasks = drawn(tasks, most, options.seed)
            count.total += len(tasks)
            campaign = list(count.through(run_all(tasks)))
            tried = sum(run.strikes > 0 for run in campaign)
            if is_simulated:
                campaign = list(map(unless_missed, campaign))
            else:
                notes += crash_tasks_in_words(campaign, existing)
            runs += campaign
        if draws:
            tasks = [
                task
                for run in runs[: len(baseline)]
                for task in random_tasks(
                    run, options.implementation, options.random_plans, pairs=options.fault_pairs
                )
            ]
            count.total += len(tasks)
            at_random = [in_spite_of_its_faults(run) for run in count.through(run_all(tasks))]
            runs += at_random
    if options.shrink and is_simulated:
        found = failures(runs)
        count.total += len(found)
        for claim, run in shrink_all(found, options.jobs):
            count.shrunk(claim)
            if run is not None:
                shrunk[claim] = run
    return SuiteResult(
        runs=tuple(runs),
        implementation=_implementation(options.implementation, profile),
        cluster=options.cluster,
        kubernetes_version=runs[0].header.kubernetes_version if runs else "",
        clock="virtual" if is_simulated else "wall",
        operator=_operator_place(options),
        seed=options.seed,
        command=options.command,
        wall_seconds=time.perf_counter() - began,
        claims=tuple(word for word in selection if word in CLAIMS),
        fault_classes=tuple(sorted(FAULTS.keys() - UNDOING)),
        crash_points=(tried, existing),
        plans=len(runs),
        random_plans=len(at_random),
        shrunk=shrunk,
        rerun=len(baseline) if options.rerun else 0,
        mismatches=mismatches,
        notes=tuple(notes),
        out_of_reach=out_of_reach(cluster, undertaking),
        supported_features=() if profile is None else profile.features,
        unsupported_features=_lacked(profile, switched_off=False),
        skipped_features=_lacked(profile, switched_off=True),
    )


def _lacked(profile: ImplementationProfile | None, *, switched_off: bool) -> tuple[str, ...]:
    lacks = () if profile is None else profile.lacks
    return tuple(lack.feature for lack in lacks if lack.switched_off is switched_off)


def select(words: Iterable[str]) -> list[Scenario]:
    """The scenarios that the words name: suites, scenario ids, or claims that they arm."""
    wanted = list(words)
    return [
        found
        for found in SCENARIOS.values()
        if not wanted
        or any(word in (found.suite, found.id) or word in found.arms for word in wanted)
    ]


def not_in_time(tasks: Sequence[Task], runs: Sequence[RunResult]) -> list[str]:
    """A sentence about the runs that a limit of time left no room for; none if there are none."""
    made = {run.scenario for run in runs}
    missing = [task.scenario for task in tasks if task.scenario not in made]
    return [f"the time was up before the end of: {', '.join(missing)}"] if missing else []


def outcome_of(result: RunResult) -> Outcome:
    """The worst outcome among the claims which a run armed."""
    return worst(
        verdict.outcome
        for verdict in result.verdicts
        if verdict.armed or verdict.outcome is Outcome.FAILED
    )


def require_a_beginning(runs: Sequence[RunResult]) -> None:
    """OperatorStartError if the implementation came up in no run: then none says anything."""
    if runs and not any(run.began for run in runs):
        from conformance.worlds.control_plane.operator_process import OperatorStartError

        raise OperatorStartError(runs[0].error)


class _Count:
    """Tells how far the suite has come, run by run."""

    def __init__(self, on_progress: OnProgress, total: int) -> None:
        self.total = total
        self._on_progress = on_progress
        self._done = 0

    def through(self, results: Iterable[RunResult]) -> Iterator[RunResult]:
        for result in results:
            self._one_more(result.scenario, outcome_of(result))
            yield result

    def shrunk(self, claim: str) -> None:
        """The simplest failure of a claim was made simpler, as far as that goes."""
        self._one_more(f"shrinking {claim}", None)

    def _one_more(self, what: str, outcome: Outcome | None) -> None:
        self._done += 1
        self._on_progress(
            Progress(done=self._done, total=self.total, scenario=what, outcome=outcome)
        )


def _digest(run: RunResult) -> str:
    return run.history_sha256 or history_digest(run.header, run.entries)


def _operator_place(options: RunOptions) -> OperatorPlace:
    if options.cluster == "simulated":
        return "simulated"
    undertaking = options.undertaking
    if undertaking is not None and undertaking.installed is not None:
        return "installed"
    return "deployed" if undertaking is not None and undertaking.operator_image else "process"


def _implementation(name: str, profile: ImplementationProfile | None) -> Implementation:
    from conformance.report.suite_version import version

    if profile is not None:
        return Implementation(**msgspec.structs.asdict(profile.implementation))
    return Implementation(
        organization="Assay",
        project=f"AppWrapper {name}",
        url="",
        version=version(),
    )
