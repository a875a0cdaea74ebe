"""`assay mutants --generic`: random mutations of the reference's source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Final

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.problems import BadInputError

if TYPE_CHECKING:
    from conformance.mutating.mutants import SourceMutant
    from conformance.running.mutant_trials import MutantFate
    from conformance.running.run_options import RunOptions

_SHOWN: Final = 5


def run_generic_mutants(
    count: int | None,
    seed: int,
    ids: Sequence[str],
    roles: Sequence[str],
    options: RunOptions,
    floor: float,
    *,
    quiet: bool,
) -> None:
    """Draw `count` mutants of these operators by the seed, or take those of these ids; run them
    and tell."""
    from rich.console import Console

    from conformance.cli.progress import showing_progress

    mutants = _chosen(count, seed, ids, roles)
    from conformance.running.generic_mutants import run_generic
    from conformance.scenarios import SCENARIOS

    # What an operator does not run in, none of its mistakes can matter in.
    scenarios = [
        name for name, found in SCENARIOS.items() if not set(roles).isdisjoint(found.roles)
    ]

    with showing_progress(Console(), quiet=quiet, tell_failures=False) as on_progress:
        results = run_generic(mutants, options, on_progress, scenarios)
    show_fates(results, "generic", "assay mutants", seed, floor, is_all=bool(ids))


def show_fates(
    results: Sequence[MutantFate],
    sort: str,
    command: str,
    seed: int,
    floor: float,
    *,
    is_all: bool,
) -> None:
    """Show mutants that were not noticed, or all of them, and how many were. Exits with 1 if
    fewer were than the floor says. `command` repeats one, with its
    id."""
    from conformance.running.mutant_trials import NOT_COUNTED, percent_decided

    for result in results:
        if is_all or result.fate in ("survived", "timed out", "inconclusive"):
            _tell(result)
            typer.echo(f"  again: {command} {quote(f'{sort}:{result.id}')}\n")
    fates = Counter(result.fate for result in results)
    typer.echo(", ".join(f"{number} {fate}" for fate, number in fates.most_common()))
    percent = percent_decided(results)
    counted = len(results) - sum(fates[fate] for fate in NOT_COUNTED)
    noticed = f"{percent:.1f} % noticed of {counted} {sort} mutants"
    typer.echo(noticed if is_all else f"{noticed}, seed {seed}; the floor is {floor:g} %")
    if percent < floor:
        raise typer.Exit(ExitCode.VIOLATED)


def _chosen(
    count: int | None, seed: int, ids: Sequence[str], roles: Sequence[str]
) -> list[SourceMutant]:
    from conformance.mutating.mutants import Sources, UnknownMutantError
    from reference_controller import programs

    decided = [programs.load(name).decision_code for name in roles]
    sources = Sources(
        [module for each in decided for module in each.modules],
        {name for each in decided for name in each.told},
    )
    if count is not None:
        return sources.draw(count, seed)
    try:
        return [sources.by_id(id_) for id_ in ids]
    except UnknownMutantError as error:
        raise BadInputError(f"{error}; draw mutants: assay mutants --generic 60") from error


def _tell(result: MutantFate) -> None:
    typer.echo(f"{result.fate}: {result.where} {result.operator}: {result.change}")
    if result.diff:
        typer.echo(result.diff)
    if result.killed_by:
        typer.echo(f"  killed by {_some(result.killed_by)} in {result.scenario}")
    if result.fate == "inconclusive" and result.reason:
        typer.echo(f"  passed nowhere: {_some(result.reason.split(', '))}")
    elif result.reason:
        typer.echo(f"  {result.reason}")
    if result.fate == "timed out":
        typer.echo(f"  in {result.scenario}")
    if result.fate in ("survived", "inconclusive"):
        typer.echo(f"  nearest claims: {_some(result.nearest) or 'none is armed'}")
        differs = f", for example {result.differs[0]}" if result.differs else ""
        typer.echo(f"  {len(result.differs)} of {result.runs} histories differ{differs}")
        if result.broke_off:
            typer.echo(f"  steps broke off in {_some(result.broke_off)}")


def _some(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest
