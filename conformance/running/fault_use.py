"""The faults that scenarios use: read from their runs, since a scenario's steps are code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from conformance.implementation import implementations
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.running.side_by_side import side_by_side
from conformance.scenarios import SCENARIOS
from vocabulary.history import Fault
from vocabulary.implementations import REFERENCE

CHUNK = 8
"""Scenarios that are handed to another process at a time."""


@cache
def faults_by_scenario() -> Mapping[str, tuple[str, ...]]:
    """For each scenario the faults that strike in its simulated run, by their names in plans.

    Each is run for that, once in a process.
    """
    names = list(SCENARIOS)
    with side_by_side(0, many=True) as each:
        return MappingProxyType(dict(zip(names, each(faults_of, names, CHUNK), strict=True)))


def faults_of(scenario: str) -> tuple[str, ...]:
    """The faults of one scenario, sorted; ValueError if its run was cut short before all struck."""
    return tuple(sorted({key for fault in injected_in(scenario) for key in fault}))


def injected_in(scenario: str) -> list[dict[str, Any]]:
    """The faults of one scenario as data, in order; ValueError if its run was cut short."""
    run = run_one(
        SCENARIOS[scenario],
        implementations(REFERENCE, SCENARIOS[scenario].roles),
        DEFAULT_SEED,
        is_judged=False,
    )
    if run.error:
        raise ValueError(f"{scenario}: {run.error}; look at it with: assay run {scenario}")
    return [
        entry.fault
        for entry in run.entries
        if isinstance(entry, Fault) and entry.action == "injected"
    ]
