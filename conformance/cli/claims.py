"""`assay claims`: what must hold, where that is written, and which scenarios try it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode

MAX_SCENARIOS = 20
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

    from conformance.cli.judging import all_claims
    from conformance.cli.one_of import require_one_of
    from conformance.norm.claim import Level
    from conformance.report.counted import counted

    if level:
        require_one_of("--level", level.capitalize(), Level)
    every = all_claims()
    found = _holding(
        words or (),
        {claim.id: f"{claim.id} {claim.name} {claim.text}" for claim in every.values()},
        "claim",
        [name for claim in every.values() for name in (claim.id, claim.name)],
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Claim", "Level", "Sentence"):
        table.add_column(column, no_wrap=column != "Sentence", overflow="fold")
    for claim in map(every.__getitem__, found):
        if not level or claim.level == level.capitalize():
            table.add_row(Text(claim.id), Text(claim.level), Text(claim.text))
    Console().print(table)
    typer.echo(counted(table.row_count, "claim"))


@app.command("show")
def show(claim: Annotated[str, typer.Argument(help="A claim's id or name.")]) -> None:
    """Show one claim with its source, the decision where that is silent, and its scenarios.

    \b
    assay claims show AW-015
    """
    from conformance.cli.judging import claim_named
    from conformance.report.counted import counted
    from conformance.scenarios import ALL_SCENARIOS

    found = claim_named(claim)
    typer.secho(f"{found.id} {found.name}", bold=True)
    typer.echo(f"{found.level}, suite {found.suite}, since {found.since}")
    if found.editions:
        typer.echo(f"holds in edition {', '.join(found.editions)}")
    typer.echo("")
    typer.echo(found.text)
    typer.echo(f"\nsource: {found.source}")
    for meaning in found.terms:
        typer.echo(meaning)
    for decision in found.decisions:
        typer.echo(f"\ndecision {decision.id}: {decision.choice}")
        typer.echo(f"    because {decision.because}")
    if found.not_judged:
        typer.echo(f"\nnot judged: {found.not_judged}")
    arming = [scenario for scenario in ALL_SCENARIOS.values() if found.id in scenario.arms]
    typer.echo(f"\narmed by {counted(len(arming), 'scenario')}" + (":" if arming else ""))
    for scenario in arming[:MAX_SCENARIOS]:
        typer.echo(f"    {scenario.id}\n        {scenario.title}")
    if len(arming) > MAX_SCENARIOS:
        typer.echo(f"and {len(arming) - MAX_SCENARIOS} more: assay claims scenarios {found.id}")


@app.command("scenarios")
def scenarios(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only scenarios that hold all of these words.")
    ] = None,
) -> None:
    """List the scenarios, with the claims that each is written to arm."""
    from conformance.scenarios import ALL_SCENARIOS

    every = {s.id: f"{s.id} {s.title} {' '.join(s.arms)}" for s in ALL_SCENARIOS.values()}
    for scenario in map(ALL_SCENARIOS.__getitem__, _holding(words or (), every, "scenario", every)):
        typer.secho(scenario.id, bold=True)
        typer.echo(f"    {scenario.title}\n    arms {', '.join(scenario.arms)}")


def _holding(
    words: Sequence[str], texts: Mapping[str, str], what: str, names: Iterable[str]
) -> list[str]:
    """The keys of the texts that hold all of the words, in any case; BadInputError if none does,
    with the nearest of the names."""
    from conformance.cli.problems import BadInputError
    from vocabulary.nearest import meant

    def holding(*wanted: str) -> list[str]:
        return [
            key
            for key, text in texts.items()
            if all(word.lower() in text.lower() for word in wanted)
        ]

    for word in words:
        if not holding(word):
            raise BadInputError(
                f"no {what} has the name {word!r}, or that in its text; {meant(word, names)} "
                "Leave it out to list all of them"
            )
    if not (found := holding(*words)):
        raise BadInputError(f"no {what} holds all of {', '.join(words)}; leave one of them out")
    return found


@app.command("catalogue")
def catalogue(
    path: Annotated[Path, typer.Argument(help="The file.")] = DEFAULT_CATALOGUE,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the file is out of date.")
    ] = False,
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder that `assay run` wrote: the faults are read from its histories, and"
            " no scenario is run again.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Write the catalogue of claims (generated, committed, compared in CI).

    \b
    assay claims catalogue
    assay claims catalogue --check
    assay claims catalogue --check --runs .assay
    """
    from conformance.report.catalogue import catalogue_text
    from conformance.report.replacing import write_whole
    from conformance.running import fault_use
    from conformance.running.mutation import mutants_by_claim

    faults = (
        fault_use.faults_by_scenario() if runs is None else fault_use.faults_by_scenario_in(runs)
    )
    text = catalogue_text(mutants_by_claim(), faults)
    standing = path.read_text(encoding="utf-8") if path.is_file() else ""
    if check:
        if standing != text:
            typer.echo(f"{path} is out of date; write it with: assay claims catalogue {path}")
            raise typer.Exit(ExitCode.VIOLATED)
        typer.echo(f"{path} is up to date")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    typer.echo(f"{path}: {'unchanged' if standing == text else 'written'}")
