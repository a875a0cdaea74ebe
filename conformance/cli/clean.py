"""`assay clean`: remove from a cluster what a killed run left there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def clean(
    kubeconfig: Annotated[
        Path | None, typer.Option(help="The cluster; default: kubectl's.")
    ] = None,
    context: Annotated[str, typer.Option(help="The kubeconfig's context.")] = "",
    run_label: Annotated[str, typer.Option("--run", help="Only this run; empty: all runs.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without: only show.")] = False,
) -> None:
    """Find what a killed run left (objects by their run label, its own folders) and remove it.

    \b
    assay clean                 shows what would be removed
    assay clean --yes           removes it
    """
    from conformance.clean import clean_cluster, clean_folders
    from conformance.report.untrusted import printable

    count = 0

    def show(found: list[str]) -> None:
        nonlocal count
        count += len(found)
        for item in found:
            typer.echo(f"{'removed' if yes else 'would remove'} {printable(item)}")

    show(clean_folders(remove=yes))
    show(clean_cluster(kubeconfig, context=context, run_label=run_label, remove=yes))
    if not count:
        typer.echo("nothing of Assay is left there")
    elif not yes:
        typer.echo("remove it with: assay clean --yes")
