"""`assay claims`: what must hold, where that is written, and which scenarios try it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode

app = typer.Typer(
    help="The claims: normative sentences with their sources, and the scenarios that arm them.",
    no_args_is_help=True,
)

DEFAULT_CATALOGUE = Path("docs/claims.yaml")


@app.command("list")
def list_claims(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only claims that hold all of these words.")
    ] = None,
    level: Annotated[str, typer.Option(help="Core, Extended, Derived or Provisional.")] = "",
) -> None:
    """List claims: id, level, sentence.

    \b
    assay claims list
    assay claims list quota --level Core
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from conformance.claim import Level
    from conformance.cli.judging import all_claims
    from conformance.cli.one_of import require_one_of

    if level:
        require_one_of("--level", level.capitalize(), Level)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Claim", "Level", "Sentence"):
        table.add_column(column, no_wrap=column != "Sentence", overflow="fold")
    for claim in all_claims().values():
        text = f"{claim.id} {claim.name} {claim.text}".lower()
        if level and claim.level != level.capitalize():
            continue
        if all(word.lower() in text for word in words or ()):
            table.add_row(Text(claim.id), Text(claim.level), Text(claim.text))
    Console().print(table)
    typer.echo(f"{table.row_count} claims")


@app.command("show")
def show(claim: Annotated[str, typer.Argument(help="A claim's id or name.")]) -> None:
    """Show one claim with its source, the decision where that is silent, and its scenarios.

    \b
    assay claims show AW-015
    """
    from conformance.cli.judging import claim_named
    from conformance.scenarios import SCENARIOS

    found = claim_named(claim)
    typer.secho(f"{found.id} {found.name}", bold=True)
    typer.echo(f"{found.level}, profile {found.profile}, since {found.since}\n")
    typer.echo(found.text)
    typer.echo(f"\nsource: {found.source.document}, {found.source.section}")
    typer.echo(f'    "{found.source.sentence}"')
    if found.decision is not None:
        typer.echo(f"\ndecision {found.decision.id}: {found.decision.choice}")
        typer.echo(f"    because {found.decision.because}")
    if found.not_judged:
        typer.echo(f"\nnot judged: {found.not_judged}")
    arming = [scenario for scenario in SCENARIOS.values() if found.id in scenario.arms]
    typer.echo(f"\narmed by {len(arming)} scenarios" + (":" if arming else ""))
    for scenario in arming:
        typer.echo(f"    {scenario.id}\n        {scenario.title}")


@app.command("scenarios")
def scenarios(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only scenarios that hold all of these words.")
    ] = None,
) -> None:
    """List the scenarios, with the claims that each is written to arm."""
    from conformance.scenarios import SCENARIOS

    for scenario in SCENARIOS.values():
        text = f"{scenario.id} {scenario.title} {' '.join(scenario.arms)}".lower()
        if all(word.lower() in text for word in words or ()):
            typer.secho(scenario.id, bold=True)
            typer.echo(f"    {scenario.title}\n    arms {', '.join(scenario.arms)}")


@app.command("catalogue")
def catalogue(
    path: Annotated[Path, typer.Argument(help="The file.")] = DEFAULT_CATALOGUE,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the file is out of date.")
    ] = False,
) -> None:
    """Write the catalogue of claims (generated, committed, compared in CI).

    \b
    assay claims catalogue
    assay claims catalogue --check
    """
    from conformance.report.catalogue import catalogue_text
    from conformance.running.fault_use import faults_by_scenario
    from conformance.running.mutation import mutants_by_claim

    text = catalogue_text(mutants_by_claim(), faults_by_scenario())
    standing = path.read_text(encoding="utf-8") if path.is_file() else ""
    if check:
        if standing != text:
            typer.echo(f"{path} is out of date; write it with: assay claims catalogue {path}")
            raise typer.Exit(ExitCode.VIOLATED)
        typer.echo(f"{path} is up to date")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    typer.echo(f"{path}: {'unchanged' if standing == text else 'written'}")
