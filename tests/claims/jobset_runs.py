"""Runs that are made of steps in a test, and histories with other objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from msgspec import structs

from conformance import claims
from conformance.history import History
from conformance.implementations.ours import Implementation, implementation
from conformance.norm.verdict import Outcome, Verdict
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import RunResult, run_one
from conformance.scenarios import SCENARIOS
from conformance.world import World
from vocabulary.history import Entry, Write
from vocabulary.objects import Object

claims.load()
RIGHT: Final = implementation("reference", "jobset")
_ANY: Final = SCENARIOS["jobset/restarts/a-job-has-completed"]


def run_of(
    steps: Callable[[World], None], under_test: Implementation = RIGHT, **how: Any
) -> RunResult:
    """A run of these steps to their end, whatever its verdicts."""
    scenario = replace(_ANY, id="jobset/restarts/of-a-test", steps=steps, arms=())
    run = run_one(scenario, under_test, DEFAULT_SEED, **how)
    assert not run.error
    return run


def run_scenario(name: str, under_test: Implementation = RIGHT) -> RunResult:
    return run_one(SCENARIOS[f"jobset/{name}"], under_test, DEFAULT_SEED)


def violated(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The claims that are violated, and why."""
    return {each.claim: each.because for each in verdicts if each.outcome is Outcome.FAILED}


def outcome_of(run: RunResult, claim: str) -> Outcome:
    return next(each.outcome for each in run.verdicts if each.claim == claim)


def judged_with(run: RunResult, kind: str, change: Callable[[Object], Object]) -> list[Verdict]:
    """The verdicts on a run's history in which each object of a kind is another one, and was asked
    for so."""

    def told() -> Iterator[Entry]:
        for entry in run.entries:
            if isinstance(entry, Write) and entry.kind.startswith(kind) and entry.object:
                asked = None if entry.submitted is None else dict(change(entry.submitted))
                yield structs.replace(entry, object=dict(change(entry.object)), submitted=asked)
            else:
                yield entry

    return claims.judge(History(run.header, list(told())))
