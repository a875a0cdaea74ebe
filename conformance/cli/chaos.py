"""`assay chaos`: a Chaos Toolkit experiment in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import EXPERIMENT, only
from conformance.running.run_options import DEFAULT_SEED
from vocabulary.seeds import MAX_SEED


def chaos(
    experiment: Annotated[
        Path, typer.Argument(help="An experiment: YAML or JSON.", callback=only(EXPERIMENT))
    ],
    *,
    implementation: Annotated[
        str, typer.Option(help="The controller under test: reference, mutant:NAME.")
    ] = "reference",
    seed: Annotated[
        int, typer.Option(help="Decides every random choice.", min=0, max=MAX_SEED)
    ] = DEFAULT_SEED,
    journal: Annotated[Path | None, typer.Option(help="Write the toolkit's journal there.")] = None,
    history: Annotated[Path | None, typer.Option(help="Store the history there.")] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Also run what acts outside of the simulation: processes, HTTP requests, and "
            "Python other than chaos.toolkit's.",
        ),
    ] = False,
) -> None:
    """Run a Chaos Toolkit experiment on a simulated cluster; pauses cost no real time.

    \b
    assay chaos chaos/experiments/pod-kill.yaml
    chaos run chaos/experiments/pod-kill.yaml      the same on a real cluster

    An experiment that would act on this machine is refused, unless --trust is given.

    Exit code 1 if the steady state deviated, or a claim was violated on the way.
    """
    import json

    from chaos.toolkit.virtual import load_experiment, role_of_operator, run_experiment
    from conformance.cli.ending import echo_checker_errors
    from conformance.cli.judging import all_claims
    from conformance.implementations.ours import implementation as implementation_named
    from conformance.norm.verdict import Outcome
    from conformance.report.replacing import write_whole
    from conformance.report.untrusted import printable
    from vocabulary.history import write_history

    loaded = load_experiment(experiment, trusted=trust)
    under_test = implementation_named(implementation, role_of_operator(loaded))
    run = run_experiment(loaded, under_test, seed)
    known = all_claims()
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAILED]
    for verdict in failed:
        claim = known[verdict.claim]
        typer.echo(f"{claim.id} {claim.name}  FAILED  {printable(verdict.because)}")
    armed = sum(verdict.armed > 0 for verdict in run.verdicts)
    steady = "held" if run.is_steady else f"did not hold ({run.journal['status']})"
    typer.echo(f"{printable(str(loaded['title']))}: steady state {steady}")
    typer.echo(f"{armed} claims armed, {len(failed)} violated")
    if journal is not None:
        write_whole(journal, json.dumps(run.journal, indent=2, default=str))
        typer.echo(f"journal: {journal}")
    if history is not None:
        write_history(history, run.header, run.entries)
        typer.echo(f"history: {history}")
    has_checker_errors = echo_checker_errors(str(loaded["title"]), run.verdicts)
    if failed or not run.is_steady:
        raise typer.Exit(ExitCode.VIOLATED)
    if has_checker_errors:
        raise typer.Exit(ExitCode.INCONCLUSIVE)
