"""Puts the sub-commands together, and turns what they raise into exit codes."""

from __future__ import annotations

import atexit
import gc
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from clusters.parent_bound import bind_to_environment
from conformance.cli import (
    campaign,
    chaos,
    check,
    claims,
    clean,
    cluster,
    compare,
    controller,
    explain,
    explore,
    in_cluster,
    mutants,
    profile,
    replay,
    report,
    run,
    serve,
    verify,
)
from conformance.cli.examples import name_examples
from conformance.cli.exit_code import EXIT_CODES_HELP, ExitCode
from conformance.cli.problems import exit_code_for, report_bug, report_problem
from conformance.running.collecting import OBJECTS_PER_COLLECTION
from vocabulary import suite_path
from vocabulary.entry_points import EntryPointError, EntryPoints

_HELP = """\
Does this controller keep its promises while things break?

Assay runs a controller for Kubernetes batch workloads through scenarios with
injected faults, records all that happens, and judges the record claim by claim.

\b
  assay run                       the whole suite, simulated, in seconds
  assay run AW-015 --seed 7       one claim, all scenarios that arm it
  assay claims show AW-015        what it says, and where that is written
  assay replay .assay/aw-015.yaml the failure again, from its plan
  assay verify .assay             a report against its own histories
  assay compare baseline .assay   what a change gained and lost
"""

_OTHER_CLUSTERS = "Clusters and operators"
_CHAOS = "Chaos and recorded clusters"


def _add_commands_of_others(app: typer.Typer) -> None:
    """Add the commands of packages that nothing here needs; one that is broken is missing."""
    commands = EntryPoints("assay.commands", "command")
    # An installation that is out of date lacks them; the suites' entry points, as old, say so.
    with suppress(EntryPointError):
        for name in commands.names():
            try:
                app.add_typer(commands.load(name), name=name, rich_help_panel=_OTHER_CLUSTERS)
            except EntryPointError as error:
                typer.echo(f"assay: {error}; until then assay {name} is missing", err=True)


app = typer.Typer(
    name="assay",
    help=_HELP,
    epilog=EXIT_CODES_HELP,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run", epilog=EXIT_CODES_HELP)(run.run)
app.command("explore", epilog=EXIT_CODES_HELP)(explore.explore)
app.command("replay", epilog=EXIT_CODES_HELP)(replay.replay)
app.add_typer(claims.app, name="claims")
app.command("mutants", epilog=EXIT_CODES_HELP)(mutants.mutants)
app.command("compare", epilog=compare.COMPARE_EXIT_CODES)(compare.compare)
app.command("verify", epilog=EXIT_CODES_HELP)(verify.verify)
app.add_typer(report.app, name="report")
app.command("explain", epilog=EXIT_CODES_HELP)(explain.explain)
app.command("serve")(serve.serve)
app.add_typer(cluster.app, name="cluster", rich_help_panel=_OTHER_CLUSTERS)
app.add_typer(profile.app, name="profile", rich_help_panel=_OTHER_CLUSTERS)
app.add_typer(controller.app, name="controller", rich_help_panel=_OTHER_CLUSTERS)
app.add_typer(in_cluster.app, name="in-cluster", rich_help_panel=_OTHER_CLUSTERS)
app.add_typer(campaign.app, name="campaign", rich_help_panel=_OTHER_CLUSTERS)
app.command("clean", rich_help_panel=_OTHER_CLUSTERS)(clean.clean)
app.command("chaos", epilog=EXIT_CODES_HELP, rich_help_panel=_CHAOS)(chaos.chaos)
app.command("check", epilog=EXIT_CODES_HELP, rich_help_panel=_CHAOS)(check.check)
_add_commands_of_others(app)
name_examples(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from conformance.report.suite_version import version

        typer.echo(f"assay {version()}")
        raise typer.Exit


def _add_suites(paths: list[Path] | None) -> list[Path] | None:
    for path in paths or ():
        suite_path.add(path)
    return paths


@app.callback()
def assay(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
        ),
    ] = False,
    _suite_path: Annotated[
        list[Path] | None,
        typer.Option(
            suite_path.OPTION,
            metavar="DIRECTORY",
            callback=_add_suites,
            help="Use suites in this directory that are not installed; may be repeated.",
        ),
    ] = None,
) -> None:
    """Options that stand before the sub-command."""


def main() -> None:
    """Run the command; SystemExit has its exit code, see `entry` for what else may end it."""
    # What is imported stays, and at the end everything goes with the process: the collector took
    # an eighth of the time to a first result to look for garbage in that.
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    atexit.register(gc.freeze)
    try:
        bind_to_environment()
        # Not standalone: what Typer has to say of arguments is told as all else is.
        code = app(prog_name="assay", standalone_mode=False)
    except typer.Abort as error:  # interrupted while it asked something
        raise SystemExit(ExitCode.INTERRUPTED) from error
    except MemoryError:
        raise  # to be told where nothing of the command is held any more
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its help has been shown
            raise SystemExit(ExitCode.BAD_INPUT) from error
        code = exit_code_for(error)
        if code is ExitCode.BUG:
            report_bug(error)
        else:
            report_problem(error)
        raise SystemExit(code) from error
    raise SystemExit(code or ExitCode.CONFORMANT)
