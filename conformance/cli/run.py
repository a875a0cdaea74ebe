"""`assay run`: scenarios on a cluster, faults and all; verdicts, report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.reproducing import command
from conformance.cli.run_arguments import RunArguments
from conformance.cli.taking import taking

if TYPE_CHECKING:
    from conformance.report.conformance_report import ConformanceReport


@taking(RunArguments)
def run(asked: RunArguments, typed: typer.Context) -> None:
    """Run a controller through the suite, and report which claims passed.

    \b
    assay run                                 everything, simulated
    assay run $SUITE --crash-points       and killed after every single write
    assay run $SUITE --random-plans 10    and under ten random sets of faults
    assay run AW-015 slow-pods-hold-their-quota --seed 7      one claim, one scenario
    assay run AW-049 --cluster control-plane --crash-points --sample 20
    assay run --cluster control-plane -j 8    on a real kube-apiserver and etcd
    assay run --cluster control-plane --cluster-folder .assay/cluster     on one that stays up
    assay run --cluster kind                  in containers that are real, on a cluster of its own
    assay run --cluster existing --kubeconfig FILE        on an existing cluster
    assay run --implementation mutant:quota-released-on-failed
    assay run jobset --edition released       by what released operators promise
    assay run $SUITE --random-plans 100 --shard 1/4       one of four machines' parts
    assay run $SUITE --random-plans 100 --resume          go on where it was stopped
    assay run $SUITE --random-plans 100 --dask tcp://HOST:8786    on the workers of a Dask cluster

    The report is written to .assay/ (report.yaml, index.html, a page and a plan per failure,
    junit.xml, histories/). If interrupted (Ctrl-C, SIGTERM), the command reports what was kept, and
    how to evaluate it; a campaign in virtual time that is interrupted by Ctrl-C reports the runs
    that ended before. One that was stopped, by SIGKILL too, goes on with --resume.
    """
    import msgspec
    from rich.console import Console

    from conformance.cli.ending import show_suite, write_report
    from conformance.cli.interrupted import ending_when_told_to
    from conformance.cli.journals import keeping_runs
    from conformance.cli.progress import showing_progress
    from conformance.cli.run_grounds import GROUNDS
    from conformance.cli.run_rules import require_that_campaigns_end, require_that_options_agree
    from conformance.cli.selection import (
        claims_asked_for,
        in_short,
        last_failed,
        require_edition,
        resolve,
        with_operators,
        without,
    )
    from conformance.implementations.ours import with_role
    from conformance.profiles.choosing import simulated, under_test
    from conformance.report.folder import check_folder
    from conformance.running.suite import roles_of, run_suite, select
    from conformance.running.why_not_run import why_in_turn

    require_that_options_agree(asked)
    check_folder(asked.out)
    selected = resolve(asked.selection or (), one_case=asked.one_case, large=asked.large)
    words, left_out = with_operators(selected, asked.implementation)
    if left_out:
        typer.echo(f"assay: {left_out}", err=True)
    require_edition(asked.edition, words)
    is_real = asked.cluster != "simulated"
    chosen = select(words, one_case=asked.one_case, large=asked.large)
    picked, claims = words, claims_asked_for(words, asked.edition)
    named = in_short(asked.selection) if asked.selection else words
    if asked.last_failed:
        decisive = {
            "--implementation": (asked.implementation, "reference"),
            "--edition": (asked.edition, ""),
            "--seed": (str(asked.seed), ""),
            "--cluster": (asked.cluster, "simulated"),
        }
        chosen = last_failed(chosen, asked.out, decisive)
        words = picked = named = tuple(each.id for each in chosen)
    if asked.skip:
        chosen = without(chosen, asked.skip)
        picked = tuple(each.id for each in chosen)
    if asked.last_failed or asked.skip:
        armed = claims_asked_for(picked, asked.edition)
        claims = tuple(each for each in armed if not claims or each in claims) or claims
    require_that_campaigns_end(asked, chosen)
    roles = roles_of(chosen)
    spelled = with_role(asked.implementation, roles, under_test if is_real else simulated)
    asked = replace(asked, implementation=spelled)
    typed.params["implementation"] = spelled
    known = replace(asked.options, command=command(named, typed))
    if asked.dask:
        raise typer.Exit(_on_dask(asked, shlex.split(known.command)[1:]))
    with (
        ending_when_told_to(asked.out, asked.cluster),
        keeping_runs(asked, known, command(named, typed, without=("shard",))) as journaled,
        GROUNDS[asked.cluster](asked, journaled.options, picked) as options,
    ):
        if is_real and (told := why_in_turn(options.implementation, roles)):
            typer.echo(f"assay: {told}", err=True)
        console = Console()
        with showing_progress(console, quiet=asked.quiet) as on_progress:
            suite = run_suite(picked, options, on_progress)
        suite = msgspec.structs.replace(suite, claims=claims)
        report, files = write_report(
            suite, asked.out, allure=asked.allure, beside=journaled.of_shard(suite)
        )
        journaled.is_reported = not suite.interrupted
        tables = bool(words) and not asked.quiet
        show_suite(
            console,
            suite,
            report,
            files,
            show_all=asked.show_all,
            quiet=asked.quiet,
            tables=tables,
        )
    code = _as_known(report, words, ExitCode.of_report(report))
    if suite.left_behind:
        typer.echo(
            f"assay: the cluster is not as it was before: {suite.left_behind}; "
            "if it stays, remove the rest with: assay clean",
            err=True,
        )
        code = ExitCode.VIOLATED if code is ExitCode.VIOLATED else ExitCode.ENVIRONMENT
    if suite.interrupted:
        code = ExitCode.INTERRUPTED
        if journaled.journal is not None:
            typer.echo("assay: go on with the same command and --resume", err=True)
    raise typer.Exit(code)


def _on_dask(asked: RunArguments, words: Sequence[str]) -> int:
    """Have the campaign of these words made by a Dask cluster, and make one report of it here."""
    from conformance.cli.report import merge
    from conformance.running.dask_shards import shards_on

    try:
        with shards_on(asked.dask, words) as shards:
            merge(
                shards,
                out=asked.out,
                jobs=asked.jobs,
                no_shrink=asked.no_shrink,
                quiet=asked.quiet,
            )
    except typer.Exit as ended:
        return ended.exit_code
    raise AssertionError("a merge ends with its exit code")


def _as_known(report: ConformanceReport, words: Sequence[str], code: ExitCode) -> ExitCode:
    """The exit code where an edition is known not to keep a claim in some scenarios: success if
    just these have failed, and a failure if one has not, though it was run with its suite."""
    from conformance.norm.verdict import Outcome
    from conformance.suite import load

    rows = [(claim.id, test) for claim in report.claims for test in claim.tests]
    failed = {(claim, test.name) for claim, test in rows if test.outcome is Outcome.FAILED}
    were_run = {test.scenario for _, test in rows}
    known: set[tuple[str, str]] = set()
    all_have_failed = True
    for suite, edition in report.suite.editions.items():
        for claim, scenarios in load()[suite].fails_in.get(edition, {}).items():
            for scenario in scenarios:
                known.add((claim, scenario))
                if (claim, scenario) in failed:
                    typer.echo(f"expected of the edition {edition}: {claim} failed in {scenario}")
                elif suite in words and scenario in were_run:
                    typer.echo(f"not expected of the edition {edition}: {claim} held in {scenario}")
                    all_have_failed = False
    for claim, scenario in sorted(failed - known) if known else ():
        typer.echo(f"not expected: {claim} failed in {scenario}")
    if not all_have_failed:
        return ExitCode.VIOLATED
    is_known = bool(failed) and failed <= known
    return ExitCode.CONFORMANT if is_known and code is ExitCode.VIOLATED else code
