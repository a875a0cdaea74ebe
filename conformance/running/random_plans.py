"""Each scenario again with random faults.

A plan strikes anywhere and at any time, so a scenario's steps may never see what they
expect. That is no failure: the history so far is evaluated like any other, in two phases. While
the faults last nothing forbidden may happen; once they stop, the workload must come to rest
within the bound that its parameters allow. Violations are then shrunk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec

from chaos.campaign import pair_count, pairwise, random_plan
from chaos.plan import Plan
from chaos.terrain import Terrain, terrains_of
from conformance.report.run_result import RunResult
from conformance.running.workers import Task
from conformance.scenarios import SCENARIOS

REFUSED_BESIDE_OTHERS: Final = frozenset({"node_lost"})
"""Faults that stop a kubelet which serves other runs on the same control plane."""


def random_tasks(
    run: RunResult, implementation: str, count: int, *, pairs: bool = False
) -> Iterator[Task]:
    """So many runs of the scenario that a run shows the terrain of, each with a seed of its own.

    With `pairs`, also one under each kind of fault and one under each pair of kinds. Where several
    operators had work, plans are drawn for one after the other.
    """
    terrains = _terrains(run)
    if not terrains:
        return

    def task(plan: Plan, variant: str) -> Task:
        return Task(
            run.scenario, implementation, plan.seed, plan.to_data(), variant, keep_history=False
        )

    for number in range(1, count + 1):
        terrain = terrains[number % len(terrains)]
        plan = random_plan(terrain, plan_seed(run.scenario, run.seed, number))
        yield task(plan, f"random plan {number} of {count}")
    for terrain in terrains if pairs else ():
        of = "" if len(terrains) == 1 else f"{terrain.operator}: "
        for plan in pairwise(terrain, plan_seed(run.scenario, run.seed, 0)):
            yield task(plan, of + " and ".join(step.fault.plan_key for step in plan.faults))


def random_count(run: RunResult, count: int, *, pairs: bool = False) -> int:
    """The number of tasks that `random_tasks` yields, without making their plans."""
    terrains = _terrains(run)
    of_pairs = sum(map(pair_count, terrains)) if pairs else 0
    return count + of_pairs if terrains else 0


def is_of_pairs(run: RunResult, seed: int) -> bool:
    """True for a run under a kind of fault or a pair of kinds, all of which have one seed; `seed`
    is that of the undisturbed run."""
    return run.seed == plan_seed(run.scenario, seed, 0)


def _terrains(run: RunResult) -> tuple[Terrain, ...]:
    terrains = terrains_of(run.scenario, run.entries, run.header.operators)
    if run.header.clock == "wall" and not SCENARIOS[run.scenario].alone:
        return tuple(map(_beside_others, terrains))
    return terrains


def _beside_others(terrain: Terrain) -> Terrain:
    """The terrain of a run that shares its control plane: nothing that others use is stopped."""
    return replace(terrain, controllers=(), without=REFUSED_BESIDE_OTHERS)


def plan_seed(scenario: str, seed: int, number: int) -> int:
    """Another seed for each plan, so that suites with neighbouring seeds share none."""
    digest = hashlib.sha256(f"{seed}/{scenario}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def in_spite_of_its_faults(run: RunResult) -> RunResult:
    """The run as one that came to its end: that its steps did not is what the faults may do."""
    return msgspec.structs.replace(run, error="")
