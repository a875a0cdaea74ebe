"""Repeated runs: the first difference between two histories of one plan.

A run is repeated in the process that made it, which shows state that runs leave behind.
`tests/determinism` compares processes with different hash seeds.
"""

from __future__ import annotations

from conformance.report.first_difference import first_difference
from conformance.report.recorded import digest_of
from conformance.report.run_result import RunResult


def difference_between(first: RunResult, second: RunResult) -> str:
    """The first entry in which the histories differ, in words; empty if they are the same."""
    if digest_of(first) == digest_of(second):
        return ""
    return first_difference((first.header, first.entries), (second.header, second.entries))
