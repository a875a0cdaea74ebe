"""Failures that only a campaign on a control plane shows, made small: a few runs for each.

A claim that fault-free runs violate as well has its simplest evidence there, and is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from chaos.plan import Plan
from conformance.norm.claim import CLAIMS
from conformance.report.run_result import RunResult
from conformance.running.counted_campaigns import violated_claims
from conformance.running.shrunk import Failure, failures, smallest_run
from conformance.running.workers import Task

MAX_RUNS: Final = 12
"""For each failure; a run takes up to a minute."""


def shrink_new(
    campaign: Sequence[RunResult],
    fault_free: Sequence[RunResult],
    implementation: str,
    run: Callable[[Task], RunResult],
) -> Iterator[tuple[Failure, RunResult | None]]:
    """Each failure with its smallest run; None if nothing smaller was found.

    `run` makes one run, and is called from several threads: the failures are worked on side by
    side.
    """
    found = failures(campaign, CLAIMS.keys() - violated_claims(fault_free))
    if not found:
        return

    def run_plan(plan: Plan) -> RunResult:
        return run(Task(plan.scenario, implementation, plan.seed, plan.to_data()))

    with ThreadPoolExecutor(len(found), thread_name_prefix="shrink") as each:
        smallest = each.map(lambda one: smallest_run(one, run_plan, max_runs=MAX_RUNS), found)
        yield from zip(found, smallest, strict=True)
