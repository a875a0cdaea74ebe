"""`assay explore`: what breaks in an operator, without a suite written for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.one_of import require_one_of
from conformance.cli.reproducing import command as reproducing
from conformance.cli.run_arguments import DEFAULT_OUT
from conformance.explore import SORTS
from conformance.running.run_options import DEFAULT_SEED
from vocabulary.durations import parse_span
from vocabulary.implementations import UPGRADED
from vocabulary.seeds import MAX_SEED

if TYPE_CHECKING:
    from conformance.explore.written_profile import Found

_OF_COMMANDS: Final = ("command", "crds", "rbac")
_RELEASED: Final = re.compile(r"[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~-]+)*@v[0-9][A-Za-z0-9.+-]*")


def _sorts(only: str) -> str:
    for sort in filter(None, only.split(",")):
        require_one_of("--only", sort, SORTS)
    return only


def _span(stays_for: str) -> str:
    try:
        parse_span(stays_for or "0")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return stays_for


def explore(
    typed: typer.Context,
    operator: Annotated[
        str,
        typer.Argument(
            metavar="[FOLDER|MODULE@VERSION|PROFILE|REFERENCE]",
            help="The operator: the folder of its Go module, or a released module, for which a "
            "profile is written; a profile's file; a shipped profile (assay profile list); or a "
            "reference controller: jobset, jobset/mutant:NAME.",
        ),
    ] = "",
    *,
    command: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Instead of OPERATOR: what starts it in this directory, such as 'kopf run "
            "operator.py'; a profile is written. A program in Python runs in virtual time.",
        ),
    ] = "",
    crds: Annotated[
        Path | None, typer.Option(help="With --command: its CRDs, a file or a directory.")
    ] = None,
    rbac: Annotated[
        Path | None, typer.Option(help="With --command: its roles, a file or a directory.")
    ] = None,
    workload: Annotated[
        Path, typer.Option(help="A file with the objects that a user creates, in order.")
    ],
    seed: Annotated[
        int, typer.Option(help="Decides every random choice of the run.", min=0, max=MAX_SEED)
    ] = DEFAULT_SEED,
    sample: Annotated[
        int,
        typer.Option(
            metavar="N", help="Only N of the disturbed runs, drawn by the seed. 0: all.", min=0
        ),
    ] = 0,
    only: Annotated[
        str,
        typer.Option(
            metavar="SORT,…",
            help=f"Only disturbances of these sorts: {', '.join(SORTS)}.",
            callback=_sorts,
        ),
    ] = "",
    upgrade_from: Annotated[
        str,
        typer.Option(
            metavar="PROFILE|REFERENCE",
            help="Another version of the operator. It is replaced by this one at each of its "
            "writes and at rest, and this one by it.",
        ),
    ] = "",
    stays_for: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="SPAN",
            help="Go on for so long once the workload is at rest, such as 61d, for what the "
            "operator does by the clock. An annotation of the first object says so to replays.",
            callback=_span,
        ),
    ] = "",
    rerun: Annotated[
        bool,
        typer.Option("--rerun", help="Make every run twice, and compare histories byte by byte."),
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Runs side by side; 0: one per core.", min=0)
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the report goes; an earlier one is replaced.")
    ] = DEFAULT_OUT,
    no_shrink: Annotated[
        bool, typer.Option("--no-shrink", help="Show failures as they were found.")
    ] = False,
    show_all: Annotated[bool, typer.Option("--all", help="List passed claims too.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress; failures and where the report is.")
    ] = False,
) -> None:
    """Run an operator with a workload in virtual time, undisturbed and then with one thing broken
    at a time, and report which claims about any operator it violates.

    \b
    assay explore . --workload config/samples/backup.yaml
    assay explore sigs.k8s.io/lws@v0.7.0 --workload sample.yaml
    assay explore --command 'kopf run operator.py' --crds crds/ --rbac rbac.yaml --workload job.yaml
    assay explore jobset-v0.12.0 --workload jobset.yaml
    assay explore mine.yaml --workload config/samples/backup.yaml
    assay explore $SUITE --workload sample.yaml --sample 200
    assay explore v2.yaml --workload sample.yaml --upgrade-from v1.yaml --only upgrades

    It is killed at each of its writes, its writes are refused, objects of its tree are deleted and
    changed, its watches are late, the workload is deleted. Where an end differs from that of the
    undisturbed run, both are shown. Each failure has a plan that replays it. A campaign that is
    ended by Ctrl-C or SIGTERM, as by timeout(1), reports the runs that ended; the exit code is 130.
    """
    import msgspec
    from rich.console import Console

    from conformance.claims import of_suites
    from conformance.cli.ending import show_suite, write_report
    from conformance.cli.interrupted import ending_when_told_to
    from conformance.cli.progress import showing_progress
    from conformance.explore.campaign import CREATED, SUITE, Exploration
    from conformance.explore.workload import in_one_namespace, read_workload
    from conformance.profiles.choosing import simulated
    from conformance.report.folder import check_folder
    from conformance.running.run_options import RunOptions
    from conformance.running.suite import run_suite

    check_folder(out)
    if bool(operator) == bool(command):
        raise typer.BadParameter("name one of OPERATOR and --command")
    if (crds or rbac) and not command:
        raise typer.BadParameter("--crds and --rbac go with --command; a profile names its own")
    if command:
        operator = _profile_of_command(command, crds, rbac)
    elif Path(operator).is_dir() or _RELEASED.fullmatch(operator):
        operator = _profile_of_module(operator)
    manifests, namespace = in_one_namespace(read_workload(workload, stays_for))
    if namespace:
        typer.echo(f"workload: namespace {namespace} is that of each run")
    console = Console()

    def say(line: str) -> None:
        if not quiet:
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    if upgrade_from:
        simulated(f"{upgrade_from}{UPGRADED}{operator}", SUITE)  # whose errors say what is missing
    exploration = Exploration(
        say,
        sample=sample,
        only=tuple(filter(None, only.split(","))),
        upgrade_from=upgrade_from,
    )
    options = RunOptions(
        implementation=f"{SUITE}={operator}",
        seed=seed,
        jobs=jobs,
        shrink=not no_shrink,
        rerun=rerun,
        out=out,
        manifests=manifests,
        further=(exploration,),
        # A profile that was written here is what repeats the runs.
        command=reproducing((operator,), typed, verb="explore", without=_OF_COMMANDS),
    )
    # Nothing keeps its runs but the report.
    with ending_when_told_to(out, "simulated", ends_in_order=True):
        with showing_progress(console, quiet=quiet) as on_progress:
            # The ends of all other scenarios would be those of a shorter time.
            selected = CREATED if stays_for else SUITE
            suite = run_suite((selected,), options, on_progress)
        if exploration.no_occasion:
            missing = exploration.no_occasion
            asked = (claim.id for claim in of_suites(frozenset((SUITE,))))
            suite = msgspec.structs.replace(
                suite,
                claims=tuple(claim for claim in asked if claim not in missing),
                notes=(*suite.notes, f"no occasion in these runs: {', '.join(missing)}"),
            )
        report, files = write_report(suite, out, allure=False)
        show_suite(console, suite, report, files, show_all=show_all, quiet=quiet)
    raise typer.Exit(ExitCode.INTERRUPTED if suite.interrupted else ExitCode.of_report(report))


def _profile_of_module(module: str) -> str:
    """The profile of the operator of a module, in a folder or released: written, unless it is
    there, and built."""
    from conformance.cli.building import showing_build
    from conformance.explore.go_module import found_in, found_released
    from conformance.explore.written_profile import relative_to
    from conformance.profiles.program import build
    from conformance.profiles.reading import read_profile

    found = (
        found_released(module)
        if _RELEASED.fullmatch(module)
        else found_in(Path(module), relative_to(Path(module), Path.cwd()))
    )
    path = _written(found, f"the module in {module}")
    with showing_build() as show:
        build(read_profile(path), path, show, in_virtual_time=True)
    return str(path)


def _profile_of_command(command: str, crds: Path | None, rbac: Path | None) -> str:
    """The profile of the operator that a command starts: written, unless it is there."""
    from conformance.explore.command_line import found_for, require_same
    from conformance.profiles.reading import read_profile

    found = found_for(command, crds, rbac, Path.cwd())
    path = _written(found, f"--command {command}")
    require_same(read_profile(path), found, path)
    return str(path)


def _written(found: Found, source: str) -> Path:
    """The file of a profile that was found, written unless it is there."""
    from conformance.report.replacing import write_whole

    path = Path(f"{found.name}.assay.yaml")
    if path.exists():
        typer.echo(f"profile: {path}, as it stands")
        return path
    for line in found.said:
        typer.echo(f"  {line}")
    for name, text in found.beside.items():
        write_whole(Path(name), text)
    write_whole(path, found.text(source, str(path)))
    typer.echo(f"profile: {path}, written; it is yours from now on")
    return path
