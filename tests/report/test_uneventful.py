"""Runs in which all claims held are counted: the report is the one of the runs themselves."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from conformance.report.folder import RUNS_NAME, write_folder
from conformance.report.pages.index_page import index_page
from conformance.report.run_result import RunResult, SuiteResult
from conformance.report.uneventful import Uneventful
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, passing_run, sample_suite

PASSING = passing_run()


def drawn(number: int, *, seed: int | None = None, claims: int = 2) -> RunResult:
    """An uneventful run of a campaign, that arms the first claims alone."""
    verdicts = tuple(
        Verdict(claim=claim, outcome=Outcome.PASSED, armed=number, because=f"held in {number}")
        if n < claims
        else Verdict(claim=claim, outcome=Outcome.INCONCLUSIVE)
        for n, claim in enumerate(sorted(CLAIMS))
    )
    return msgspec.structs.replace(
        PASSING,
        seed=number if seed is None else seed,
        variant=f"random plan {number}",
        entries=(),
        verdicts=verdicts,
        history_sha256=f"{number:064x}",
        error="",
    )


def suite_of(*runs: RunResult, counts: bool) -> SuiteResult:
    """The suite of these runs; with `counts`, uneventful ones are counted, as campaigns do it."""
    suite = sample_suite(*runs)
    if not counts:
        return msgspec.structs.replace(suite, plans=len(runs))
    uneventful = Uneventful()
    kept = []
    for run in runs:
        if Uneventful.is_one(run):
            uneventful.add(run, shares_seed=run.seed == suite.seed)
        else:
            kept.append(run)
    return msgspec.structs.replace(suite, runs=tuple(kept), uneventful=uneventful, plans=len(runs))


def report_of(suite: SuiteResult) -> ConformanceReport:
    return build_report(suite, CLAIMS, version="0", git_commit="", date="")


SUITES = {
    "all pass": [PASSING, drawn(1), drawn(2), drawn(3, claims=1)],
    "one fails": [failing_run(), drawn(1), drawn(2)],
    "only campaigns arm": [drawn(5, claims=1), drawn(4), drawn(6, claims=2)],
    "one of a seed fails": [
        msgspec.structs.replace(failing_run(), scenario=PASSING.scenario, variant="killed"),
        drawn(1, seed=PASSING.seed),
        drawn(2, seed=PASSING.seed),
        drawn(3),
    ],
}


@pytest.mark.parametrize("name", SUITES)
def test_the_report_of_counted_runs_is_that_of_kept_ones(name: str, tmp_path: Path) -> None:
    counted, kept = (suite_of(*SUITES[name], counts=counts) for counts in (True, False))
    assert counted.uneventful is not None and counted.uneventful.count >= 2
    assert report_of(counted) == report_of(kept)
    for suite, folder in ((counted, tmp_path / "a"), (kept, tmp_path / "b")):
        write_folder(folder, suite, report_of(suite), CLAIMS)
    assert (tmp_path / "a" / RUNS_NAME).read_bytes() == (tmp_path / "b" / RUNS_NAME).read_bytes()


@pytest.mark.parametrize(
    "run",
    [
        PASSING,
        msgspec.structs.replace(failing_run(), variant="x"),
        msgspec.structs.replace(drawn(1), error="not reached: Running"),
        msgspec.structs.replace(drawn(1), repeated="entry 3 differs"),
    ],
)
def test_a_run_of_which_something_has_to_be_told_is_kept(run: RunResult) -> None:
    assert not Uneventful.is_one(run)


def test_memory_does_not_grow_with_the_number_of_runs() -> None:
    uneventful = Uneventful()
    for n in range(1, 200):
        uneventful.add(drawn(n), shares_seed=False)
    tracemalloc.start()
    try:
        for n in range(200, 2200):
            uneventful.add(drawn(n), shares_seed=False)
        gc.collect()
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert uneventful.count == 2199
    assert grown < 50_000, "25 bytes for a run, of which each takes thousands"


def test_a_page_is_bounded_however_many_rows_there_are() -> None:
    report = report_of(sample_suite())

    def page(rows: int) -> str:
        claims = tuple(
            msgspec.structs.replace(
                claim,
                tests=tuple(msgspec.structs.replace(claim.tests[0], seed=n) for n in range(rows)),
            )
            for claim in report.claims
            if claim.tests
        )
        return index_page(msgspec.structs.replace(report, claims=claims), CLAIMS, {})

    few, many = page(2_000), page(20_000)
    assert len(many) < len(few) + 1000
    assert "20000 rows in all; report.yaml has each" in many
