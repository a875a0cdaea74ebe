"""Runs scenarios: one at a time here, side by side and as suites in `conformance.suite`.

A run is: build a world, take the scenario's steps, let the faults stop, let the workload
settle, judge the history. Whatever goes wrong on the way ends up in the result: a run never
disappears.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from chaos.plan import Plan
from conformance import claims
from conformance.history_view import History
from conformance.implementation import Implementation
from conformance.report.run_result import RunResult
from conformance.scenario import Scenario
from conformance.world import NotReachedError, World
from conformance.worlds.simulated.world import SimulatedWorld
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.history import Entry, Header


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run that has ended, before anybody has judged it."""

    header: Header
    entries: tuple[Entry, ...]
    error: str
    """Why its steps did not come to their end; empty if they did."""
    virtual_seconds: float
    """How much time passed on the cluster's clock."""


def simulate(
    scenario: Scenario, implementation: Implementation, seed: int, plan: Plan | None = None
) -> Recorded:
    """Run a scenario in the simulation; `plan` adds faults to those of its steps."""
    world = SimulatedWorld(scenario, implementation, seed, plan)
    error = take_steps(scenario, world)
    world.finish()
    header, entries = world.history()
    return Recorded(header, entries, error, world.elapsed_us() / SECOND)


def take_steps(scenario: Scenario, world: World) -> str:
    """Let the scenario's steps happen; why they ended early, if they did.

    A state that does not come, or a request that is refused, ends the steps and not the run:
    the history so far is judged like any other, and says what went wrong.
    """
    try:
        scenario.steps(world)
    except NotReachedError as error:
        world.mark("step", f"not reached: {error}")
        return f"not reached: {error}"
    except ApiError as error:
        world.mark("step", f"refused: {error.message}")
        return f"a step was refused: {error.reason}: {error.message}"
    return ""


def run_one(
    scenario: Scenario,
    implementation: Implementation,
    seed: int,
    plan: Plan | None = None,
    variant: str = "",
) -> RunResult:
    """Run a scenario in the simulation and judge it by every claim."""
    began = time.perf_counter()
    recorded = simulate(scenario, implementation, seed, plan)
    verdicts = claims.judge(History(recorded.header, recorded.entries))
    effective = plan or Plan(scenario=scenario.id, seed=seed)
    return RunResult(
        scenario=scenario.id,
        title=scenario.title,
        seed=seed,
        plan=effective.to_data(),
        header=recorded.header,
        entries=recorded.entries,
        verdicts=tuple(verdicts),
        wall_seconds=time.perf_counter() - began,
        virtual_seconds=recorded.virtual_seconds,
        error=recorded.error,
        variant=variant,
    )
