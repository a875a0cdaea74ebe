"""The result of a campaign in one line: its runs, and what they add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

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


def was_killed(run: RunResult) -> bool:
    """True if the operator was killed as often as the run's plan has it."""
    wanted = sum("kill" in step for step in run.plan.get("faults", ()))
    kills = (step for step in run.struck if "kill" in step and "injection" not in step["when"])
    return sum(1 for _ in kills) >= wanted


class Tally:
    """Runs of a campaign, counted one by one: they need not be kept."""

    def __init__(self, runs: Iterable[RunResult] = ()) -> None:
        self.runs = 0
        self.killed = 0
        """Of runs with kills, those in which all of them came."""
        self.without_strike = 0
        """Runs in which no fault of their plans struck."""
        self._armed = 0
        self._seconds = 0.0
        self._violated: Counter[str] = Counter()
        self._repeated = 0
        self._differing: list[str] = []
        for run in runs:
            self.add(run)

    def add(self, run: RunResult) -> None:
        self.runs += 1
        self.killed += was_killed(run)
        self.without_strike += run.strikes == 0
        self._armed += is_armed(run)
        self._seconds += run.wall_seconds
        self._violated += violated_claims([run])
        self._repeated += run.repeated is not None
        if run.repeated:
            variant = f" [{run.variant}]" if run.variant else ""
            self._differing.append(
                f"{run.scenario}{variant} produced a different history: {run.repeated}"
            )

    def in_one_line(self, name: str, fault_free: Iterable[RunResult]) -> str:
        """`random plans: 100 runs, 2,000 per hour of a worker, 97 armed; …: AW-013 (2 runs)`."""
        known = violated_claims(fault_free)
        new = sorted((claim, n) for claim, n in self._violated.items() if claim not in known)
        told = ", ".join(f"{claim} ({counted(n, 'run')})" for claim, n in new) or "none"
        hours = self._seconds / 3600
        pace = f"{round(self.runs / hours):,} per hour of a worker, " if hours else ""
        return (
            f"{name}: {counted(self.runs, 'run')}, {pace}{self._armed} armed; "
            f"claims violated beyond the fault-free runs: {told}"
        )

    def repeated_in_words(self, name: str) -> Iterator[str]:
        """`fault-free runs: 159 of 161 gave the same history …`, then a line for each of the
        others; nothing if no run was repeated."""
        if not self._repeated:
            return
        yield (
            f"{name}: {self._repeated - len(self._differing):,} of {self._repeated:,} gave the "
            "same history byte for byte when repeated"
        )
        yield from self._differing
