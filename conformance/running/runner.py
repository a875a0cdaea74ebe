"""Runs one scenario: build a world, take its steps, let it settle, judge the history.

Whatever goes wrong on the way ends up in the result: a run never disappears.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from chaos.plan import Plan
from clusters.simulated.mistakes import SimulationError
from conformance import claims
from conformance.history import History
from conformance.implementations.ours import Implementation
from conformance.implementations.under_test import UnderTest
from conformance.norm.verdict import Verdict
from conformance.report.run_result import NOT_REACHED, REFUSED, TRIPPED, RunResult
from conformance.running.collecting import collector_at_rest
from conformance.running.counterparts import counterpart_of
from conformance.running.hung import HungError, processor_time_bounded
from conformance.scenario_type import ALL_SCENARIOS, Scenario
from conformance.suite import SuiteError
from conformance.world import NotReachedError, World
from conformance.worlds.lockstep.pacing import BusyError
from conformance.worlds.simulated.world import SimulatedWorld
from conformance.worlds.turns import turns_at
from vocabulary.clock import SECOND
from vocabulary.entry_points import line_that_raised
from vocabulary.errors import ApiError
from vocabulary.history import Counterpart
from vocabulary.implementations import REFERENCE, in_one_text

if TYPE_CHECKING:
    from conformance.worlds.control_plane.session import Session


def run_one(
    scenario: Scenario,
    implementation: Implementation | Mapping[str, Implementation | UnderTest],
    seed: int,
    plan: Plan | None = None,
    variant: str = "",
    edition: str = "",
    *,
    is_judged: bool = True,
) -> RunResult:
    """Run a scenario in the simulation and judge it by every claim.

    `implementation` is that of the only role, or those of several by role. `plan` adds faults to
    those of the scenario's own steps, or replaces them; it may also make the scenario smaller, and
    name the edition. With `is_judged=False` the result has the history and no verdicts:
    `with_verdicts` adds them.
    """
    began = time.perf_counter()
    edition = edition if plan is None else plan.edition or edition
    with collector_at_rest():
        scenario = scenario.planned(plan)
        under_test = (
            {implementation.role: implementation}
            if isinstance(implementation, Implementation)
            else implementation
        )
        counterpart = (
            _counterpart(scenario, under_test, seed, plan, edition)
            if scenario.compared_with and is_judged
            else msgspec.UNSET
        )
        with turns_at((), _constant_folders(under_test)):
            world = SimulatedWorld(scenario, under_test, seed, plan, edition)
            try:
                with processor_time_bounded(
                    _options_of(under_test),
                    lambda: world.pods,
                    lambda: world.loop.steps,
                    has_programs=not all(
                        isinstance(each, Implementation) for each in under_test.values()
                    ),
                ):
                    error = _play(scenario, world, has_faults=plan is not None)
            except (HungError, BusyError) as hung:
                world.give_up(str(hung))
                error = world.given_up
            judge = claims.judge if is_judged else _no_verdicts
            result = _judged(
                world, under_test, plan, variant, error, began, edition, judge, counterpart
            )
            world.close()
        return result


def _counterpart(
    scenario: Scenario,
    under_test: Mapping[str, Implementation | UnderTest],
    seed: int,
    plan: Plan | None,
    edition: str,
) -> Counterpart:
    """The undisturbed run that this one is compared with."""

    def run(undisturbed: Plan) -> RunResult:
        compared_with = ALL_SCENARIOS[scenario.compared_with]
        return run_one(
            compared_with, last, undisturbed.seed, undisturbed, "", edition, is_judged=False
        )

    last = {role: each.newly_installed() for role, each in under_test.items()}
    planned = replace(plan or Plan(scenario.id), seed=seed)
    return counterpart_of(planned, scenario.compared_with, _options_of(last), run)


def _constant_folders(under_test: Mapping[str, Implementation | UnderTest]) -> set[Path]:
    """The folders of this machine that programs under test always use, and share."""
    programs = (each for each in under_test.values() if not isinstance(each, Implementation))
    folders = {each.constant_folder for each in programs} - {None}
    if not folders:
        return set()
    from conformance.worlds.lockstep.own_files import has_own  # which needs an extra

    return {each for each in folders if each is not None and not has_own(each)}


def with_verdicts(run: RunResult) -> RunResult:
    """The same run, judged by every claim."""
    history = History(run.header, run.entries)
    verdicts = tuple(claims.judge(history))
    history.close()
    return msgspec.structs.replace(run, verdicts=verdicts)


def run_really(
    session: Session,
    scenario: Scenario,
    seed: int,
    plan: Plan | None = None,
    variant: str = "",
    stretch: int = 1,
    edition: str = "",
) -> RunResult:
    """Run a scenario on a session's control plane and judge it by every claim.

    `stretch` multiplies the durations that the run would have otherwise. OperatorStartError if
    the implementation has not come up in any run so far, nor is likely to.
    """
    from conformance.worlds.control_plane.world import ControlPlaneWorld

    began = time.perf_counter()
    edition = edition if plan is None else plan.edition or edition
    scenario = scenario.planned(plan)
    with session.turn(scenario.roles):
        with session.beginning:
            session.starts.require_hope()
            world = ControlPlaneWorld(session, scenario, seed, plan, stretch, edition)
        session.unfinished.begin(world)
        try:
            error = _play(scenario, world, has_faults=plan is not None)
        finally:
            world.close()
            session.unfinished.end(world)
    under_test = {role: session.implementations[role] for role in scenario.roles}
    return _judged(world, under_test, plan, variant, error, began, edition)


def _play(scenario: Scenario, world: World, *, has_faults: bool) -> str:
    """Let the scenario's steps happen, then let the world settle; why the steps ended early.

    A state that does not come, or a request that is refused, ends the steps and not the run:
    the history so far is judged like any other, and says what went wrong.
    """
    error = world.not_ready
    try:
        if not error:
            scenario.steps(world)
    except NotReachedError as missed:
        error = f"{NOT_REACHED}{missed}"
    except ApiError as refused:
        error = f"{REFUSED}{refused.reason}: {refused.message}"
    except SimulationError:
        raise  # neither the scenario nor the operator is to blame
    except Exception as mistake:
        line = line_that_raised(mistake, scenario.folder)
        if not line:
            raise
        what = f"{type(mistake).__name__}: {mistake}"
        if has_faults:  # that have brought about a state which its steps do not expect
            error = f"{TRIPPED}{what}"
        else:
            raise SuiteError(f"scenario {scenario.id}: {line}: {what}; mend it") from mistake
    if error:
        world.mark("step", error)
    world.finish()
    if not error and not world.given_up:
        return ""
    return "; ".join(filter(None, (error, world.given_up, *world.crashes)))


def _judged(
    world: World,
    under_test: Mapping[str, Implementation | UnderTest],
    plan: Plan | None,
    variant: str,
    error: str,
    began: float,
    edition: str,
    judge: Callable[[History], Sequence[Verdict]] = claims.judge,
    counterpart: Counterpart | msgspec.UnsetType = msgspec.UNSET,
) -> RunResult:
    header, entries = world.history()
    header = msgspec.structs.replace(header, counterpart=counterpart)
    history = History(header, entries)
    verdicts = judge(history)
    history.close()
    option = _option_of(under_test)
    replayed = replace(
        plan or Plan(header.scenario),
        scenario=header.scenario,
        seed=header.seed,
        implementation="" if option == REFERENCE else option,
        edition=edition,
    )
    return RunResult(
        scenario=header.scenario,
        title=world.scenario.title,
        seed=header.seed,
        plan=replayed.to_data(),
        header=header,
        entries=entries,
        verdicts=tuple(verdicts),
        wall_seconds=time.perf_counter() - began,
        virtual_seconds=entries[-1].t / SECOND if entries else 0.0,
        error=error,
        began=not world.not_ready,
        variant=variant,
        strikes=world.strikes,
        requested=dict(world.requested),
        struck=tuple(step.to_data() for step in world.struck),
    )


def _no_verdicts(_: History) -> Sequence[Verdict]:
    return ()


def _option_of(under_test: Mapping[str, Implementation | UnderTest]) -> str:
    """The value of `--implementation` for these."""
    return in_one_text(_options_of(under_test))


def _options_of(under_test: Mapping[str, Implementation | UnderTest]) -> dict[str, str]:
    return {role: each.as_option for role, each in under_test.items()}
