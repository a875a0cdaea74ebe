"""`assay compare`: what a controller's change gained and lost, as its CI sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode

COMPARE_EXIT_CODES = """\
[bold]Exit codes[/bold]: 0 nothing is worse · 1 a claim is newly failing ·
2 bad input, or no claim in common ·
3 a claim is newly inconclusive or no longer tested, or a run newly broke off
"""


def compare(
    baseline: Annotated[Path, typer.Argument(help="A report's folder, or its report.yaml.")],
    current: Annotated[Path, typer.Argument(help="The report to compare with it.")],
    *,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the comparison as Markdown, for a comment on a pull request; "
            "-: to standard output, instead of the table.",
        ),
    ] = None,
) -> None:
    """Compare two reports claim by claim.

    \b
    assay compare baseline/ .assay
    assay compare v1.1.2/report.yaml v1.2.0/report.yaml --markdown comment.md
    assay compare baseline/ .assay --markdown - >> "$GITHUB_STEP_SUMMARY"

    A claim that failed before, in the same scenarios, is no change. What is slower is told, by
    the cluster's clock, and decides nothing. Reports that differ in their seed, norm, cluster or
    selection are compared all the same; what differs is said.
    """
    from rich.console import Console

    from conformance.report.comparison import compare_reports
    from conformance.report.comparison_markdown import comparison_markdown
    from conformance.report.comparison_text import changes_table, headline, note_lines
    from conformance.report.yaml_text import read_report_at

    found = compare_reports(read_report_at(baseline), read_report_at(current))
    if markdown is not None and str(markdown) == "-":
        typer.echo(comparison_markdown(found), nl=False)
    else:
        table = changes_table(found)
        if table.row_count:
            Console().print(table)
            typer.echo("")
        for line in note_lines(found):
            typer.echo(line)
        typer.echo(headline(found))
        if markdown is not None:
            markdown.write_text(comparison_markdown(found), encoding="utf-8")
            typer.echo(f"markdown: {markdown}")
    raise typer.Exit(
        {
            "": ExitCode.CONFORMANT,
            "failing": ExitCode.VIOLATED,
            "inconclusive": ExitCode.INCONCLUSIVE,
        }[found.worse]
    )
