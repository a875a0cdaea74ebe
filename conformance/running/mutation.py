"""How strong the suite is: run against controllers that are wrong on purpose.

A mutant is killed by every claim that fails for it (and holds for the reference). Scenarios in
which it would decide nothing otherwise than the reference are left out: their histories are the
reference's. Those which arm the claims that a mutant is meant for come first, and the search ends
when all of those have failed, so most mutants take a few runs.
A mutant runs in the default edition, and then in another one if a claim holds only there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from conformance import claims, editions
from conformance.history import History
from conformance.implementations.ours import implementation, implementations, without_reference
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import RunResult
from conformance.report.text import checker_failed
from conformance.running.run_options import OnProgress, Progress, RunOptions
from conformance.running.runner import run_one
from conformance.running.side_by_side import side_by_side
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS
from reference_controller import programs
from reference_controller.rules import comparing
from vocabulary.implementations import REFERENCE


class MutantResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one mutant."""

    mutant: str
    intended: tuple[str, ...]
    """The claims that should notice."""
    killed_by: tuple[str, ...]
    """The claims that failed, the intended ones first; empty if it lives."""
    scenarios: tuple[str, ...]
    """Where, in the order in which they were tried."""
    runs: int
    """How many scenarios it was tried in."""
    spared_by: tuple[str, ...] = ()
    """The scenarios that say that they kill it, and in no case do."""
    checker_errors: dict[str, str] = {}
    """By claim, the exception that its checker raised first, and where."""

    @property
    def missed(self) -> tuple[str, ...]:
        """The intended claims that did not fail in any scenario."""
        return tuple(claim for claim in self.intended if claim not in self.killed_by)


def run_mutants(
    names: Sequence[str],
    options: RunOptions,
    on_progress: OnProgress,
    *,
    role: str,
    thorough: bool = False,
    alone: bool = False,
) -> list[MutantResult]:
    """The claims that killed each mutant of a role's reference; `thorough` goes on when the
    intended claims have failed; `alone` judges by the intended claims, and no others."""
    scenarios = [
        name
        for name, found in SCENARIOS.items()
        if role in found.roles and not without_reference(found.roles)
    ]
    results: list[MutantResult] = []
    with side_by_side(options.jobs, many=len(names) > 1) as each:
        ask = partial(who_decides_otherwise, names=names, seed=options.seed, role=role)
        otherwise = dict(zip(scenarios, each(ask, scenarios, 8), strict=True))
        one = partial(
            kill,
            otherwise=otherwise,
            seed=options.seed,
            role=role,
            thorough=thorough,
            alone=alone,
        )
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


def who_decides_otherwise(
    scenario: str, *, names: Collection[str], seed: int, role: str
) -> frozenset[str]:
    """The mutants among `names` whose history of a scenario may differ from the reference's."""
    reference = implementation(REFERENCE, role)
    mutants = reference.program.mutants
    found = {name for name in names if mutants[name].is_installed_wrong}
    wrong = {name: mutants[name].rules for name in names}
    rules = comparing(reference.program.rules, wrong, found)
    under_test = implementations(REFERENCE, SCENARIOS[scenario].roles)
    comparison = replace(reference, rules=rules)
    run_one(SCENARIOS[scenario], {**under_test, role: comparison}, seed, is_judged=False)
    return frozenset(found)


def kill(
    name: str,
    *,
    otherwise: Mapping[str, Collection[str]],
    seed: int,
    thorough: bool,
    role: str,
    alone: bool = False,
) -> MutantResult:
    """Run scenarios against one mutant until all claims that should fail have failed.

    `otherwise` tells of each scenario which mutants decide anything otherwise there.
    """
    mutant = implementation(REFERENCE, role).program.mutants[name]
    killers: dict[str, str] = {}
    errors: dict[str, str] = {}
    runs = 0
    sparing = {
        found.function: found.id
        for found in SCENARIOS.values()
        if found.kills == name and role in found.roles
    }
    for edition, intended in _by_edition(mutant.killed_by).items():
        missing = set(intended)
        for scenario in _most_telling_first(intended, name):
            is_promised = scenario.kills == name and scenario.function in sparing
            if not (missing or thorough or (is_promised and intended)):
                continue
            if name not in otherwise.get(scenario.id, ()):
                continue
            runs += 1
            under_test = implementations(f"{role}=mutant:{name}", scenario.roles)
            run = run_one(scenario, under_test, seed, edition=edition, is_judged=not alone)
            for verdict in _by_these(run, intended) if alone else run.verdicts:
                if verdict.outcome is Outcome.FAILED:
                    killers.setdefault(verdict.claim, scenario.id)
                    missing.discard(verdict.claim)
                    if is_promised and verdict.claim in intended:
                        sparing.pop(scenario.function, None)
                if verdict.error:
                    failed = checker_failed(verdict.claim, scenario.id, verdict.error)
                    errors.setdefault(verdict.claim, failed)
    ordered = [claim for claim in mutant.killed_by if claim in killers]
    ordered += sorted(claim for claim in killers if claim not in mutant.killed_by)
    return MutantResult(
        mutant=name,
        intended=mutant.killed_by,
        killed_by=tuple(ordered),
        scenarios=tuple(dict.fromkeys(killers[claim] for claim in ordered)),
        runs=runs,
        spared_by=tuple(sparing.values()),
        checker_errors=errors,
    )


def _by_these(run: RunResult, ids: Sequence[str]) -> Iterator[Verdict]:
    """The verdicts of a few claims, with all others off."""
    history = History(run.header, run.entries)
    told = editions.told_by(run.header)
    judged = {each.id for each in claims.judged_on(run.scenario, frozenset(run.header.operators))}
    for claim in claims.load():
        is_judged = claim.id in judged and editions.holds(claim, told)
        if claim.id in ids and is_judged and claim.judge is not None:
            yield claim.judge(history)
    history.close()


def _by_edition(intended: Sequence[str]) -> dict[str, list[str]]:
    """The claims by the edition in which they are tried; "" is the default one."""
    known = {claim.id: claim for claim in claims.load()}
    found: dict[str, list[str]] = {"": []}
    for each in intended:
        claim = known[each]
        edition = "" if editions.holds(claim, {}) else claim.editions[0]
        found.setdefault(edition, []).append(each)
    return found


def _most_telling_first(intended: Sequence[str], mutant: str) -> list[Scenario]:
    """Scenarios that say that they kill the mutant come first, then those that arm the claims, of
    these the ones with the fewest other aims."""
    wanted = set(intended)
    return sorted(
        SCENARIOS.values(),
        key=lambda found: (
            found.kills != mutant,
            -len(wanted & set(found.arms)),
            len(found.arms),
            found.id,
        ),
    )


def claims_without_mutants(results: Iterable[MutantResult], judged: Iterable[str]) -> list[str]:
    """The claims that killed nothing: there is no evidence that they can fail."""
    killing = {claim for result in results for claim in result.killed_by}
    return [claim for claim in judged if claim not in killing]


def mutants_by_claim() -> dict[str, tuple[str, ...]]:
    """For each claim the mutants that it is meant to kill; `run_mutants` shows whether it does."""
    meant: dict[str, list[str]] = {}
    for role in programs.names():
        for name, mutant in sorted(programs.load(role).mutants.items()):
            for claim in mutant.killed_by:
                meant.setdefault(claim, []).append(name)
    return {claim: tuple(names) for claim, names in meant.items()}
