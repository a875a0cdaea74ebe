"""The result of a campaign with processes, in one line: its runs, and what they add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from conformance.norm.verdict import Outcome
from conformance.report.counted import counted
from conformance.report.run_result import RunResult


def violated_claims(runs: Iterable[RunResult]) -> Counter[str]:
    """The number of runs that violate each claim, by its id."""
    return Counter(
        verdict.claim
        for run in runs
        for verdict in run.verdicts
        if verdict.outcome is Outcome.FAILED
    )


def is_armed(run: RunResult) -> bool:
    """True if a fault of the run's plan struck, beside those of the scenario's own steps."""
    return any("injection" not in step["when"] for step in run.struck)


def in_one_line(name: str, runs: Sequence[RunResult], fault_free: Iterable[RunResult]) -> str:
    """`random plans: 100 runs, 2,000 per hour of a worker, 97 armed; …: AW-013 (2 runs)`."""
    known = violated_claims(fault_free)
    new = sorted((claim, n) for claim, n in violated_claims(runs).items() if claim not in known)
    told = ", ".join(f"{claim} ({counted(n, 'run')})" for claim, n in new) or "none"
    armed = sum(map(is_armed, runs))
    hours = sum(run.wall_seconds for run in runs) / 3600
    pace = f"{round(len(runs) / hours):,} per hour of a worker, " if hours else ""
    return (
        f"{name}: {counted(len(runs), 'run')}, {pace}{armed} armed; "
        f"claims violated beyond the fault-free runs: {told}"
    )
