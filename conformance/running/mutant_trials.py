"""One mutant, tried in scenario after scenario until a claim fails that passes without it.

What it is a mutant of, its source (`generic_mutants`) or its writes (`wire_mutants`), does not
matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from conformance.mutating.alone import OutOfTimeError, Say
from conformance.norm.verdict import Outcome

if TYPE_CHECKING:
    from conformance.report.run_result import RunResult

_MOST_TIMED_OUT: Final = 2
"""After so many runs that had to be ended, the others are not tried."""
_MOST_BROKE_OFF: Final = 3
"""After so many runs whose steps did not come to their end, as the reference's did, the others are
not tried: the suite would not pass, whatever they showed."""
Fate: TypeAlias = Literal[
    "killed",
    "inconclusive",
    "does not run",
    "timed out",
    "survived",
    "equivalent",
    "never applied",
]
NOT_COUNTED: Final = ("equivalent", "never applied")
DECIDED: Final = ("killed", "inconclusive", "does not run")
"""Fates that count as detected: the suite exits with another code than with the reference."""


class MutantFate(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one mutant."""

    id: str
    where: str
    operator: str
    change: str
    diff: str
    fate: Fate
    killed_by: tuple[str, ...] = ()
    """The claims that failed in the scenario which ended the search."""
    scenario: str = ""
    """The scenario which ended the search."""
    runs: int = 0
    differs: tuple[str, ...] = ()
    """Of a survivor: the scenarios whose history was another than the reference's."""
    broke_off: tuple[str, ...] = ()
    """Of a survivor: the scenarios whose steps did not come to their end."""
    nearest: tuple[str, ...] = ()
    """Of a survivor: the claims that the fewest other scenarios arm than those which execute it."""
    reason: str = ""
    """Of an equivalent: the argument; of what does not run: the error; of what is inconclusive: the
    claims that passed nowhere."""


class Sound(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario's result with the reference."""

    digest: str
    armed: tuple[str, ...]
    failed: tuple[str, ...]
    passed: tuple[str, ...]
    seconds: float
    """Of processor time."""
    broke_off: bool = False


def nearest(sound: Mapping[str, Sound], scenarios: Collection[str]) -> tuple[str, ...]:
    """The claims that are armed in these scenarios, the most particular to them first."""
    inside: dict[str, int] = {}
    everywhere: dict[str, int] = {}
    for name, each in sound.items():
        for claim in each.armed:
            everywhere[claim] = everywhere.get(claim, 0) + 1
            inside[claim] = inside.get(claim, 0) + (name in scenarios)
    armed = [claim for claim, times in inside.items() if times]
    return tuple(sorted(armed, key=lambda claim: (-inside[claim] / everywhere[claim], claim)))


def sound_of(run: RunResult, digest: str, seconds: float) -> Sound:
    """The result of a judged run without the mutant."""
    return Sound(
        digest=digest,
        armed=tuple(verdict.claim for verdict in run.verdicts if verdict.armed),
        failed=with_outcome(run, Outcome.FAILED),
        passed=with_outcome(run, Outcome.PASSED),
        seconds=seconds,
        broke_off=bool(run.error),
    )


def with_outcome(run: RunResult, outcome: Outcome) -> tuple[str, ...]:
    """The claims that have an outcome in a run."""
    # Outcomes of modules that were loaded anew are others, with the same values.
    return tuple(
        verdict.claim for verdict in run.verdicts if verdict.outcome.value == outcome.value
    )


def try_in(
    scenarios: Sequence[str],
    sound: Mapping[str, Sound],
    elsewhere: Iterable[str],
    run: Callable[[str], tuple[RunResult, bool]],
    say: Say,
) -> dict[str, Any]:
    """The fate of a mutant, with the other fields of a `MutantFate` that go with it.

    `elsewhere` are the claims that passed in scenarios in which the mutant cannot matter. `run`
    makes the run of a scenario, and returns True with it if it equals that without the mutant;
    only other ones need verdicts. `say` hears of each scenario before its run.
    """
    differs: list[str] = []
    broke_off: list[str] = []
    timed_out: list[str] = []
    passed = set(elsewhere)
    runs = 0
    for runs, name in enumerate(scenarios, 1):
        say({"scenario": name})
        before = sound[name]
        try:
            made, is_same = run(name)
        except OutOfTimeError:
            timed_out.append(name)
            if len(timed_out) == _MOST_TIMED_OUT:
                break
            continue
        except Exception as error:  # noqa: BLE001 - however it breaks down, the run is not made
            return {"fate": "does not run", "scenario": name, "runs": runs, "reason": repr(error)}
        failed = before.failed if is_same else with_outcome(made, Outcome.FAILED)
        killed_by = tuple(sorted(set(failed) - set(before.failed)))
        if killed_by:
            return {"fate": "killed", "killed_by": killed_by, "scenario": name, "runs": runs}
        passed.update(before.passed if is_same else with_outcome(made, Outcome.PASSED))
        if not is_same:
            differs.append(name)
        if made.error and not before.broke_off:
            broke_off.append(name)
            if len(broke_off) == _MOST_BROKE_OFF:
                break
    if timed_out:
        return {"fate": "timed out", "scenario": timed_out[0], "runs": len(scenarios)}
    tried = scenarios[:runs]
    lost = {claim for name in tried for claim in sound[name].passed} - passed
    if len(tried) < len(scenarios):
        lost = set()  # the others might have shown these
    return {
        "fate": "inconclusive" if lost or broke_off else "survived",
        "reason": ", ".join(sorted(lost)),
        "runs": len(tried),
        "differs": tuple(differs),
        "broke_off": tuple(broke_off),
    }


def percent_decided(results: Iterable[MutantFate]) -> float:
    """Of the mutants that could be detected."""
    fates = [result.fate for result in results if result.fate not in NOT_COUNTED]
    return 100.0 * sum(fate in DECIDED for fate in fates) / len(fates) if fates else 100.0
