"""`assay verify`: a report against its own histories and today's checkers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import REPORT, only

_MAX_LINES = 50


def verify(
    report: Annotated[
        Path,
        typer.Argument(
            help="A report's folder, its report.yaml, or a folder of submissions.",
            callback=only(REPORT),
        ),
    ],
) -> None:
    """Check a report without a cluster: digests, sums, and every verdict judged again.

    What no history shows (when it ran, at which commit) and files beside report.yaml (pages, JUnit)
    are not checked; a note lists them.

    \b
    assay verify .assay
    assay verify reports/example-$SUITE            every report below it

    Exit code 0: all of it holds. 1: something differs; each difference is printed.
    """
    from conformance.report.submission import reports_below

    codes = [_verify(found) for found in reports_below(report) or [report]]
    if ExitCode.VIOLATED in codes:
        raise typer.Exit(ExitCode.VIOLATED)
    raise typer.Exit(max(codes))


def _verify(report: Path) -> ExitCode:
    from conformance.cli.judging import WatchedJudge, all_claims, maker_of
    from conformance.report.counted import counted
    from conformance.report.replacing import left_over
    from conformance.report.untrusted import printable
    from conformance.report.verify import verify_report
    from conformance.report.yaml_text import report_path

    path = report_path(report)
    judge = WatchedJudge()
    found = verify_report(report, all_claims(), judge, maker_of)
    for finding in found.findings[:_MAX_LINES]:
        typer.echo(f"DIFFERS {path}: {printable(finding.where)}: {printable(finding.what)}")
    if len(found.findings) > _MAX_LINES:
        typer.echo(f"and {counted(len(found.findings) - _MAX_LINES, 'more difference')}")
    for path in left_over(report):
        typer.echo(f"note: a run was killed while it wrote {path}; the next run removes that")
    if not found.same_norm:
        typer.echo("note: the claims' texts have changed since; judged by those of today")
    if found.without_history:
        rows = counted(found.without_history, "row")
        typer.echo(f"note: {rows} without a stored history; not checked")
    for note in _not_checked(report_path(report).parent):
        typer.echo(f"note: not checked: {printable(note)}")
    typer.echo(
        f"{report}: {_of(found.histories_judged, found.histories, 'history', 'histories')}, "
        f"{_of(found.verdicts_judged, found.verdicts, 'verdict', 'verdicts')} judged again: "
        + (counted(len(found.findings), "difference") if found.findings else "all as reported")
    )
    if found.histories_judged < found.histories:
        typer.echo(
            "next: make each history readable, or ask for the folder as its run wrote it; then: "
            f"assay verify {shlex.quote(str(report))}"
        )
        return ExitCode.VIOLATED
    if found.findings:
        typer.echo(
            "next: ask for the folder as its run wrote it; what these histories give is told by: "
            f"assay report rejudge {shlex.quote(str(report))} --out again"
        )
        return ExitCode.VIOLATED
    judge.require_no_errors()
    if not found.verdicts:
        typer.echo("note: the report holds nothing that could be judged again")
        return ExitCode.INCONCLUSIVE
    return ExitCode.CONFORMANT


def _not_checked(folder: Path) -> Iterator[str]:
    """The parts of a report that nothing in its histories confirms, in words."""
    from conformance.report.counted import counted
    from conformance.report.folder import HISTORIES_NAME, RENDERINGS, RUNS_NAME
    from conformance.report.yaml_text import REPORT_NAME

    yield (
        "date, suite.gitCommit, wall-clock seconds, and the contact and url of the implementation: "
        "no history shows them"
    )
    names = {path.name for path in folder.iterdir()} - {REPORT_NAME, HISTORIES_NAME}
    if RUNS_NAME in names:
        names.remove(RUNS_NAME)
        yield f"the runs in {RUNS_NAME} that no row of {REPORT_NAME} is about"
    shown: list[str] = [name for name in RENDERINGS if name in names]
    others = len(names.difference(shown))
    if others:
        shown.append(counted(others, "other file"))
    if shown:
        yield f"{', '.join(shown)} beside {REPORT_NAME}: assay report html makes the pages anew"


def _of(judged: int, there: int, singular: str, plural: str) -> str:
    """`12 histories`; where not all of them were judged, `11 of 12 histories`."""
    from conformance.report.counted import counted

    all_of_them = counted(there, singular, plural)
    return all_of_them if judged == there else f"{judged:,} of {all_of_them}"
