"""How strong the suite is: run against controllers that are wrong on purpose.

A mutant is killed by every claim that fails for it and holds for the reference. Scenarios
are tried in an order that puts first those which arm the claims a mutant is meant for, so
most mutants die in their first run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from conformance.run_options import OnProgress, Progress, RunOptions
from conformance.scenarios import SCENARIOS
from conformance.verdict import Outcome
from conformance.workers import Task, workers
from reference_controller.appwrapper.mutants import MUTANTS


class MutantResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one mutant."""

    mutant: str
    killed_by: tuple[str, ...]
    """The claims that failed, the intended ones first; empty if it lives."""
    scenarios: tuple[str, ...]
    """The scenarios in which they did, most telling first, at most three."""
    intended: tuple[str, ...]
    """The claims that should notice."""


def run_mutants(
    names: Sequence[str], options: RunOptions, on_progress: OnProgress
) -> list[MutantResult]:
    """Run every scenario against every mutant; what each was killed by."""
    tasks = [
        Task(scenario, f"mutant:{name}", options.seed, keep_history=False)
        for name in names
        for scenario in SCENARIOS
    ]
    killers: dict[str, dict[str, list[str]]] = {name: {} for name in names}
    with workers(options, many=True) as run_all:
        for done, (task, run) in enumerate(zip(tasks, run_all(tasks), strict=True), start=1):
            failed = [v.claim for v in run.verdicts if v.outcome is Outcome.FAILED]
            found = killers[task.implementation.partition(":")[2]]
            for claim in failed:
                found.setdefault(claim, []).append(task.scenario)
            outcome = Outcome.FAILED if failed else Outcome.PASSED
            on_progress(
                Progress(done=done, total=len(tasks), scenario=task.scenario, outcome=outcome)
            )
    return [_result(name, killers[name]) for name in names]


def _result(name: str, killers: dict[str, list[str]]) -> MutantResult:
    intended = MUTANTS[name].killed_by
    ordered = [claim for claim in intended if claim in killers]
    ordered += sorted(claim for claim in killers if claim not in intended)
    scenarios = dict.fromkeys(
        scenario for claim in ordered for scenario in _fewest_first(killers[claim])
    )
    return MutantResult(
        mutant=name,
        killed_by=tuple(ordered),
        scenarios=tuple(scenarios)[:3],
        intended=intended,
    )


def _fewest_first(scenarios: Iterable[str]) -> list[str]:
    return sorted(scenarios, key=lambda scenario: (len(SCENARIOS[scenario].arms), scenario))


def claims_without_mutants(results: Iterable[MutantResult], claims: Iterable[str]) -> list[str]:
    """The claims that killed nothing: no evidence that they can fail."""
    killing = {claim for result in results for claim in result.killed_by}
    return [claim for claim in claims if claim not in killing]
