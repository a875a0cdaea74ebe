"""Run the suite against random mutations of the reference's source.

The mutants beside the reference are hand-written. These are random: the result of a mutation
operator on any line of its decision code. A first pass runs every scenario on the reference and
records which lines it executes. A mutant is then tried in the scenarios that execute its line,
those that arm the most claims first, and then in those that execute its function, until one claim
fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from conformance.mutating.alone import OutOfTimeError, Say, each_alone, processor_time
from conformance.mutating.equivalent import equivalents
from conformance.mutating.executed import Executed, Recording, by_whom, merged
from conformance.mutating.mutants import SourceMutant
from conformance.mutating.substitute import substitute
from conformance.norm.verdict import Outcome
from conformance.running.mutant_trials import (
    DECIDED,
    Fate,
    MutantFate,
    Sound,
    nearest,
    sound_of,
    try_in,
)
from conformance.running.run_options import OnProgress, Progress, RunOptions
from vocabulary.history import history_digest
from vocabulary.implementations import REFERENCE

if TYPE_CHECKING:
    from conformance.report.run_result import RunResult

EQUIVALENT: Final = Path(__file__).with_name("equivalent_mutants.yaml")
LEAST_SECONDS: Final = 6.0
TIMES_THE_REFERENCE: Final = 20
"""A run may compute for so much longer than the reference's; then it is ended. Runs have a bound of
their own that is lower (`hung`); this one also covers loading the mutant, and judging."""
SILENCE_SECONDS: Final = 600.0
"""A process from which nothing is heard for so long is ended: longer than any run may take."""
_CHUNK: Final = 12
_PRELOAD: Final = (
    "coverage",
    "conformance.claims",
    "conformance.report.run_result",
    "conformance.scenarios",
    "clusters.simulated.cluster",
)
"""Modules that a run needs and that do not depend on the reference, loaded once."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The reference in every scenario."""

    executed: Executed
    sound: dict[str, Sound]

    def scenarios_of(self, mutant: SourceMutant) -> list[str]:
        """Those in which the mutant may matter, the most telling first: those that execute its
        lines, then those that execute its function. What is executed when the module is loaded may
        matter in all of them."""
        own = set(by_whom(self.executed, mutant.path, mutant.lines))
        found = by_whom(self.executed, mutant.path, mutant.lines, mutant.scope)
        return sorted(
            found or self.sound,
            key=lambda name: (name not in own, -len(self.sound[name].armed), name),
        )


class _Task(msgspec.Struct, frozen=True):
    module: str
    source: str
    scenarios: tuple[str, ...]
    sound: dict[str, Sound]
    elsewhere: tuple[str, ...]
    """The claims that passed in a scenario in which the mutant cannot matter."""
    seed: int


def measure(options: RunOptions, paths: Iterable[str], scenarios: Sequence[str]) -> Measured:
    """Run scenarios on the reference, and record who executes which lines of these files."""
    ids = sorted(scenarios)
    chunks = [
        (ids[at : at + _CHUNK], options.seed, sorted(set(paths)))
        for at in range(0, len(ids), _CHUNK)
    ]
    parts = [
        part
        for _, part in each_alone(
            _measure, chunks, jobs=options.jobs, silence_seconds=SILENCE_SECONDS, preload=_PRELOAD
        )
    ]
    if None in parts:
        raise RuntimeError("the reference could not be measured")
    return Measured(
        executed=merged(executed for executed, _ in parts),
        sound={name: sound for _, sounds in parts for name, sound in sounds.items()},
    )


def _measure(task: tuple[list[str], int, list[str]], _: Say) -> tuple[Executed, dict[str, Sound]]:
    from conformance.implementations.ours import implementations
    from conformance.running.runner import run_one, with_verdicts
    from conformance.scenarios import SCENARIOS
    from reference_controller import programs

    ids, seed, paths = task
    for role in {role for name in ids for role in SCENARIOS[name].roles}:
        programs.load(role)  # what is executed once, when it is loaded, is of no scenario
    recording = Recording(paths)
    sounds = {}
    for name in ids:
        began = os.times()
        scenario = SCENARIOS[name]
        with recording.on():
            recording.is_now(name)
            references = implementations(REFERENCE, scenario.roles)
            run = run_one(scenario, references, seed, is_judged=False)
        ended = os.times()
        seconds = ended.user + ended.system - began.user - began.system
        digest = history_digest(run.header, run.entries)
        sounds[name] = sound_of(with_verdicts(run), digest, seconds)
    return recording.executed(), sounds


