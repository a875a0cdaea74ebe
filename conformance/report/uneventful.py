"""Runs of campaigns in which every claim held that they armed: counted, and not kept.

A campaign may have a hundred thousand runs, of which a report has one row per claim and scenario.
What it needs for that fits in one run that stands for all of them. Name, seed and digest of each
run wait on disk, in a database without a name, for the list that is written beside the report.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import RunResult, is_telling, test_name

_UNDECIDED: Final = "Undecided"
"""How the reason begins that comes before those of claims which were never armed."""


class ListedRun(NamedTuple):
    """A run of a campaign, as the list of them has it."""

    name: str
    seed: int
    digest: str


class Uneventful:
    """Counts runs; `judged` and `silent` are what they say of the claims."""

    def __init__(self) -> None:
        self.count = 0
        self.repeated = 0
        """How many of them were made twice; they gave the same history."""
        self.fault_classes: set[str] = set()
        self._standing: dict[tuple[str, int | None, str], tuple[RunResult, Verdict]] = {}
        self._silent: dict[tuple[frozenset[str], str], tuple[RunResult, Verdict]] = {}
        self._list = sqlite3.connect("")
        self._list.execute("CREATE TABLE run (name TEXT, seed INTEGER, digest TEXT)")

    @staticmethod
    def is_one(run: RunResult) -> bool:
        """True for a run that may be counted here: nothing of it has to be reported."""
        return (
            bool(run.variant)
            and not (run.error or run.entries or run.repeated)
            and all(
                verdict.outcome is Outcome.PASSED or not is_telling(verdict)
                for verdict in run.verdicts
            )
            and not any(verdict.error or verdict.accepted for verdict in run.verdicts)
        )

    def add(self, run: RunResult, *, shares_seed: bool) -> None:
        """Count a run. `shares_seed`: other runs of the scenario have its seed, and what they say
        of a claim is in one row with what it says."""
        self.count += 1
        self.repeated += run.repeated is not None
        self.fault_classes |= {key for step in run.struck for key in step if key != "when"}
        row = (test_name(run), run.seed, run.history_sha256)
        self._list.execute("INSERT INTO run VALUES (?, ?, ?)", row)
        light = msgspec.structs.replace(run, verdicts=(), plan={}, struck=(), requested={})
        seed = run.seed if shares_seed else None
        for verdict in run.verdicts:
            if is_telling(verdict):
                self._add_row((run.scenario, seed, verdict.claim), light, verdict)
            else:
                self._add_silent(light, verdict)

    def _add_row(self, key: tuple[str, int | None, str], run: RunResult, verdict: Verdict) -> None:
        standing = self._standing.get(key)
        if standing is None:
            verdict = msgspec.structs.replace(verdict, kept=())
            self._standing[key] = (run, verdict)
            return
        earlier, told = standing
        first = min(earlier, run, key=test_name)
        self._standing[key] = (
            msgspec.structs.replace(
                first,
                counted=earlier.counted + run.counted,
                wall_seconds=earlier.wall_seconds + run.wall_seconds,
            ),
            msgspec.structs.replace(told, armed=told.armed + verdict.armed),
        )

    def _add_silent(self, run: RunResult, verdict: Verdict) -> None:
        key = (frozenset(run.header.operators), verdict.claim)
        earlier = self._silent.get(key)
        if earlier is None or (
            verdict.because.startswith(_UNDECIDED) and not earlier[1].because.startswith(_UNDECIDED)
        ):
            self._silent[key] = (run, verdict)

    def judged(self) -> Iterator[tuple[RunResult, Verdict]]:
        """A run that stands for `counted` ones and their verdict on a claim, for each row; then
        verdicts of runs that armed nothing, of which one tells as much as all."""
        yield from self._standing.values()
        yield from self._silent.values()

    def standing(self) -> list[RunResult]:
        """A run of each scenario."""
        return list({run.scenario: run for run, _ in self.judged()}.values())

    def listed(self) -> Iterator[ListedRun]:
        """Every run, by its name."""
        rows: Iterable[tuple[str, int, str]] = self._list.execute(
            "SELECT name, seed, digest FROM run ORDER BY name, seed"
        )
        return (ListedRun(*row) for row in rows)
