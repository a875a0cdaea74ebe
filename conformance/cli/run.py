"""`assay run`: scenarios on a cluster, faults and all; verdicts, report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from conformance.cli.exit_code import ExitCode
from conformance.run_options import DEFAULT_SEED, ClusterName, RunOptions

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.report.conformance_report import ConformanceReport
    from conformance.report.folder import SuiteFiles
    from conformance.report.run_result import SuiteResult


def _complete_selection(incomplete: str) -> list[str]:
    from conformance.cli.selection import complete

    return complete(incomplete)


CLUSTERS = ("simulated", "control-plane", "kind", "existing")
DEFAULT_OUT = Path(".assay")
_MAX_BLOCKS = 20


def _cluster(name: str) -> str:
    if name not in CLUSTERS:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(CLUSTERS)}")
    return name


def run(
    selection: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUITE|SCENARIO|CLAIM]...",
            help="What to run: a suite (appwrapper), scenarios (slow-pods), claims (AW-015). "
            "Nothing means everything.",
            autocompletion=_complete_selection,
        ),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(help=f"Where to run: {', '.join(CLUSTERS)}.", callback=_cluster),
    ] = "simulated",
    implementation: Annotated[
        str,
        typer.Option(help="The controller under test: reference, mutant:NAME, or a profile file."),
    ] = "reference",
    seed: Annotated[int, typer.Option(help="Decides every random choice of the run.", min=0)] = (
        DEFAULT_SEED
    ),
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Runs side by side; 0: one per core.", min=0)
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the report goes; an earlier one is replaced.")
    ] = DEFAULT_OUT,
    crash_points: Annotated[
        bool,
        typer.Option(
            "--crash-points",
            help="Repeat each scenario with the operator killed after each of its writes in turn.",
        ),
    ] = False,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Run everything twice; compare histories byte by byte.")
    ] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="The cluster for --cluster existing.")
    ] = None,
    context: Annotated[str, typer.Option(help="The kubeconfig's context.")] = "",
    keep_cluster: Annotated[
        bool, typer.Option("--keep-cluster", help="Leave the cluster running at the end.")
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="List passed claims too, not only their number.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress; failures and the report's path.")
    ] = False,
) -> None:
    """Put a controller through the suite, and report which claims held.

    \b
    assay run                                 everything, simulated
    assay run appwrapper --crash-points       and killed after every single write
    assay run AW-015 slow-pods --seed 7       one claim, one scenario
    assay run --cluster control-plane -j 8    on a real kube-apiserver and etcd
    assay run --implementation mutant:quota-released-when-failed

    The report goes to .assay/ (report.yaml, index.html, a page and a plan per failure,
    junit.xml, allure-results/, histories/).
    """
    from conformance.cli.selection import resolve
    from conformance.report.folder import check_folder

    check_folder(out)
    words = resolve(selection or ())
    options = RunOptions(
        cluster=cast(ClusterName, cluster),
        implementation=implementation,
        seed=seed,
        jobs=jobs,
        crash_points=crash_points,
        rerun=rerun,
        kubeconfig=kubeconfig,
        context=context,
        keep_cluster=keep_cluster,
        command=_command(words, cluster, implementation, seed, crash_points, rerun),
    )
    console = _console()
    suite = _run_suite(words, options, console, quiet=quiet)
    report, files = _write_report(suite, out)
    _show(console, suite, report, files, show_all=show_all, quiet=quiet)
    raise typer.Exit(ExitCode.of_report(report))


def _command(
    words: tuple[str, ...],
    cluster: str,
    implementation: str,
    seed: int,
    crash_points: bool,
    rerun: bool,
) -> str:
    """The command that reproduces the run: what decides its outcome, not where it goes."""
    parts = ["assay", "run", *words]
    if cluster != "simulated":
        parts += ["--cluster", cluster]
    if implementation != "reference":
        parts += ["--implementation", implementation]
    parts += ["--seed", str(seed)]
    parts += ["--crash-points"] * crash_points + ["--rerun"] * rerun
    return shlex.join(parts)


def _console() -> Console:
    from rich.console import Console

    return Console()


def _run_suite(
    words: tuple[str, ...], options: RunOptions, console: Console, *, quiet: bool
) -> SuiteResult:
    from conformance.cli.progress import showing_progress
    from conformance.runner import run_suite

    with showing_progress(console, quiet=quiet) as on_progress:
        return run_suite(words, options, on_progress)


def _write_report(suite: SuiteResult, out: Path) -> tuple[ConformanceReport, SuiteFiles]:
    from datetime import UTC, datetime

    from conformance.claims import CLAIMS
    from conformance.report.build import build_report
    from conformance.report.folder import write_folder
    from conformance.report.suite_version import git_commit, version

    report = build_report(
        suite,
        CLAIMS,
        version=version(),
        git_commit=git_commit(),
        date=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    )
    return report, write_folder(out, suite, report, CLAIMS)


def _show(
    console: Console,
    suite: SuiteResult,
    report: ConformanceReport,
    files: SuiteFiles,
    *,
    show_all: bool,
    quiet: bool,
) -> None:
    """The table, the failures, the summary; the report's path is the last line."""
    from conformance.claims import CLAIMS
    from conformance.report.text import claims_table, counts_line, failure_block, summary_lines

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    table = claims_table(report, show_all=show_all)
    if table.row_count and not quiet:
        console.print(table)
    for failure in files.failures[:_MAX_BLOCKS]:
        say("")
        say(
            failure_block(
                CLAIMS[failure.claim],
                failure.run,
                failure.verdict,
                replay=failure.plan,
                page=failure.page,
            )
        )
    if len(files.failures) > _MAX_BLOCKS:
        say(f"\nand {len(files.failures) - _MAX_BLOCKS} more failures, see the report")
    say("")
    for line in () if quiet else summary_lines(report):
        say(line)
    say(f"{counts_line(report)}; {len(suite.runs)} runs in {suite.wall_seconds:.2f} s")
    say(f"report: {files.report}")
