"""Workers that make runs: this process, a pool of others, or threads on a real control plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from chaos.plan import Plan, plan_from_data
from conformance.implementations.ours import implementations, without_reference
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import all_simulated, all_under_test, profiles_named
from conformance.report.run_result import RunResult
from conformance.running.collecting import collecting_seldom
from conformance.running.crash_states import state_at_end
from conformance.running.repeated import difference_between
from conformance.running.run_options import DEFAULT_SEED, RunOptions
from conformance.running.runner import run_one, run_really
from conformance.running.side_by_side import side_by_side
from conformance.running.why_not_run import why_one_process
from conformance.scenarios import ALL_SCENARIOS, all_crds
from vocabulary.clock import SIMULATION_EPOCH_US
from vocabulary.history import Header, Mark, OperatorUnderTest, history_digest
from vocabulary.implementations import REFERENCE

if TYPE_CHECKING:
    from clusters.control_plane.settings import Settings
    from conformance.worlds.control_plane.session import Session
    from conformance.worlds.existing.preflight import Undertaking

MANY_AT_A_TIME: Final = 32
"""Simulated runs that a process gets at a time: they take milliseconds."""
FEW_AT_A_TIME: Final = 2
"""The same of runs with released programs."""
SIDE_BY_SIDE: Final = 12
"""Runs at a time on a control plane: they mostly wait, and more would make operators late."""
SIDE_BY_SIDE_ELSEWHERE: Final = 4
"""On a cluster of another client's, unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run to be made."""

    scenario: str
    implementation: str
    """See `vocabulary.implementations`."""
    seed: int
    plan: dict[str, Any] | None = None
    variant: str = ""
    keep_history: bool = True
    """True if the history is wanted even if nothing was violated."""
    stretch: int = 1
    """How many times as long durations are, where time is real."""
    edition: str = ""
    """The edition of the norm to judge by; empty: the default."""
    has_state: bool = False
    """True if the result names the state at the operator's end: see `crash_states`."""
    twice: bool = False
    """True if the run is made a second time, to compare the histories byte by byte."""


@dataclass(frozen=True, slots=True)
class ManyTasks:
    """Runs to be made, each of which is described when its turn comes: the plans of a hundred
    thousand take half a gigabyte."""

    count: int
    made: Callable[[], Iterable[Task]]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Task]:
        return iter(self.made())


Tasks: TypeAlias = Sequence[Task] | ManyTasks
Submit: TypeAlias = Callable[[Task], "Future[RunResult]"]
RunAll: TypeAlias = Callable[[Tasks], Iterator[RunResult]]
"""Makes the runs; their results come in the order of the tasks."""


@contextmanager
def workers(options: RunOptions, roles: Sequence[str], *, many: bool) -> Iterator[RunAll]:
    """The workers for the cluster in the options, and runs with operators of these roles; `many`
    makes a pool worthwhile. Runs are judged by the edition in the options, and repeated if the
    options say so."""
    with _workers(options, roles, many=many) as run_all:

        def as_asked(tasks: Tasks) -> Iterator[Task]:
            return (replace(task, edition=options.edition, twice=options.rerun) for task in tasks)

        yield lambda tasks: run_all(ManyTasks(len(tasks), lambda: as_asked(tasks)))


