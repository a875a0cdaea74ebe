"""`assay compare`: what a controller's change gained and lost, as its CI sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import REPORT, only

COMPARE_EXIT_CODES = """\
[bold]Exit codes[/bold]: 0 nothing is worse ·
1 a claim is newly failing, or fails in further scenarios (unless --allow-further-scenarios) ·
2 bad input, or no claim in common ·
3 a claim is newly inconclusive or no longer tested, or a run newly broke off
"""


def compare(
    baseline: Annotated[
        Path, typer.Argument(help="A report's folder, or its report.yaml.", callback=only(REPORT))
    ],
    current: Annotated[
        Path, typer.Argument(help="The report to compare with it.", callback=only(REPORT))
    ],
    *,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the comparison as Markdown, for a comment on a pull request; "
            "-: to standard output, instead of the table.",
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the comparison as JSON, for programs."),
    ] = None,
    allow_further_scenarios: Annotated[
        bool,
        typer.Option(
            "--allow-further-scenarios",
            help="A claim that failed before may fail in further scenarios: it is told, and "
            "decides nothing. For real clusters, where a race is lost in one run and won in the "
            "next.",
        ),
    ] = False,
) -> None:
    """Compare two reports claim by claim.

    \b
    assay compare baseline/ .assay
    assay compare v1.1.2/report.yaml v1.2.0/report.yaml --markdown comment.md
    assay compare baseline/ .assay --markdown - >> "$GITHUB_STEP_SUMMARY"

    A claim that already failed is unchanged if it fails in the same scenarios, and reported
    separately (still a regression) if it fails in more. Slowdowns, by the cluster's clock, are
    informational. Reports with another seed, norm, cluster or selection are compared nevertheless;
    the differences are listed. If the current report lacks a violation outside of the baseline's
    selection, its histories are re-evaluated: the claim is no longer failing if they show that it
    held, else no longer tested.
    """
    from conformance.cli.changes import echo_changes
    from conformance.cli.judging import WatchedJudge
    from conformance.report.comparison import compare_reports
    from conformance.report.comparison_json import comparison_json
    from conformance.report.comparison_markdown import comparison_markdown
    from conformance.report.comparison_text import (
        difference_lines,
        headline,
        note_lines,
    )
    from conformance.report.held import held_unasked
    from conformance.report.replacing import write_whole
    from conformance.report.text import checker_error_lines
    from conformance.report.yaml_text import read_report_at, report_path

    before, after = read_report_at(baseline), read_report_at(current)
    judge = WatchedJudge()
    found = compare_reports(
        before,
        after,
        held=held_unasked(before, after, report_path(current).parent, judge),
        further_is_worse=not allow_further_scenarios,
    )
    if json is not None:
        write_whole(json, comparison_json(found))
    if markdown is not None and str(markdown) == "-":
        typer.echo(comparison_markdown(found), nl=False)
    else:
        differences = list(difference_lines(found))
        for line in differences:
            typer.echo(line)
        if differences:
            typer.echo("")
        echo_changes(found)
        for line in note_lines(found):
            typer.echo(line)
        for line in checker_error_lines(after):
            typer.echo(line)
        typer.echo(headline(found))
        if markdown is not None:
            write_whole(markdown, comparison_markdown(found))
            typer.echo(f"markdown: {markdown}")
        if json is not None:
            typer.echo(f"json: {json}")
    if found.worse != "failing":
        judge.require_no_errors()
    raise typer.Exit(
        {
            "": ExitCode.CONFORMANT,
            "failing": ExitCode.VIOLATED,
            "inconclusive": ExitCode.INCONCLUSIVE,
        }[found.worse]
    )
