"""The HTML of a stored report, written again: from its data and histories, not from runs.

The histories of violations are judged again, since a report keeps only the first contradiction
of each and a page shows them all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from chaos.plan import load_plan
from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome
from conformance.report.again import replay_command, run_command
from conformance.report.build import verdict_on
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.folder import MAX_PAGES_PER_CLAIM, stem_of
from conformance.report.pages.failure_page import failure_page
from conformance.report.pages.index_page import index_page
from conformance.report.run_result import RunResult
from conformance.report.stored_run import Judge, stored_run
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
    for claim in report.claims:
        if claim.outcome is Outcome.FAILED and claim.id in claims:
            for number, (test, shrunk) in enumerate(_shown(claim, folder), start=1):
                name = f"{stem_of(claim.id, number)}.html"
                run = _run(folder, test, shrunk, judge)
                page = _page(folder, claims[claim.id], run, is_first=number == 1)
                (out / name).parent.mkdir(exist_ok=True)
                (out / name).write_text(page, encoding="utf-8")
                pages[claim.id, test.name, test.seed] = name
    index = out / INDEX_NAME
    shown = _seen_from(report, os.path.relpath(folder, out))
    index.write_text(index_page(shown, claims, pages), encoding="utf-8")
    return index


def _shown(claim: ClaimReport, folder: Path) -> Iterator[tuple[ClaimTest, str]]:
    """The first failing tests, that which the claim's plan replays before all others.

    Where that was shrunk, its page shows what is left of it, and the text says so.
    """
    leading = _planned_scenario(claim, folder)
    failing = [test for test in claim.tests if test.outcome is Outcome.FAILED and test.history]
    failing.sort(key=lambda test: test.scenario != leading)
    for test in failing[:MAX_PAGES_PER_CLAIM]:
        small = claim.shrunk
        if small is not None and test.scenario == small.scenario:
            yield msgspec.structs.replace(test, history=small.history), small.shrunk
        else:
            yield test, ""


def _planned_scenario(claim: ClaimReport, folder: Path) -> str:
    if claim.shrunk is not None:
        return claim.shrunk.scenario
    plan = _plan_path(claim.id, folder)
    return load_plan(plan).scenario if plan.is_file() else ""


def _plan_path(claim: str, folder: Path) -> Path:
    return folder / f"{stem_of(claim)}.yaml"


def _run(folder: Path, test: ClaimTest, shrunk: str, judge: Judge) -> RunResult:
    variant = "" if shrunk else test.variant
    run = stored_run(folder, test.history, judge)
    return msgspec.structs.replace(run, variant=variant, shrunk=shrunk)


def _page(folder: Path, claim: Claim, run: RunResult, *, is_first: bool) -> str:
    plan = _plan_path(claim.id, folder)
    has_plan = is_first and plan.is_file()
    command = replay_command(run, plan) if has_plan else run_command(run)
    index = INDEX_NAME if is_first else f"../{INDEX_NAME}"
    return failure_page(claim, run, verdict_on(claim.id, run), command=command, index_href=index)


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
