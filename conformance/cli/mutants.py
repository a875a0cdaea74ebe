"""`assay mutants`: how strong the suite is, measured on controllers that are wrong on purpose."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.one_of import require_one_of
from conformance.cli.problems import BadInputError
from conformance.running.run_options import DEFAULT_SEED, RunOptions
from vocabulary.implementations import REFERENCE

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.running.mutation import MutantResult

_CLUSTERS = ("simulated", "control-plane")
_SHOWN_KILLERS = 5
_GENERIC = "generic:"


def mutants(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Only these mutants, or those of these operators or suites; nothing means all."
        ),
    ] = None,
    only_list: Annotated[
        bool, typer.Option("--list", help="List the mutants and what is wrong in each; run none.")
    ] = False,
    generic: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="N mistakes that are planted in the references' source instead; --seed decides"
            " which.",
            min=1,
        ),
    ] = None,
    wire: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="N mistakes in the writes of the operators of the suites that are named, whatever"
            " program they are; --seed decides which.",
            min=1,
        ),
    ] = None,
    implementation: Annotated[
        str,
        typer.Option(metavar="NAME", help="Of --wire: the operator, as for assay run."),
    ] = REFERENCE,
    workload: Annotated[
        Path | None,
        typer.Option(
            help="Of --wire and the suite operator: a file with the objects that a user creates."
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="With --workload: so many disturbed runs for each mistake, drawn by the seed.",
            min=1,
        ),
    ] = 60,
    floor: Annotated[
        float,
        typer.Option(help="Of --generic and --wire: how many percent have to be noticed.", max=100),
    ] = 100.0,
    seed: Annotated[int, typer.Option(help="Decides every random choice.", min=0)] = DEFAULT_SEED,
    alone: Annotated[
        bool,
        typer.Option(
            "--alone", help="Judge each mutant by the claims that it is said to be killed by alone."
        ),
    ] = False,
    cluster: Annotated[
        str,
        typer.Option(
            help=f"Where to run: {', '.join(_CLUSTERS)}. On a control plane, the designs of a"
            " norm's argument (assay explain).",
            callback=lambda name: require_one_of("--cluster", name, _CLUSTERS),
        ),
    ] = "simulated",
    cluster_folder: Annotated[
        Path | None,
        typer.Option(help="The control plane that `assay cluster up` started there."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="0: one per core.", min=0)] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run the suite against every mutant of the reference; each must be caught by some claim.

    \b
    assay mutants --list
    assay mutants quota-released-on-failed
    assay mutants mlbatch                   those that the suite's scenarios are written to kill
    assay mutants streams --alone           all claims off but those it is said to be killed by
    assay mutants --generic 60 --seed 7     random mistakes in the source of the reference
    assay mutants generic:5a8a9c1f          one of these again
    assay mutants jobset --wire 60 --implementation jobset-v0.12.0      mistakes in its writes
    assay mutants operator --wire 60 --implementation mine.yaml --workload sample.yaml
    assay mutants streams --cluster control-plane       rejected designs on a real control plane

    Exit code 1 if a mutant survives, or a claim or a scenario lets one pass that it is said to
    catch: the suite then has a hole. With --generic and --wire, if fewer are noticed than --floor
    says.
    """
    from conformance.cli.wire_mutants import WIRE, Asked, run_wire_mutants
    from conformance.report.counted import counted
    from reference_controller import programs

    mistakes = [name.removeprefix(WIRE) for name in names or () if name.startswith(WIRE)]
    if wire is not None or mistakes:
        suites = [name for name in names or () if not name.startswith(WIRE)]
        if generic is not None or alone or only_list or cluster != "simulated":
            raise BadInputError("--wire is of the simulation; leave out the other options")
        if not suites or (mistakes and wire is not None):
            raise BadInputError(
                "--wire needs the suites whose claims are to notice: assay mutants jobset --wire 60"
            )
        options = RunOptions(jobs=jobs, implementation=implementation)
        asked = Asked(suites, wire, mistakes, seed, floor, workload, sample)
        run_wire_mutants(asked, options, quiet=quiet)
        return
    if workload is not None or implementation != REFERENCE:
        raise BadInputError("--workload and --implementation go with --wire")
    wanted = [name.removeprefix(_GENERIC) for name in names or () if name.startswith(_GENERIC)]
    is_real = cluster != "simulated"
    if cluster_folder is not None and not is_real:
        raise BadInputError("--cluster-folder: add --cluster control-plane, or leave it out")
    if alone and (is_real or generic is not None or wanted):
        raise BadInputError("--alone is of mutants in the simulation; leave out the other options")
    if is_real and (generic is not None or wanted or only_list):
        raise BadInputError(
            "--cluster control-plane runs the designs of a norm's argument; leave out --generic, "
            "--list and generic:…"
        )
    if generic is not None or wanted:
        from conformance.cli.generic_mutants import run_generic_mutants

        roles = [name for name in names or () if name in programs.names()]
        if len(wanted) + len(roles) < len(names or ()) or (wanted and generic is not None):
            raise BadInputError("--generic and names of mutants come in commands of their own")
        # A run of a mutant must not depend on what the seed draws, so the suite keeps its own.
        options = RunOptions(jobs=jobs)
        run_generic_mutants(
            generic, seed, wanted, roles or programs.names(), options, floor, quiet=quiet
        )
        return
    of_role = {role: programs.load(role).mutants for role in programs.names()}
    chosen = _chosen(names or (), of_role)
    if only_list:
        for role, found in chosen.items():
            for name in found:
                typer.echo(f"{name:<48} {of_role[role][name].sentence}")
        typer.echo(counted(sum(map(len, chosen.values())), "mutant"))
        return
    if is_real:
        _run_really(chosen, RunOptions(seed=seed, jobs=jobs, cluster_folder=cluster_folder), quiet)
        return
    are_all = all(len(found) == len(of_role[role]) for role, found in chosen.items())
    options = RunOptions(seed=seed, jobs=jobs)
    _run(chosen, options, are_all=are_all, alone=alone, quiet=quiet)


