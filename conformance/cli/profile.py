"""`assay profile`: descriptions of controllers that are not Assay's, and their programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.file_kinds import PROFILE, REPORT, only

if TYPE_CHECKING:
    from conformance.profiles.profile import ImplementationProfile
    from conformance.report.conformance_report import ConformanceReport

app = typer.Typer(
    help="Implementation profiles: how to run and judge somebody else's controller.",
    no_args_is_help=True,
)
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="A shipped profile, or a file of your own.",
        callback=only(PROFILE),
    ),
]


@app.command("list")
def list_profiles() -> None:
    """List the profiles that come with the suite, and whether their programs are built."""
    from conformance.profiles.program import ProgramMissingError, program_of
    from conformance.profiles.reading import read_profile
    from conformance.suite import shipped_profiles

    for name, path in shipped_profiles().items():
        profile = read_profile(path)
        try:
            state = str(program_of(profile, path))
        except ProgramMissingError:
            state = f"not built; build it with: assay profile build {name}"
        typer.echo(f"{name:<20} {profile.implementation.url}\n{'':<20} {state}")


@app.command("check")
def check(
    name: Name,
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Tell what it lacks and where it differs, too.")
    ] = False,
) -> None:
    """Read a profile strictly, and report all errors in it: file, line, field and correction.

    Exit code 2: there are errors. `assay profile schema` prints the schema of profiles.

    \b
    assay profile check my-operator.yaml
    assay profile check $SUITE-v1.1.2 --verbose     each known difference, with its link
    """
    from conformance.cli.profile_told import deviations, summary
    from conformance.profiles.program import missing_files
    from conformance.profiles.reading import read_profile

    path = _file(name)
    profile = read_profile(path, also=missing_files)
    for line in summary(profile, path, name):
        typer.echo(line)
    if verbose:
        for line in deviations(profile):
            typer.echo(line)


@app.command("build")
def build(
    name: Name,
    *,
    virtual_time: Annotated[
        bool,
        typer.Option(
            "--virtual-time",
            help="Build it for the simulated cluster, whose time is not that of the machine.",
        ),
    ] = False,
) -> None:
    """Build the program of a profile from its Go module into the cache; once.

    With --virtual-time, the source is compiled against a changed Go runtime, which takes the time
    from the simulated cluster.

    \b
    assay profile build $SUITE-v1.1.2
    assay profile build $SUITE-v1.1.2 --virtual-time    for the simulated cluster
    """
    from conformance.cli.building import showing_build
    from conformance.profiles.program import build as build_program
    from conformance.profiles.reading import read_profile

    path = _file(name)
    with showing_build() as show:
        program = build_program(read_profile(path), path, show, in_virtual_time=virtual_time)
    typer.echo(f"program: {program}")


@app.command("findings")
def findings(
    name: Name,
    report: Annotated[
        Path,
        typer.Argument(help="A report.yaml, or the folder that has it.", callback=only(REPORT)),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the page goes; default: here.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            help="A report of another cluster, whose verdicts are told beside; repeatable.",
            callback=only(REPORT),
        ),
    ] = None,
    literal: Annotated[
        Path | None,
        typer.Option(
            help="A report of the same cluster, judged by another edition: what it alone shows "
            "follows.",
            callback=only(REPORT),
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="All evidence instead, claim by claim.")
    ] = False,
    issue: Annotated[
        str | None,
        typer.Option(metavar="CAUSE", help="One cause instead, as a text for an issue tracker."),
    ] = None,
) -> None:
    """Write the causes of what a report contradicts of a released program, as Markdown.

    Exit code 1: a report has violations of which the profile's knownDifferences do not say who
    is at fault, in some scenario. Exit code 2: one is of another implementation, or version, or
    was judged by another edition than the first.

    \b
    assay profile findings $SUITE-v1.1.2 .assay --out docs/findings/$SUITE-v1.1.2.md
    assay profile findings $SUITE-v1.1.2 .assay --beside .assay/control-plane
    assay profile findings $SUITE-v1.1.2 .assay --issue retry-pause-begins-too-early
    """
    from conformance.cli.exit_code import ExitCode
    from conformance.cli.problems import BadInputError
    from conformance.profiles.details import details_page, slack_of_histories
    from conformance.profiles.differences import (
        another_implementation,
        judged_by,
        spelled,
        unexplained,
    )
    from conformance.profiles.findings import findings_page
    from conformance.profiles.reading import read_profile
    from conformance.report.yaml_text import read_report_at, report_path

    profile = read_profile(_file(name))
    told, *others = [read_report_at(path) for path in (report, *(beside or ()))]
    by_letter = None if literal is None else read_report_at(literal)
    edition = judged_by(told, profile)
    editions = {edition, edition if by_letter is None else judged_by(by_letter, profile)}
    for path, each in zip((report, *(beside or ())), (told, *others), strict=True):
        if (other := another_implementation(each, profile)) is not None:
            advice = "name the profile of that"
            if each is not told:
                advice = f"--beside takes reports of {spelled(profile.implementation)}"
            raise BadInputError(f"{path}: is a report of {other}; {advice}")
        if each is not told and each.environment.cluster == told.environment.cluster:
            raise BadInputError(
                f"{path}: is a report of the same cluster, {told.environment.cluster}; --beside "
                "takes reports of other ones"
            )
        if (other := judged_by(each, profile)) not in editions:
            raise BadInputError(
                f"{path}: was judged by the edition {other}, and {report} by {edition}; --beside "
                f"takes reports that were judged by {edition}"
            )
    if by_letter is not None and (other := another_implementation(by_letter, profile)) is not None:
        raise BadInputError(f"{literal}: is a report of {other}; --literal takes one of {name}")
    folder = report_path(report).parent
    if issue is not None:
        page = _issue(issue, told, profile, others, folder)
    elif details:
        page = details_page(told, profile, slack_of_histories(told, folder), others)
    else:
        page = findings_page(told, profile, others, by_letter)
    _give(page, out)
    if missing := unexplained(told, profile, others):
        typer.echo(f"not explained by the profile: {', '.join(missing)}", err=True)
        raise typer.Exit(ExitCode.VIOLATED)


def _issue(
    cause: str,
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: list[ConformanceReport],
    folder: Path,
) -> str:
    from conformance.cli.problems import BadInputError
    from conformance.profiles.findings import findings, issue_text
    from vocabulary.nearest import meant

    found = {each.id: each for each in findings(report, profile, beside)}
    if cause not in found:
        raise BadInputError(
            f"{cause!r} is no cause that the report shows; {meant(cause, found)} Without --issue "
            "all are listed"
        )
    return issue_text(found[cause], report, folder)


@app.command("track-record")
def track_record(
    reports: Annotated[
        list[Path],
        typer.Argument(
            metavar="REPORT...",
            help="Reports of released programs, or the folders that have them.",
            callback=only(REPORT),
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the page goes; default: here.")
    ] = None,
) -> None:
    """Write all bugs of released programs that reports show as one table, as Markdown.

    A bug is a known difference whose fault is the implementation's. Exit code 2: no shipped profile
    is of a report's implementation.

    \b
    assay profile track-record .assay reports/*/* --out bugs.md
    """
    from conformance.cli.problems import BadInputError
    from conformance.profiles.differences import another_implementation
    from conformance.profiles.reading import read_profile
    from conformance.profiles.track_record import bugs_shown, track_record_page
    from conformance.report.yaml_text import read_report_at
    from conformance.suite import shipped_profiles

    profiles = [read_profile(path) for path in shipped_profiles().values()]
    found = []
    for path in reports:
        report = read_report_at(path)
        of_it = [each for each in profiles if another_implementation(report, each) is None]
        if not of_it:
            about = report.implementation
            raise BadInputError(
                f"{path}: is a report of {about.organization}/{about.project} {about.version}, of "
                "which no profile is shipped; list them: assay profile list"
            )
        found.append((report, of_it[0]))
    page = track_record_page(bugs_shown(found))
    _give(page, out)


@app.command("schema")
def schema() -> None:
    """Print the JSON schema of a profile, for editors."""
    from conformance.profiles.schema import schema_text

    typer.echo(schema_text(), nl=False)


def _file(name: str) -> Path:
    from conformance.cli.problems import BadInputError
    from conformance.profiles.reading import find
    from conformance.suite import shipped_profiles
    from vocabulary.nearest import meant

    found = find(name)
    if found is None:
        raise BadInputError(
            f"{name!r} is neither a shipped profile nor a .yaml file; "
            f"{meant(name, shipped_profiles())} List them: assay profile list"
        )
    return found


def _give(page: str, out: Path | None) -> None:
    """Write a page to its file, or print it where there is none."""
    from conformance.report.replacing import write_whole

    if out is None:
        typer.echo(page, nl=False)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, page)
    typer.echo(f"written: {out}")
