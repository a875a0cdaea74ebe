"""Runs many scenarios side by side, and campaigns over them: crash points and random plans.

Work is cut into `Task`s, which are plain data, so that they can go to other processes or
threads (`conformance.running.workers`). Results come back in the order of the tasks, whichever ends
first: equal suites give equal reports, whatever the number of jobs.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from chaos.fault import FAULTS
from chaos.faults import UNDOING
from chaos.plan import Plan
from conformance.implementations.ours import with_role
from conformance.left_behind import LeftBehindError
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome, worst
from conformance.profiles.choosing import left_out, profiles_named, simulated, under_test
from conformance.profiles.profile import ImplementationProfile
from conformance.report.counted import first_few
from conformance.report.run_result import (
    Implementation,
    OperatorPlace,
    RunResult,
    SuiteResult,
    ours,
)
from conformance.running.campaigns import UnderWay, campaigns
from conformance.running.counted_campaigns import Tally
from conformance.running.run_options import OnProgress, Progress, RunOptions
from conformance.running.shrunk import failures, shrink_all
from conformance.running.why_not_run import not_run, out_of_reach, reason_not_run, why_one_process
from conformance.running.workers import ManyTasks, RunAll, Task, Tasks, workers
from conformance.scenario_type import Scenario
from conformance.scenarios import ALL_SCENARIOS, LARGE_SCENARIOS, SCENARIOS
from vocabulary.errors import ApiError

FEW: Final = 24
"""So few runs are done sooner here than other processes are started."""
_NAMED: Final = 3
"""So many scenarios that are left out for one reason are named."""


def run_suite(
    selection: Sequence[str], options: RunOptions, on_progress: OnProgress
) -> SuiteResult:
    """Run what the words select (suites, scenarios, claims; nothing means everything)."""
    began = time.perf_counter()
    profiles = profiles_named(options.implementation)
    chosen = select(selection, one_case=options.one_case, large=options.large)
    is_real = options.cluster != "simulated"
    roles = roles_of(chosen)
    spelled = with_role(options.implementation, roles, under_test if is_real else simulated)
    options = replace(options, implementation=spelled)
    one_process = why_one_process(options.implementation, roles) if is_real else ""
    lacking = left_out(profiles)
    missing_out = {found.id: lacking[found.id] for found in chosen if found.id in lacking}
    baseline = [
        Task(found.id, options.implementation, options.seed, _planned(found, options))
        for found in chosen
        if not reason_not_run(found, options.cluster, options.undertaking, one_process)
        and found.id not in missing_out
    ]
    count = _Count(on_progress, len(baseline), exit_first=options.exit_first)
    suite = _all_runs(options, baseline, count)
    left_out_notes = list(_left_out_notes(missing_out))
    if options.undertaking or one_process:
        left_out_notes += not_run(chosen, options.cluster, options.undertaking, one_process)
    suite.notes[:0] = left_out_notes
    shrunk = suite.shrunk | ({} if suite.interrupted else _shrunk(suite, count))
    return SuiteResult(
        runs=tuple(suite.runs),
        implementation=_implementation(options.implementation, profiles, suite.first_runs),
        cluster=options.cluster,
        kubernetes_version=next((run.header.kubernetes_version for run in suite.first_runs), ""),
        clock="virtual" if options.cluster == "simulated" else "wall",
        operator=_operator_place(options),
        seed=options.seed,
        command=options.command,
        wall_seconds=time.perf_counter() - began,
        claims=tuple(word for word in selection if word in CLAIMS),
        fault_classes=tuple(sorted(FAULTS.keys() - UNDOING)),
        crash_points=suite.crash_points,
        plans=len(suite.runs) + suite.uneventful.count,
        random_plans=suite.random_plans,
        shrunk=shrunk,
        rerun=sum(run.repeated is not None for run in suite.runs) + suite.uneventful.repeated,
        mismatches=sum(bool(run.repeated) for run in suite.runs),
        uneventful=suite.uneventful if suite.uneventful.count else None,
        notes=tuple(suite.notes),
        left_behind=suite.left_behind,
        interrupted=suite.interrupted,
        out_of_reach=out_of_reach(options.cluster, options.undertaking),
        supported_features=tuple(name for each in profiles for name in each.features),
        unsupported_features=_lacked(profiles, switched_off=False),
        skipped_features=_lacked(profiles, switched_off=True),
    )


def _left_out_notes(missing_out: Mapping[str, str]) -> Iterator[str]:
    """One note for each reason."""
    of_reason: defaultdict[str, list[str]] = defaultdict(list)
    for name, because in missing_out.items():
        of_reason[because].append(name)
    for because, names in of_reason.items():
        run = "was" if len(names) == 1 else "were"
        yield f"{first_few(names, _NAMED)} {run} not run: {because}"


def _all_runs(options: RunOptions, baseline: Sequence[Task], count: _Count) -> UnderWay:
    """The baseline and the campaigns; that they cannot be cleaned up after does not undo them."""
    is_campaign = any(
        (options.crash_points, options.random_plans, options.fault_pairs, options.further)
    )
    roles = roles_of(ALL_SCENARIOS[task.scenario] for task in baseline)
    whole: UnderWay | None = None
    try:
        with workers(options, roles, many=is_campaign or len(baseline) > FEW) as run_all:
            run_part = _in_part(options, run_all)

            def run(tasks: Tasks) -> Iterator[RunResult]:
                return iter(()) if count.has_stopped else count.through(run_part(tasks))

            def run_more(tasks: Tasks) -> Iterator[RunResult]:
                count.total += len(tasks) // (options.shard.parts if options.shard else 1)
                return run(tasks)

            def run_uncounted(task: Task) -> RunResult:
                (made,) = run_all([task])
                return made

            suite = UnderWay(options, baseline, run_more, run_uncounted, list(run(baseline)))
            require_a_beginning(suite.first_runs)
            if not count.has_stopped:
                suite.notes += not_in_time(baseline, suite.first_runs)
            suite.notes += Tally(suite.runs).repeated_in_words("fault-free runs")
            for campaign in campaigns(options):
                if not suite.interrupted and not count.has_stopped:
                    campaign(suite)
            if count.has_stopped:
                suite.notes.append("--exit-first: the runs after the first failure were left out")
            whole = suite
    except (LeftBehindError, ApiError) as error:
        if whole is None:
            raise
        whole.left_behind = str(error)
    assert whole is not None, "either it is, or an error was raised"
    return whole


def _in_part(options: RunOptions, run_all: RunAll) -> RunAll:
    """Makes the runs of a shard, if one is asked for, and does not make again what is kept."""
    shard, kept = options.shard, options.kept

    def run(tasks: Tasks) -> Iterator[RunResult]:
        return run_all(tasks) if kept is None else kept.through(run_all, tasks)

    if shard is None:
        return run

    def run_part(tasks: Tasks) -> Iterator[RunResult]:
        # A run whose history is wanted shows which others there are: each shard needs it.
        def of_shard() -> Iterator[tuple[Task, bool]]:
            for n, task in enumerate(tasks):
                if shard.has(n) or task.keep_history:
                    yield task, shard.has(n)

        several = ManyTasks(len(tasks), lambda: (task for task, _ in of_shard()))
        for (_, is_reported), result in zip(of_shard(), run(several), strict=True):
            yield msgspec.structs.replace(result, is_reported=is_reported)

    return run_part


def _planned(found: Scenario, options: RunOptions) -> dict[str, Any] | None:
    """The plan of an undisturbed run of a scenario that takes its objects from it."""
    if not options.manifests or not found.of_plans:
        return None
    return Plan(found.id, options.seed, manifests=options.manifests).to_data()


def _shrunk(suite: UnderWay, count: _Count) -> dict[str, RunResult]:
    """By claim, the smallest run that violates it, if runs are simulated."""
    options = suite.options
    if not options.shrink or options.cluster != "simulated":
        return {}
    found = failures(suite.runs)
    count.total += len(found)
    smallest: dict[str, RunResult] = {}
    try:
        for failure, run in shrink_all(found, options.jobs):
            count.shrunk(", ".join(failure.shown_for))
            if run is not None:
                smallest |= dict.fromkeys(failure.shown_for, run)
    except KeyboardInterrupt:  # the runs are all there, and their report is what was asked for
        suite.interrupted = "interrupted while failures were made simpler"
        suite.notes.append(suite.interrupted)
    return smallest


def _lacked(profiles: Sequence[ImplementationProfile], *, switched_off: bool) -> tuple[str, ...]:
    lacks = (lack for each in profiles for lack in each.lacks)
    return tuple(lack.feature for lack in lacks if lack.switched_off is switched_off)


def select(words: Iterable[str], *, one_case: bool = False, large: bool = False) -> list[Scenario]:
    """The scenarios that the words name: suites, scenario ids, or claims that they arm.

    With `one_case`, of those that differ in their case alone only the first, which arms the same
    claims; another one where the words name it by its id. Without `large`, the same holds for
    those of thousands of pods.
    """
    wanted = list(words)

    def is_wanted(found: Scenario) -> bool:
        if found.id in wanted:
            return True
        # A scenario of any operator has no objects of its own: `assay explore` gives it some.
        is_meant = (not wanted and not found.of_plans) or any(
            word == found.suite or word in found.arms for word in wanted
        )
        return is_meant and not (one_case and found.case) and (large or not found.large)

    every = (*SCENARIOS.values(), *LARGE_SCENARIOS.values())
    return [found for found in every if is_wanted(found)]


def roles_of(scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """The operators under test in any of these scenarios."""
    return tuple(dict.fromkeys(role for found in scenarios for role in found.roles))


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

    def __init__(self, on_progress: OnProgress, total: int, *, exit_first: bool) -> None:
        self.total = total
        self.has_stopped = False
        self._exit_first = exit_first
        self._on_progress = on_progress
        self._done = 0

    def through(self, results: Iterable[RunResult]) -> Iterator[RunResult]:
        for result in results:
            outcome = outcome_of(result)
            self._one_more(result.scenario, outcome)
            yield result
            if self._exit_first and outcome is Outcome.FAILED:
                self.has_stopped = True
                return

    def shrunk(self, claim: str) -> None:
        """The simplest failure of a claim was made simpler, as far as that goes."""
        self._one_more(f"shrinking {claim}", None)

    def _one_more(self, what: str, outcome: Outcome | None) -> None:
        self._done += 1
        self._on_progress(
            Progress(done=self._done, total=self.total, scenario=what, outcome=outcome)
        )


def _operator_place(options: RunOptions) -> OperatorPlace:
    if options.cluster == "simulated":
        return "simulated"
    undertaking = options.undertaking
    if undertaking is not None and undertaking.installed:
        return "installed"
    return "deployed" if undertaking is not None and undertaking.operator_images else "process"


def _implementation(
    name: str, profiles: Sequence[ImplementationProfile], runs: Iterable[RunResult]
) -> Implementation:
    from conformance.report.suite_version import version

    if profiles:
        told = [each.implementation for each in profiles]
        return Implementation(
            organization=_joined(each.organization for each in told),
            project=_joined(each.project for each in told),
            url=_joined(each.url for each in told),
            version=_joined(each.version for each in told),
            contact=tuple(dict.fromkeys(who for each in told for who in each.contact)),
        )
    return ours({role for run in runs for role in run.header.operators}, name, version())


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, texts)))