def _chosen(asked: Sequence[str], of_role: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """By role the mutants that are named; all of a role that is named, unless one of its mutants
    is, too; all of every role if nothing is named. Of a suite without an operator of its own, those
    that its scenarios are written to kill."""
    of_suite = _of_suites(of_role) if asked else {}
    groups = [word for word in asked if word in of_role or word in of_suite]
    names = [word for word in asked if word not in groups]
    for name in names:
        _known(name, [*of_role, *of_suite, *(name for known in of_role.values() for name in known)])
    names += [name for word in groups for name in of_suite.get(word, ())]
    found = {
        role: sorted(known if role in groups or not asked else ())
        for role, known in of_role.items()
    }
    for role, known in of_role.items():
        if named := {name for name in names if name in known}:
            found[role] = sorted(named)
    return {role: mutants for role, mutants in found.items() if mutants}


def _of_suites(of_role: Collection[str]) -> dict[str, set[str]]:
    """The mutants that scenarios of suites without an operator of their own are written to kill."""
    from conformance.scenarios import SCENARIOS

    found: dict[str, set[str]] = {}
    for scenario in SCENARIOS.values():
        if scenario.kills and scenario.suite not in of_role:
            found.setdefault(scenario.suite, set()).add(scenario.kills)
    return found


def _known(name: str, known: list[str]) -> None:
    from vocabulary.nearest import meant

    if name in known:
        return
    raise BadInputError(
        f"there is no mutant, operator or suite {name!r}; {meant(name, known)} "
        "List them: assay mutants --list"
    )


def _run(
    chosen: Mapping[str, Sequence[str]],
    options: RunOptions,
    *,
    are_all: bool,
    alone: bool,
    quiet: bool,
) -> None:
    from rich.console import Console

    from conformance.claims import judged_on
    from conformance.cli.progress import showing_progress
    from conformance.running.mutation import claims_without_mutants, run_mutants

    console = Console()
    with showing_progress(console, quiet=quiet, tell_failures=False) as on_progress:
        rows = [
            row
            for role, names in chosen.items()
            for row in run_mutants(names, options, on_progress, role=role, alone=alone)
        ]
    _show(console, rows)
    alive = [row.mutant for row in rows if not row.killed_by]
    if are_all:
        judged = {
            claim.id
            for role in chosen
            for claim in judged_on(role, frozenset({role}))
            if not claim.not_judged
        }
        for claim in claims_without_mutants(rows, sorted(judged)):
            typer.echo(f"{claim} killed no mutant; write one that it, or it alone, would catch")
    # What a mutant is killed by was seen with that seed; with another one a race may go well.
    telling = rows if options.seed == DEFAULT_SEED else []
    unnoticed = [f"{claim} did not notice {row.mutant}" for row in telling for claim in row.missed]
    for line in unnoticed:
        typer.echo(f"{line}; mend the claim, or leave it out of what the mutant is killed by")
    spared = [
        f"{scenario} says that it kills {row.mutant}, and does not"
        for row in telling
        for scenario in row.spared_by
    ]
    for line in spared:
        typer.echo(f"{line}; correct its `kills`")
    errors = {claim: text for row in rows for claim, text in row.checker_errors.items()}
    for _, text in sorted(errors.items()):
        typer.echo(text)
    how = ", each by the claims that it is said to be killed by alone" if alone else ""
    typer.echo(f"{len(rows) - len(alive)}/{len(rows)} mutants killed{how}")
    if errors:
        raise typer.Exit(ExitCode.INCONCLUSIVE)
    if alive or unnoticed or spared:
        raise typer.Exit(ExitCode.VIOLATED)


def _run_really(chosen: Mapping[str, Sequence[str]], options: RunOptions, quiet: bool) -> None:
    """Run the designs of norms' arguments on a control plane, and name the mutants left out."""
    from rich.console import Console

    from conformance.cli.progress import showing_progress
    from conformance.running.designs import designs_of, run_designs, suite_with_argument

    console = Console()
    found = {role: suite_with_argument(role) for role in chosen}
    arguing = {role: suite for role, suite in found.items() if suite is not None}
    if not arguing:
        raise BadInputError(
            f"--cluster control-plane: the norm of {', '.join(found)} argues about no designs; "
            "use: assay mutants streams --cluster control-plane"
        )
    rows: list[MutantResult] = []
    with showing_progress(console, quiet=quiet, tell_failures=False) as on_progress:
        for role, suite in arguing.items():
            designs, left_out = designs_of(suite, chosen[role])
            for reason in sorted({*left_out.values()}):
                names = ", ".join(name for name in left_out if left_out[name] == reason)
                typer.echo(f"not run there, since each {reason}: {names}")
            really = replace(options, cluster="control-plane")
            rows += run_designs(designs, really, on_progress)
    if not rows:
        raise BadInputError("none of these mutants is run on a control plane; name another one")
    _show(console, rows)
    missed = [row for row in rows if row.missed]
    for row in missed:
        typer.echo(
            f"{row.missed[0]} did not convict {row.mutant}; look at its run: assay run "
            f"{row.scenarios[0]} --cluster control-plane --implementation mutant:{row.mutant}"
        )
    typer.echo(f"{len(rows) - len(missed)}/{len(rows)} designs convicted")
    if missed:
        raise typer.Exit(ExitCode.VIOLATED)


def _show(console: Console, rows: Sequence[MutantResult]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("Mutant", no_wrap=True)
    table.add_column("Killed by, in", overflow="fold")
    for row in rows:
        sign = Text("✓ killed", style="green") if row.killed_by else Text("✗ lives", style="red")
        killers = Text(", ".join(row.killed_by[:_SHOWN_KILLERS]))
        if len(row.killed_by) > _SHOWN_KILLERS:
            killers.append(f" and {len(row.killed_by) - _SHOWN_KILLERS} more")
        for scenario in row.scenarios[:1]:
            killers.append(f"\n{scenario}", style="dim")
        table.add_row(sign, Text(row.mutant), killers)
    console.print(table)
