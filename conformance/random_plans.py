"""Each scenario again under faults drawn at random: what nobody thought of writing down.

A plan strikes where and when it likes, so a scenario's steps may wait in vain for what they
expect. That is no failure: the history so far is judged like any other, in two phases. While
the faults last nothing may happen that must not; once they stop, the workload must settle
within the bound that its parameters allow. What is violated is then shrunk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from chaos.campaign import random_plan, terrain_of
from conformance.report.run_result import RunResult
from conformance.workers import Task


def random_tasks(run: RunResult, implementation: str, count: int) -> Iterator[Task]:
    """So many runs of the scenario that a run shows the terrain of, each with a seed of its own."""
    terrain = terrain_of(run.scenario, run.entries)
    if terrain is None:
        return
    for number in range(1, count + 1):
        seed = plan_seed(run.scenario, run.seed, number)
        yield Task(
            run.scenario,
            implementation,
            seed,
            random_plan(terrain, seed).to_data(),
            f"random plan {number} of {count}",
            keep_history=False,
        )


def plan_seed(scenario: str, seed: int, number: int) -> int:
    """Another seed for each plan, so that suites with neighbouring seeds share none."""
    digest = hashlib.sha256(f"{seed}/{scenario}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def in_spite_of_its_faults(run: RunResult) -> RunResult:
    """The run as one that came to its end: that its steps did not is what the faults may do."""
    return msgspec.structs.replace(run, error="")
