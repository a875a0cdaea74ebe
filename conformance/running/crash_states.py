"""States that a crash can leave, of suites that count them: their module `crash_states`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol, cast

from chaos.plan import Plan
from conformance.report.run_result import RunResult
from conformance.suite import load as suites
from vocabulary.history import Entry

FEW_OF_OTHERS: Final = 1_200
"""Crash points of a suite's other scenarios, which are drawn by the seed."""
FEW_SECOND: Final = 400
"""Second kills after those states of which not all are tried."""


class CrashStates(Protocol):
    """The functions of a suite's module `crash_states`."""

    def crash_plans(self, base: Plan) -> Iterator[tuple[str, Plan]]:
        """The plans for a scenario, with texts that name the state that each has to reach."""

    def state_at_end(self, entries: Iterable[Entry]) -> str:
        """The state in which the operator was killed first."""

    def is_killed_again(self, text: str) -> bool:
        """True if a plan's run is repeated with a second kill at each later write."""

    def is_in_full(self, state: str) -> bool:
        """True if all second kills after a state are tried."""

    def counted(self, runs: Iterable[tuple[str, str]]) -> str:
        """The number of states that were seen, by the texts and the states of runs."""


def crash_states(scenario: str) -> CrashStates | None:
    """The module of a scenario's suite; None if the suite counts no states."""
    package = suites()[scenario.partition("/")[0]].package
    if find_spec(f"{package}.crash_states") is None:
        return None
    return cast(CrashStates, import_module(f"{package}.crash_states"))


def state_at_end(run: RunResult) -> str:
    """The state in which the operator was killed first; empty if its suite counts none."""
    found = crash_states(run.scenario)
    return "" if found is None else found.state_at_end(run.entries)


def states_in_words(runs: Sequence[RunResult]) -> Iterator[str]:
    """The number of states that were seen, of each suite that counts them."""
    for suite in sorted({run.scenario.partition("/")[0] for run in runs if run.state}):
        of_suite = [run for run in runs if run.scenario.startswith(f"{suite}/") and run.state]
        found = crash_states(of_suite[0].scenario)
        if found is not None:
            told = found.counted((run.variant, run.state) for run in of_suite)
            yield f"states that a crash can leave: {told}"


def is_in_full(run: RunResult) -> bool:
    """True if all second kills after a run's state are tried."""
    found = crash_states(run.scenario)
    return found is not None and found.is_in_full(run.state)
