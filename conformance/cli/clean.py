"""`assay clean`: remove from a cluster what a killed run left there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.file_kinds import KUBECONFIG, only


def clean(
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="The cluster; default: kubectl's.", callback=only(KUBECONFIG)),
    ] = None,
    context: Annotated[str, typer.Option(help="The kubeconfig's context.")] = "",
    run_label: Annotated[str, typer.Option("--run", help="Only this run; empty: all runs.")] = "",
    undo_journal: Annotated[
        Path | None,
        typer.Option(help="What an experiment of the Chaos Toolkit wrote down to be undone."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without: only show.")] = False,
) -> None:
    """Find what a killed run left (objects by their run label, its own folders, the kind clusters
    that were made in this folder) and remove it.

    Runs whose process is alive on this machine are left alone. A run of another machine looks like
    a killed one: select the run to remove with --run.

    \b
    assay clean                 shows what would be removed
    assay clean --yes           removes it
    assay clean --undo-journal undo.jsonl --yes     mends also what an experiment left broken
    """
    from conformance.cli.exit_code import ExitCode
    from conformance.cli.problems import BadInputError
    from conformance.left_behind.clean import clean_cluster, clean_folders
    from conformance.left_behind.scratch import live_claims
    from conformance.report.untrusted import printable
    from reference_controller.runtime.connection import knows_a_cluster

    count = 0

    def show(found: list[str], done: str = "removed", otherwise: str = "would remove") -> None:
        nonlocal count
        count += len(found)
        for item in found:
            typer.echo(f"{done if yes else otherwise} {printable(item)}")

    refused: list[str] = []
    if undo_journal is not None:
        if not undo_journal.is_file():
            raise BadInputError(f"{undo_journal}: there is no such file; give the experiment's own")
        from conformance.left_behind.undoing import undo

        mended, refused = undo(undo_journal, kubeconfig, context=context, really=yes)
        show(mended, "to undo an experiment:", "would undo an experiment:")
        for problem in refused:
            typer.echo(f"cannot be undone here: {printable(problem)}", err=True)
    show(clean_folders(remove=yes))
    if kubeconfig is None and not context and not run_label and not knows_a_cluster():
        typer.echo("no kubeconfig here: looked at this machine's own folders only", err=True)
    else:
        cleaned = clean_cluster(
            kubeconfig, context=context, run_label=run_label, remove=yes, alive=live_claims()
        )
        show(cleaned.found)
        for run in cleaned.spared:
            typer.echo(f"left alone: {printable(run)}; end it with Ctrl-C, and it cleans up itself")
    show(_kind_clusters(really=yes))
    if not count:
        typer.echo("nothing of Assay is left there")
    elif not yes:
        typer.echo("remove it with: assay clean --yes")
    if refused:
        raise typer.Exit(ExitCode.ENVIRONMENT)


def _kind_clusters(*, really: bool) -> list[str]:
    """Those of suites that were killed; where none was begun, pytest-kind need not be there."""
    if not any(Path(".pytest-kind").glob("*/audit/tenant")):
        return []
    from conformance.worlds.kind.cluster import delete_abandoned

    return delete_abandoned(really=really)
