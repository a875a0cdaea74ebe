"""Repeated runs: how many gave the same history, and the first difference of the others.

A run is repeated in the process that made it, which shows state that runs leave behind.
`tests/determinism` compares processes with different hash seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.report.first_difference import first_difference
from conformance.report.recorded import digest_of
from conformance.report.run_result import RunResult


def difference_between(first: RunResult, second: RunResult) -> str:
    """The first entry in which the histories differ, in words; empty if they are the same."""
    if digest_of(first) == digest_of(second):
        return ""
    return first_difference((first.header, first.entries), (second.header, second.entries))


def repeated_in_words(name: str, runs: Iterable[RunResult]) -> Iterator[str]:
    """`fault-free runs: 159 of 161 gave the same history …`, then a line for each of the others;
    nothing if no run was repeated."""
    repeated = [run for run in runs if run.repeated is not None]
    if not repeated:
        return
    differing = [run for run in repeated if run.repeated]
    yield (
        f"{name}: {len(repeated) - len(differing):,} of {len(repeated):,} gave the same history "
        "byte for byte when repeated"
    )
    for run in differing:
        variant = f" [{run.variant}]" if run.variant else ""
        yield f"{run.scenario}{variant} produced a different history: {run.repeated}"