def run_generic(
    mutants: Sequence[SourceMutant],
    options: RunOptions,
    on_progress: OnProgress,
    scenarios: Sequence[str] = (),
) -> list[MutantFate]:
    """The result of each mutant, in their order; all scenarios run unless some are named."""
    from conformance.implementations.ours import without_reference
    from conformance.scenarios import SCENARIOS

    with_references = [n for n, found in SCENARIOS.items() if not without_reference(found.roles)]
    argued = equivalents(EQUIVALENT)
    tried = [found for found in mutants if found.id not in argued]
    results = {
        found.id: _result(found, "equivalent", reason=argued[found.id].reason)
        for found in mutants
        if found.id in argued
    }
    measured = measure(options, [found.path for found in tried], scenarios or with_references)
    tasks = [_task(found, measured, options.seed) for found in tried]
    done = each_alone(
        try_mutant,
        tasks,
        jobs=options.jobs,
        silence_seconds=SILENCE_SECONDS,
        preload=_PRELOAD,
    )
    for index, told in done:
        result = _concluded(tried[index], told, tasks[index], measured)
        results[result.id] = result
        on_progress(
            Progress(
                done=len(results),
                total=len(mutants),
                scenario=result.where,
                outcome=Outcome.PASSED if result.fate in DECIDED else Outcome.FAILED,
            )
        )
    return [results[found.id] for found in mutants]


def _task(mutant: SourceMutant, measured: Measured, seed: int) -> _Task:
    scenarios = measured.scenarios_of(mutant)
    rest = measured.sound.keys() - set(scenarios)
    return _Task(
        mutant.module,
        mutant.source,
        tuple(scenarios),
        {name: measured.sound[name] for name in scenarios},
        tuple({claim for name in rest for claim in measured.sound[name].passed}),
        seed,
    )


def _concluded(
    mutant: SourceMutant, told: dict[str, Any] | None, task: _Task, measured: Measured
) -> MutantFate:
    if told is None or "fate" not in told:
        where = "" if told is None else told["scenario"]
        return _result(mutant, "timed out", scenario=where, reason="its process had to be ended")
    result = _result(mutant, **told)
    if result.fate in ("survived", "inconclusive"):
        claims = nearest(measured.sound, result.differs or task.scenarios)
        return msgspec.structs.replace(result, nearest=claims)
    return result


def _result(mutant: SourceMutant, fate: Fate, **told: Any) -> MutantFate:
    return MutantFate(
        id=mutant.id,
        where=mutant.where,
        operator=mutant.operator,
        change=mutant.change,
        diff=mutant.diff(),
        fate=fate,
        **told,
    )


def try_mutant(task: _Task, say: Say) -> dict[str, Any]:
    """Run scenarios against one mutant until a claim fails which holds for the reference."""
    substitute(task.module, task.source)
    try:
        with processor_time(LEAST_SECONDS):
            from conformance.implementations.ours import implementations
            from conformance.running.runner import run_one, with_verdicts
            from conformance.scenarios import SCENARIOS

            scenarios = {name: SCENARIOS[name] for name in task.scenarios}
            references = {
                name: implementations(REFERENCE, scenario.roles)
                for name, scenario in scenarios.items()
            }
    except OutOfTimeError:
        return {"fate": "timed out"}
    except Exception as error:  # noqa: BLE001 - any of them keeps the operator from starting
        return {"fate": "does not run", "reason": repr(error)}

    def run(name: str) -> tuple[RunResult, bool]:
        sound = task.sound[name]
        with processor_time(max(LEAST_SECONDS, TIMES_THE_REFERENCE * sound.seconds)):
            made = run_one(scenarios[name], references[name], task.seed, is_judged=False)
            # Checkers share no code with what was mutated: equal histories, equal verdicts.
            is_same = history_digest(made.header, made.entries) == sound.digest
            return (made, True) if is_same else (with_verdicts(made), False)

    return try_in(task.scenarios, task.sound, task.elsewhere, run, say)