@contextmanager
def _workers(options: RunOptions, roles: Sequence[str], *, many: bool) -> Iterator[RunAll]:
    if options.cluster == "control-plane":
        with _on_control_plane(options, roles) as run_all:
            yield run_all
        return
    if options.cluster == "existing":
        with _on_existing(options, roles) as run_all:
            yield run_all
        return
    if options.cluster == "kind":
        with _on_kind(options, roles) as run_all:
            yield run_all
        return
    # Who interrupts a campaign waits for the rest of a chunk, and programs are slow.
    most = FEW_AT_A_TIME if profiles_named(options.implementation) else MANY_AT_A_TIME
    with collecting_seldom(), side_by_side(processes(options, roles), many=many) as each:
        yield lambda tasks: each(run_task, tasks, max(1, min(most, len(tasks) // 16)), lost_run)


def processes(options: RunOptions, roles: Sequence[str]) -> int:
    """How many processes run simulations; 0: one per core."""
    is_alone = profiles_named(options.implementation) and why_one_process(
        options.implementation, roles
    )
    return 1 if is_alone else options.jobs


class UnknownClusterError(ValueError):
    """A cluster without preflight checks; the message names the command that makes them."""


def run_task(task: Task) -> RunResult:
    """Make one simulated run, or the same one twice; what a worker process does."""
    result = _simulated(task)
    if task.twice:
        # Here, since a campaign keeps few of its histories.
        result = msgspec.structs.replace(
            result, repeated=difference_between(result, _simulated(task))
        )
    if task.has_state:
        result = msgspec.structs.replace(result, state=state_at_end(result))
    return result if task.keep_history else without_uneventful_history(result)


def _simulated(task: Task) -> RunResult:
    plan = None if task.plan is None else plan_from_data(task.plan)
    scenario = ALL_SCENARIOS[task.scenario]
    return run_one(
        scenario,
        all_simulated(task.implementation, scenario.roles),
        task.seed,
        plan,
        task.variant,
        task.edition,
    )


def lost_run(task: Task, how: str) -> RunResult:
    """The result of a run whose process ended abruptly before it had one: it shows nothing."""
    scenario = ALL_SCENARIOS[task.scenario]
    named = all_simulated(task.implementation, scenario.roles)
    return RunResult(
        scenario=scenario.id,
        title=scenario.title,
        seed=task.seed,
        plan=task.plan or Plan(scenario.id, seed=task.seed).to_data(),
        header=Header(
            scenario=scenario.id,
            seed=task.seed,
            cluster="simulated",
            clock="virtual",
            began_us=SIMULATION_EPOCH_US,
            kubernetes_version="",
            operators={
                role: OperatorUnderTest(suite=role, implementation=each.name)
                for role, each in named.items()
            },
        ),
        entries=(),
        verdicts=(),
        wall_seconds=0,
        virtual_seconds=0,
        error=f"the process that made the run ended abruptly: {how}",
        variant=task.variant,
    )


def without_uneventful_history(result: RunResult) -> RunResult:
    """The result as it is kept of a campaign: its history only if that shows a violation."""
    if any(verdict.outcome is Outcome.FAILED for verdict in result.verdicts):
        return result
    return msgspec.structs.replace(
        result, entries=(), history_sha256=history_digest(result.header, result.entries)
    )


@contextmanager
def _on_control_plane(options: RunOptions, roles: Sequence[str]) -> Iterator[RunAll]:
    """Many runs on one control plane; those which stop parts of it one by one on another."""
    from conformance.worlds.control_plane.plane_session import (
        ALONE,
        SHARED,
        ControlPlaneSession,
    )

    implemented = all_under_test(options.implementation, roles)
    with ExitStack() as open_until_end:

        def runs_on(settings: Settings, jobs: int) -> Submit:
            # Runs that stop parts of a control plane never get one that stays.
            cluster = options.cluster_folder if settings is SHARED else None
            session = ControlPlaneSession(implemented, all_crds(), options.out, settings, cluster)
            open_until_end.enter_context(session)
            pool = ThreadPoolExecutor(jobs, thread_name_prefix="run")
            # What has not begun is not waited for when something went wrong.
            open_until_end.callback(pool.shutdown, cancel_futures=True)
            return lambda task: pool.submit(_run_on, session, task)

        together = cache(lambda: runs_on(SHARED, options.jobs or SIDE_BY_SIDE))
        alone = cache(lambda: runs_on(ALONE, 1))

        def run_all(described: Tasks) -> Iterator[RunResult]:
            tasks = list(described)
            # Long ones first: a long one that begins last is waited for by nobody but everybody.
            order = sorted(range(len(tasks)), key=lambda n: -_expected_length(tasks[n].scenario))
            futures = {
                n: (alone if ALL_SCENARIOS[tasks[n].scenario].alone else together)()(tasks[n])
                for n in order
            }
            return (futures[n].result() for n in range(len(tasks)))

        yield run_all


@contextmanager
def _on_existing(options: RunOptions, roles: Sequence[str]) -> Iterator[RunAll]:
    """As many runs side by side as there are nodes for; none once the time is up."""
    from conformance.worlds.existing.session import ExistingSession

    undertaking = _agreed(options)
    jobs = _at_a_time(undertaking, options.jobs or SIDE_BY_SIDE_ELSEWHERE)
    with ExitStack() as open_until_end:
        session = open_until_end.enter_context(
            ExistingSession(
                all_under_test(options.implementation, roles),
                undertaking,
                all_crds(),
                options.out,
                jobs,
            )
        )
        pool = ThreadPoolExecutor(jobs, thread_name_prefix="run")
        open_until_end.callback(pool.shutdown, cancel_futures=True)
        # Whoever is told to end has little time: what runs is not waited for.
        open_until_end.callback(session.end_now)

        def run_all(described: Tasks) -> Iterator[RunResult]:
            tasks = list(described)
            futures = [pool.submit(_run_in_time, session, task) for task in tasks]
            return (found for future in futures if (found := future.result()) is not None)

        yield run_all


@contextmanager
def _on_kind(options: RunOptions, roles: Sequence[str]) -> Iterator[RunAll]:
    """As many runs side by side as there are nodes for; then, one by one, those which stop
    nodes and controllers that others stand on; none once the time is up."""
    from conformance.worlds.kind.session import KindSession

    undertaking = _agreed(options)
    if options.nodes is None:
        raise UnknownClusterError("nobody made a kind cluster; use `assay run`")
    jobs = _at_a_time(undertaking, options.jobs or len(undertaking.nodes.usable))
    implemented = all_under_test(options.implementation, roles)
    with ExitStack() as open_until_end:
        session = open_until_end.enter_context(
            KindSession(implemented, undertaking, options.nodes, all_crds(), options.out, jobs)
        )
        together = ThreadPoolExecutor(jobs, thread_name_prefix="run")
        open_until_end.callback(together.shutdown, cancel_futures=True)
        alone = ThreadPoolExecutor(1, thread_name_prefix="alone")
        open_until_end.callback(alone.shutdown, cancel_futures=True)
        open_until_end.callback(session.end_now)

        def run_all(described: Tasks) -> Iterator[RunResult]:
            tasks = list(described)
            is_alone = [ALL_SCENARIOS[task.scenario].alone for task in tasks]
            futures = [
                None if single else together.submit(_run_in_time, session, task)
                for task, single in zip(tasks, is_alone, strict=True)
            ]
            others = [future for future in futures if future is not None]

            def run_alone(task: Task) -> RunResult | None:
                wait(others)
                return _run_in_time(session, task)

            whole = [
                future or alone.submit(run_alone, task)
                for future, task in zip(futures, tasks, strict=True)
            ]
            return (found for future in whole if (found := future.result()) is not None)

        yield run_all


def _agreed(options: RunOptions) -> Undertaking:
    if options.undertaking is None or options.undertaking.problems:
        raise UnknownClusterError("nothing was agreed on for that cluster; use `assay run`")
    return options.undertaking


def _at_a_time(undertaking: Undertaking, most: int) -> int:
    """How many runs there can be: each takes nodes, and an installed operator to itself."""
    from conformance.worlds.existing.preflight import NODES_OF_A_RUN

    if undertaking.installed:
        return 1
    return min(most, len(undertaking.nodes.usable) // NODES_OF_A_RUN)


def _run_in_time(session: Session, task: Task) -> RunResult | None:
    """None if the time was up before its end: what was cut off shows nothing.

    A run that cannot be made ends the time of all: the suite breaks off with it, and waits for
    nothing that the others still do.
    """
    from conformance.worlds.control_plane.session import OutOfTimeError

    if not session.seconds_left():
        return None
    with ExitStack() as if_it_fails:
        if_it_fails.callback(session.end_now)
        try:
            result = _run_on(session, task)
        except OutOfTimeError:
            return None
        if_it_fails.pop_all()
    return result if session.seconds_left() else None


def _run_on(session: Session, task: Task) -> RunResult:
    plan = None if task.plan is None else plan_from_data(task.plan)
    scenario = ALL_SCENARIOS[task.scenario]
    result = run_really(
        session, scenario, task.seed, plan, task.variant, task.stretch, task.edition
    )
    return result if task.keep_history else without_uneventful_history(result)


@cache
def _expected_length(scenario: str) -> float:
    """How long the steps of a run take in the simulation without further faults; a guess, good
    enough for an order. Not known of an operator without a reference."""
    if without_reference(ALL_SCENARIOS[scenario].roles):
        return 0
    result = run_one(
        ALL_SCENARIOS[scenario],
        implementations(REFERENCE, ALL_SCENARIOS[scenario].roles),
        DEFAULT_SEED,
    )
    steps = (e.t for e in result.entries if isinstance(e, Mark) and e.mark == "faults-stopped")
    return next(steps, 0)
