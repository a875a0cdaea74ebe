"""Run scenarios against an operator whose writes are made wrong by rules, on their way.

A first pass runs every scenario and notes the mistakes that the operator's writes could have. Some
are drawn by the seed; each is made in the scenarios in which it occurs, those that arm the most
claims first, until one claim fails that passes without it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import msgspec

from conformance.implementations.ours import Implementation
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import all_simulated, mistaken
from conformance.profiles.profiled import Profiled
from conformance.report.run_result import RunResult
from conformance.running.mutant_trials import DECIDED, MutantFate, Sound, nearest, sound_of, try_in
from conformance.running.run_options import OnProgress, Progress, RunOptions
from conformance.running.runner import run_one, with_verdicts
from conformance.running.side_by_side import side_by_side
from conformance.running.workers import processes
from conformance.scenarios import SCENARIOS
from conformance.wire.drawn import OfRole, drawn
from conformance.wire.interposed import Mistaken, Noted
from conformance.wire.rules import mistake
from vocabulary import canonical
from vocabulary.history import Write, history_digest

UNCHANGED = "what is stored is the same in every run"
_CHUNK = 4


class Measured(NamedTuple):
    """A run without any mistake."""

    sound: Sound
    stored: str
    """The digest of all that was stored."""
    mistakes: tuple[str, ...]
    """Those that the operators' writes could have, as `OfRole` spells them."""


class WireTask(msgspec.Struct, frozen=True):
    """A mistake to be made, and the scenarios to make it in."""

    wrong: str
    implementation: str
    seed: int
    scenarios: tuple[str, ...]
    measured: dict[str, Measured]
    elsewhere: tuple[str, ...]
    """The claims that passed in a scenario in which the mistake does not occur."""


def of_role(text: str) -> OfRole:
    """The mistake of a text, as `OfRole` prints it. Raises UnknownMistakeError."""
    role, _, rest = text.partition("=")
    return OfRole(role, mistake(rest))


def run_wire(
    scenarios: Sequence[str],
    roles: Sequence[str],
    options: RunOptions,
    on_progress: OnProgress,
    *,
    wanted: Sequence[OfRole] = (),
    count: int = 0,
    seed: int = 0,
) -> list[MutantFate]:
    """The result of each mistake that is wanted, or of so many that are drawn by a seed of those
    that writes of these roles could have in these scenarios."""
    with side_by_side(processes(options, roles), many=True) as each:
        measure = partial(measured, roles=roles, options=options)
        found = dict(zip(scenarios, each(measure, scenarios, _CHUNK), strict=True))
        possible = {text for one in found.values() for text in one.mistakes}
        chosen = list(wanted) or drawn(map(of_role, possible), count, seed)
        tasks = [_task(wrong, options, found) for wrong in chosen]
        results: list[MutantFate] = []
        for result in each(try_mistake, tasks, 1, lost):
            results.append(result)
            on_progress(progress(result, len(results), len(tasks)))
    return results


def progress(result: MutantFate, done: int, total: int) -> Progress:
    """How far the mistakes have been tried; one that was noticed is a success."""
    outcome = Outcome.PASSED if result.fate in DECIDED else Outcome.FAILED
    return Progress(done=done, total=total, scenario=result.id, outcome=outcome)


def measured(name: str, *, roles: Iterable[str], options: RunOptions) -> Measured:
    """Run a scenario without mistakes."""
    scenario = SCENARIOS[name]
    under_test = _simulated(options.implementation, scenario.roles)
    noted = {role: Noted() for role in scenario.roles if role in roles}
    noting = {role: replace(each, on_wire=noted.get(role)) for role, each in under_test.items()}
    began = time.process_time()
    run = run_one(scenario, noting, options.seed)
    return Measured(
        sound_of(run, same_but_name(run), time.process_time() - began),
        stored_in(run),
        tuple(str(OfRole(role, each)) for role, found in noted.items() for each in found.mistakes),
    )


def same_but_name(run: RunResult) -> str:
    """The digest of a history, whatever the implementations are called."""
    operators = {
        role: msgspec.structs.replace(each, implementation="")
        for role, each in run.header.operators.items()
    }
    header = msgspec.structs.replace(run.header, operators=operators, counterpart=msgspec.UNSET)
    return history_digest(header, run.entries)


def stored_in(run: RunResult) -> str:
    """The digest of all that was stored in a run, in its order."""
    digest = hashlib.sha256()
    for entry in run.entries:
        if isinstance(entry, Write) and entry.event:
            digest.update(canonical.encode([entry.event, entry.kind, entry.object]))
    return digest.hexdigest()


@cache
def _simulated(spelled: str, roles: tuple[str, ...]) -> Mapping[str, Implementation | Profiled]:
    """Profiles are read once in a process."""
    return all_simulated(spelled, roles)


def _task(wrong: OfRole, options: RunOptions, found: Mapping[str, Measured]) -> WireTask:
    text = str(wrong)
    within = {name: one for name, one in found.items() if text in one.mistakes}
    return WireTask(
        text,
        options.implementation,
        options.seed,
        tuple(sorted(within, key=lambda name: (-len(within[name].sound.armed), name))),
        # Mistakes are many, and of no use there.
        {name: one._replace(mistakes=()) for name, one in within.items()},
        tuple(
            {claim for name in found if name not in within for claim in found[name].sound.passed}
        ),
    )


def try_mistake(task: WireTask) -> MutantFate:
    """Run scenarios with a mistake until a claim fails which passes without it."""
    role, rule = of_role(task.wrong)
    wrong = Mistaken(rule)
    stores_otherwise: set[str] = set()

    def run(name: str) -> tuple[RunResult, bool]:
        scenario = SCENARIOS[name]
        under_test = dict(_simulated(task.implementation, scenario.roles))
        under_test[role] = mistaken(under_test[role], wrong)
        is_compared = bool(scenario.compared_with)
        made = run_one(scenario, under_test, task.seed, is_judged=is_compared)
        before = task.measured[name]
        if stored_in(made) != before.stored:
            stores_otherwise.add(name)
        if same_but_name(made) == before.sound.digest:
            return made, True
        return made if is_compared else with_verdicts(made), False

    sound = {name: one.sound for name, one in task.measured.items()}
    found = try_in(task.scenarios, sound, task.elsewhere, run, lambda _: None)
    if found["fate"] == "survived":
        found |= explained(wrong, stores_otherwise=bool(stores_otherwise))
        found["nearest"] = nearest(sound, found["differs"] or task.scenarios)
    return fate_of(task.wrong, **found)


def explained(wrong: Mistaken, *, stores_otherwise: bool) -> dict[str, Any]:
    """The corrected fate of a mistake that no claim noticed."""
    if not wrong.times:
        return {"fate": "never applied"}
    return {} if stores_otherwise else {"fate": "equivalent", "reason": UNCHANGED}


def fate_of(text: str, **told: Any) -> MutantFate:
    """The result of a mistake."""
    role, wrong = of_role(text)
    return MutantFate(
        id=text,
        where=f"{role} {wrong.target}",
        operator=wrong.rule,
        change=wrong.meaning,
        diff="",
        **told,
    )


def lost(task: Any, how: str) -> MutantFate:
    """The result of a mistake whose process ended abruptly."""
    return fate_of(task.wrong, fate="timed out", reason=f"its process ended abruptly: {how}")
