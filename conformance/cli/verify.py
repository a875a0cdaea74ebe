"""`assay verify`: a report against its own histories and today's checkers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode

_MAX_LINES = 50


def verify(
    report: Annotated[Path, typer.Argument(help="A report's folder, or its report.yaml.")],
) -> None:
    """Check a report without a cluster: digests, and every verdict judged again.

    \b
    assay verify .assay
    assay verify reports/appwrapper-v1.1.2/report.yaml

    Exit code 0: all of it holds. 1: something differs; each difference is printed.
    """
    from conformance.cli.judging import all_claims, judge
    from conformance.report.untrusted import printable
    from conformance.report.verify import verify_report

    found = verify_report(report, all_claims(), judge)
    for finding in found.findings[:_MAX_LINES]:
        typer.echo(f"DIFFERS {printable(finding.where)}: {printable(finding.what)}")
    if len(found.findings) > _MAX_LINES:
        typer.echo(f"and {len(found.findings) - _MAX_LINES} more differences")
    if not found.same_norm:
        typer.echo("note: the claims' texts have changed since; judged by those of today")
    if found.without_history:
        typer.echo(f"note: {found.without_history} rows have no stored history; not checked")
    typer.echo(
        f"{found.histories} histories, {found.verdicts} verdicts judged again: "
        + (f"{len(found.findings)} differences" if found.findings else "all as reported")
    )
    if found.findings:
        raise typer.Exit(ExitCode.VIOLATED)
    if not found.verdicts:
        typer.echo("note: the report holds nothing that could be judged again")
        raise typer.Exit(ExitCode.INCONCLUSIVE)
