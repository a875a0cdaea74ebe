"""The HTML of a stored report, written again: from its data and histories, not from runs.

The histories of violations are judged again, since a report keeps only the first contradiction
of each and a page shows them all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from chaos.plan import load_plan
from conformance import suite as suites
from conformance.norm.claim import Claim
from conformance.report.again import replay_command, run_command
from conformance.report.conformance_report import ClaimTest, ConformanceReport, ShrunkTest
from conformance.report.failures import (
    failed_verdicts,
    failure_files,
    shrunk_plan,
    violated_in,
)
from conformance.report.pages.failure_page import failure_page
from conformance.report.pages.index_page import index_page
from conformance.report.replacing import write_whole
from conformance.report.run_result import RunResult
from conformance.report.stored_run import Judge, stored_run
from conformance.report.tables import tables_of
from conformance.report.yaml_text import read_report_at, report_path

INDEX_NAME: Final = "index.html"


def write_html(report_at: Path, out: Path, claims: Mapping[str, Claim], judge: Judge) -> Path:
    """Write index and failure pages into `out`; the index's path.

    `report_at` is a report's folder or file. Links lead back to its histories.
    """
    report = read_report_at(report_at)
    folder = report_path(report_at).parent
    out.mkdir(parents=True, exist_ok=True)
    pages: dict[tuple[str, str, int], str] = {}
    of_claim = {claim.id: claim for claim in report.claims}
    for entry, stem, has_page in failure_files(violated_in(report, claims)):
        test = next(
            test
            for test in of_claim[entry.claims[0]].tests
            if (test.name, test.seed) == (entry.name, entry.seed)
        )
        if not (has_page and test.history):
            continue
        small = of_claim[entry.shrunk].shrunk if entry.shrunk else None
        run = _run(folder, test, small, judge)
        judged = [(claims[each.claim], each) for each in failed_verdicts(entry, run)]
        plan = folder / f"{stem}.yaml" if small is None else shrunk_plan(folder, small)
        (out / stem).parent.mkdir(exist_ok=True)
        (out / f"{stem}.html").write_text(
            failure_page(
                judged,
                run,
                command=_command(run, plan),
                index_href=os.path.relpath(INDEX_NAME, Path(stem).parent),
            ),
            encoding="utf-8",
        )
        pages |= {(claim, entry.name, entry.seed): f"{stem}.html" for claim in entry.claims}
    index = out / INDEX_NAME
    shown = _seen_from(report, os.path.relpath(folder, out))
    write_whole(index, index_page(shown, claims, pages, _tables(report, folder)))
    return index


def _tables(report: ConformanceReport, folder: Path) -> list[tuple[str, str]]:
    """The tables of the suites that make one, from the histories that were kept."""
    kept = {
        test.history
        for claim in report.claims
        for test in claim.tests
        if test.history and not test.variant and suites.makes_table(test.scenario)
    }
    return list(tables_of(stored_run(folder, each, lambda *_: []) for each in sorted(kept)))


def _run(folder: Path, test: ClaimTest, small: ShrunkTest | None, judge: Judge) -> RunResult:
    if small is None:
        run = stored_run(folder, test.history, judge)
        return msgspec.structs.replace(run, variant=test.variant)
    run = stored_run(folder, small.history, judge)
    return msgspec.structs.replace(run, shrunk=small.shrunk)


def _command(run: RunResult, plan: Path) -> str:
    """Shows the run again: by its plan, if that is of this scenario."""
    has_plan = plan.is_file() and load_plan(plan).scenario == run.scenario
    return replay_command(run, plan) if has_plan else run_command(run)


def _seen_from(report: ConformanceReport, prefix: str) -> ConformanceReport:
    """The report with the paths of its histories as they are seen from another folder."""
    if prefix == ".":
        return report
    claims = tuple(
        msgspec.structs.replace(
            claim,
            tests=tuple(
                msgspec.structs.replace(test, history=f"{prefix}/{test.history}")
                if test.history
                else test
                for test in claim.tests
            ),
        )
        for claim in report.claims
    )
    return msgspec.structs.replace(report, claims=claims)
