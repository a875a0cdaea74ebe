"""The designs of a norm's argument on a real control plane: is each convicted there, too?

The reference runs in the same scenarios first: what it violates there convicts no design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.explanation import Design, argument_of
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult
from conformance.running.mutation import MutantResult
from conformance.running.run_options import OnProgress, Progress, RunOptions
from conformance.running.why_not_run import reason_not_run
from conformance.running.workers import Task, workers
from conformance.scenarios import SCENARIOS
from conformance.suite import Suite, load
from vocabulary.implementations import REFERENCE

MUTANT = "mutant:"


def suite_with_argument(role: str) -> Suite | None:
    """The suite of an operator whose norm argues; None if there is none."""
    found = (suite for suite in load().values() if suite.roles == (role,))
    return next((suite for suite in found if argument_of(suite) is not None), None)


def designs_of(suite: Suite, mutants: Sequence[str]) -> tuple[list[Design], dict[str, str]]:
    """The designs of these mutants that a control plane can host; and by mutant, why it is not run
    there."""
    argument = argument_of(suite)
    by_mutant = {
        each.implementation.removeprefix(MUTANT): each
        for each in (() if argument is None else argument.designs)
        if not each.is_sound
    }
    designs: list[Design] = []
    left_out: dict[str, str] = {}
    for name in mutants:
        design = by_mutant.get(name)
        if design is None:
            left_out[name] = "is one decision, not a design: a finalizer is no lever for it"
        elif reason := design.only_simulated or reason_not_run(
            SCENARIOS[design.scenario], "control-plane"
        ):
            left_out[name] = reason
        else:
            designs.append(design)
    return designs, left_out


def run_designs(
    designs: Sequence[Design], options: RunOptions, on_progress: OnProgress
) -> list[MutantResult]:
    """The claims that convict each design in its scenario, and not the reference."""
    scenarios = list(dict.fromkeys(design.scenario for design in designs))
    violated = dict(
        zip(scenarios, map(_violated, _runs(REFERENCE, scenarios, options)), strict=True)
    )
    results: list[MutantResult] = []
    for design in designs:
        (run,) = _runs(design.implementation, [design.scenario], options)
        results.append(_result(design, run, violated))
        on_progress(
            Progress(
                done=len(results),
                total=len(designs),
                scenario=design.name,
                outcome=Outcome.FAILED if results[-1].missed else Outcome.PASSED,
            )
        )
    return results


def _runs(
    implementation: str, scenarios: Sequence[str], options: RunOptions
) -> Sequence[RunResult]:
    """Runs on a control plane that is started for them, unless the options have one."""
    own = replace(options, implementation=implementation)
    roles = sorted({role for name in scenarios for role in SCENARIOS[name].roles})
    tasks = [Task(name, implementation, options.seed) for name in scenarios]
    with workers(own, roles, many=False) as run_all:
        return list(run_all(tasks))


def _violated(run: RunResult) -> set[str]:
    return {each.claim for each in run.verdicts if each.outcome is Outcome.FAILED}


def _result(design: Design, run: RunResult, violated: Mapping[str, set[str]]) -> MutantResult:
    found = _violated(run) - violated[design.scenario]
    return MutantResult(
        mutant=design.implementation.removeprefix(MUTANT),
        intended=(design.claim,),
        killed_by=tuple(sorted(found, key=lambda claim: (claim != design.claim, claim))),
        scenarios=(design.scenario,),
        runs=1,
    )
