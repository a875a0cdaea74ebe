"""The faults that scenarios use: read from their runs, since a scenario's steps are code.

The runs are made for that, or were made by `assay run` before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.implementations.ours import implementations, without_reference
from conformance.report.folder import HISTORIES_NAME
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.running.side_by_side import side_by_side
from conformance.scenarios import SCENARIOS
from vocabulary.history import Entry, Fault, Mark, StoredHistory, read_history
from vocabulary.implementations import REFERENCE

CHUNK = 8
"""Scenarios that are handed to another process at a time."""


class OtherRunsError(ValueError):
    """The runs of a report are not those that show the faults of every scenario."""


@cache
def faults_by_scenario() -> Mapping[str, tuple[str, ...]]:
    """For each scenario the faults that strike in its simulated run, by their names in plans.

    Each is run for that, once in a process.
    """
    names = list(SCENARIOS)
    with side_by_side(0, many=True) as each:
        return MappingProxyType(dict(zip(names, each(faults_of, names, CHUNK), strict=True)))


def faults_by_scenario_in(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """The same from the histories of a report, that of `assay run` without further options.

    OtherRunsError if the report is on other runs, or one of them was cut short.
    """
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((folder / HISTORIES_NAME).glob("*.jsonl.gz")):
        history = read_history(path)
        if why := _why_other(history):
            raise OtherRunsError(f"{path}: {why}; {_AGAIN}")
        found[history.header.scenario] = _names(_injected(history.entries))
    for name, each in SCENARIOS.items():
        if name not in found and not without_reference(each.roles):
            raise OtherRunsError(f"{folder}: no history of {name} is there; {_AGAIN}")
    return MappingProxyType({name: found.get(name, ()) for name in SCENARIOS})


_AGAIN = "make the runs with: assay run"


def _why_other(history: StoredHistory) -> str:
    header = history.header
    if header.cluster != "simulated" or header.seed != DEFAULT_SEED:
        return "is not of a simulated run with the default seed"
    if any(each.implementation != REFERENCE for each in header.operators.values()):
        return "is not of a run of the references"
    marks = {entry.mark for entry in history.entries if isinstance(entry, Mark)}
    if not history.is_whole or "end" not in marks or not marks.isdisjoint(("step", "not-stable")):
        return "was cut short"
    return ""


def faults_of(scenario: str) -> tuple[str, ...]:
    """The faults of one scenario, sorted; ValueError if its run was cut short before all struck."""
    return _names(injected_in(scenario))


def injected_in(scenario: str) -> list[dict[str, Any]]:
    """The faults of one scenario as data, in order; ValueError if its run was cut short.

    None of a scenario whose operator has no reference to take its steps with."""
    if without_reference(SCENARIOS[scenario].roles):
        return []
    run = run_one(
        SCENARIOS[scenario],
        implementations(REFERENCE, SCENARIOS[scenario].roles),
        DEFAULT_SEED,
        is_judged=False,
    )
    if run.error:
        raise ValueError(f"{scenario}: {run.error}; look at it with: assay run {scenario}")
    return _injected(run.entries)


def _injected(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [
        entry.fault for entry in entries if isinstance(entry, Fault) and entry.action == "injected"
    ]


def _names(faults: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted({key for fault in faults for key in fault}))
