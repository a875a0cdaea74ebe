"""How strong the suite is: run against controllers that are wrong on purpose.

A mutant is killed by every claim that fails for it (and holds for the reference). Scenarios
which arm the claims that a mutant is meant for come first, and the search ends when all of
those have failed, so most mutants take a few runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from conformance.running.run_options import OnProgress, Progress, RunOptions
from conformance.running.runner import run_one
from conformance.running.side_by_side import side_by_side
from conformance.scenario import Scenario
from conformance.scenarios import SCENARIOS
from conformance.verdict import Outcome
from reference_controller.appwrapper.mutants import MUTANTS


class MutantResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one mutant."""

    mutant: str
    intended: tuple[str, ...]
    """The claims that should notice."""
    killed_by: tuple[str, ...]
    """The claims that failed, the intended ones first; empty if it lives."""
    scenarios: tuple[str, ...]
    """Where, in the order in which they were tried."""
    runs: int
    """How many scenarios were tried."""


def run_mutants(
    names: Sequence[str], options: RunOptions, on_progress: OnProgress, *, thorough: bool = False
) -> list[MutantResult]:
    """What each mutant was killed by; `thorough` runs every scenario against each."""
    results: list[MutantResult] = []
    one = partial(kill, seed=options.seed, thorough=thorough)
    with side_by_side(options.jobs, many=len(names) > 1) as each:
        for result in each(one, names, 1):
            results.append(result)
            on_progress(
                Progress(
                    done=len(results),
                    total=len(names),
                    scenario=result.mutant,
                    # A mutant that was killed is a success of the suite.
                    outcome=Outcome.PASSED if result.killed_by else Outcome.FAILED,
                )
            )
    return results


def kill(name: str, *, seed: int, thorough: bool) -> MutantResult:
    """Run scenarios against one mutant until all claims that should fail have failed."""
    from conformance.implementation import implementation

    mutant = MUTANTS[name]
    missing = set(mutant.killed_by)
    killers: dict[str, str] = {}
    runs = 0
    for scenario in _most_telling_first(mutant.killed_by):
        runs += 1
        run = run_one(scenario, implementation(f"mutant:{name}"), seed)
        for verdict in run.verdicts:
            if verdict.outcome is Outcome.FAILED:
                killers.setdefault(verdict.claim, scenario.id)
                missing.discard(verdict.claim)
        if not missing and not thorough:
            break
    ordered = [claim for claim in mutant.killed_by if claim in killers]
    ordered += sorted(claim for claim in killers if claim not in mutant.killed_by)
    return MutantResult(
        mutant=name,
        intended=mutant.killed_by,
        killed_by=tuple(ordered),
        scenarios=tuple(dict.fromkeys(killers[claim] for claim in ordered)),
        runs=runs,
    )


def _most_telling_first(claims: Sequence[str]) -> list[Scenario]:
    """Scenarios that arm the claims come first, those with the fewest other aims before all."""
    wanted = set(claims)
    return sorted(
        SCENARIOS.values(),
        key=lambda found: (-len(wanted & set(found.arms)), len(found.arms), found.id),
    )


def claims_without_mutants(results: Iterable[MutantResult], claims: Iterable[str]) -> list[str]:
    """The claims that killed nothing: there is no evidence that they can fail."""
    killing = {claim for result in results for claim in result.killed_by}
    return [claim for claim in claims if claim not in killing]


def mutants_by_claim() -> dict[str, tuple[str, ...]]:
    """For each claim the mutants that it is meant to kill; `run_mutants` shows whether it does."""
    meant: dict[str, list[str]] = {}
    for name in sorted(MUTANTS):
        for claim in MUTANTS[name].killed_by:
            meant.setdefault(claim, []).append(name)
    return {claim: tuple(names) for claim, names in meant.items()}
