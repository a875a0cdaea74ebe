"""How commands end: verdict lines, failure blocks, the table, and the report's path last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.norm.claim import Claim
    from conformance.norm.verdict import Verdict
    from conformance.report.conformance_report import ConformanceReport
    from conformance.report.folder import SuiteFiles
    from conformance.report.run_result import RunResult, SuiteResult

MAX_BLOCKS = 20


def now() -> str:
    """As reports are dated: RFC 3339, in whole seconds."""
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def write_report(
    suite: SuiteResult, out: Path, *, allure: bool, beside: Path | None = None
) -> tuple[ConformanceReport, SuiteFiles]:
    """Build the report of a suite and write its folder; the date is now. `beside`: see
    `write_folder`."""
    from conformance.cli.judging import claims_of
    from conformance.report.build import build_report
    from conformance.report.folder import write_folder
    from conformance.report.suite_version import git_commit, version

    claims = claims_of(suite.standing)
    report = build_report(
        suite,
        claims,
        version=version(),
        git_commit=git_commit(),
        date=now(),
    )
    return report, write_folder(out, suite, report, claims, allure=allure, beside=beside)


def show_suite(
    console: Console,
    suite: SuiteResult,
    report: ConformanceReport,
    files: SuiteFiles,
    *,
    show_all: bool,
    quiet: bool,
    tables: bool = False,
) -> None:
    """The table, the failures, the summary; the last line is the page to open. `tables`: those of
    suites as well, which are long."""
    from conformance.report.again import replay_command
    from conformance.report.counted import counted
    from conformance.report.tables import tables_of
    from conformance.report.text import claims_table, counts_line, summary_lines, trouble_lines

    table = claims_table(report, show_all=show_all)
    if table.row_count and not quiet:
        console.print(table)
    first = [failure for failure in files.failures if failure.entry.shown_for]
    for failure in first[:MAX_BLOCKS]:
        again = replay_command(failure.run, failure.plan) if failure.plan else ""
        echo_block(failure.verdicts, failure.run, replay=again, page=failure.page)
        if failure.entry.further:
            more = counted(failure.entry.further, "more scenario")
            typer.echo(f"    and in {more}, see the report")
    if len(first) > MAX_BLOCKS:
        more = counted(len(first) - MAX_BLOCKS, "more failure")
        typer.echo(f"\nand {more}, see the report")
    if tables:
        for _, text in tables_of(suite.runs):
            typer.echo(f"\n{text}")
    typer.echo("")
    summary = () if quiet else summary_lines(report)
    for line in (*suite.notes, *summary, *trouble_lines(report)):
        typer.echo(line)
    typer.echo(
        f"{counts_line(report)}; {counted(suite.count, 'run')} in {suite.wall_seconds:.2f} s"
    )
    echo_files(files)


def echo_files(files: SuiteFiles) -> None:
    """Where the report is; the last line is the page to open."""
    for path in files.not_of_this:
        typer.echo(
            f"note: {path} is not of this report, and was left, since it is not as Assay wrote it"
        )
    typer.echo(f"report: {files.report}")
    typer.echo(f"open: {files.index}")


def echo_block(
    verdicts: Sequence[Verdict],
    run: RunResult,
    *,
    replay: str = "",
    page: Path | None = None,
) -> None:
    """One failure, of the claims that one entry contradicts; its first line in red where there are
    colours."""
    from conformance.cli.judging import all_claims
    from conformance.report.text import failure_block

    judged = [(all_claims()[verdict.claim], verdict) for verdict in verdicts]
    first, _, rest = failure_block(judged, run, replay=replay, page=page).partition("\n")
    typer.echo("")
    typer.secho(first, fg=typer.colors.RED, bold=True)
    typer.echo(rest)


def echo_checker_errors(where: str, verdicts: Sequence[Verdict]) -> bool:
    """A line for each checker that failed on a history; whether any did."""
    from conformance.report.text import checker_failed

    failed = [verdict for verdict in verdicts if verdict.error]
    for verdict in failed:
        typer.echo(checker_failed(verdict.claim, where, verdict.error))
    return bool(failed)


def verdict_lines(
    claims: Mapping[str, Claim], verdicts: Sequence[Verdict], *, show_all: bool
) -> Iterator[str]:
    """A line per claim that one history armed, worst first; then how many said nothing."""
    from conformance.report.run_result import is_telling
    from conformance.report.text import SIGNS
    from conformance.report.untrusted import printable

    telling = [verdict for verdict in verdicts if show_all or is_telling(verdict)]
    order = list(SIGNS)
    for verdict in sorted(telling, key=lambda v: (order.index(v.outcome), v.claim)):
        name = f"{verdict.claim} {claims[verdict.claim].name}"
        line = f"{SIGNS[verdict.outcome]} {verdict.outcome:<12} {name:<52} armed {verdict.armed}"
        yield f"{line}  {printable(verdict.because, 200)}" if verdict.because else line
    silent = len(verdicts) - len(telling)
    if silent:
        yield f"  {silent} claims were not armed by this history"
