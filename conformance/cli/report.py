"""`assay report`: a stored report in other formats, each from its data alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import REPORT, only

app = typer.Typer(
    help="A stored report as HTML, JUnit, Sonobuoy or AI-conformance results, judged again, "
    "or to hand in.",
    no_args_is_help=True,
)

_Report = Annotated[
    Path, typer.Argument(help="A report's folder, or its report.yaml.", callback=only(REPORT))
]
_OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: beside the report.")
]


@app.command("html")
def html(
    report: _Report,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Default: the report's own folder."),
    ] = None,
) -> None:
    """Write index.html and the pages of violations; violating histories are judged again."""
    from conformance.cli.judging import WatchedJudge, all_claims
    from conformance.report.html import write_html
    from conformance.report.yaml_text import report_path

    judge = WatchedJudge()
    index = write_html(report, out or report_path(report).parent, all_claims(), judge)
    typer.echo(f"written: {index}")
    judge.require_no_errors()


@app.command("junit")
def junit(report: _Report, *, out: _OutFile = None) -> None:
    """Write JUnit XML: a suite per profile, a case per claim and scenario."""
    from conformance.report.junit import junit_xml
    from conformance.report.replacing import write_whole
    from conformance.report.yaml_text import read_report_at

    path = _beside(report, out, "junit.xml")
    write_whole(path, junit_xml(read_report_at(report)))
    typer.echo(f"written: {path}")


@app.command("sonobuoy")
def sonobuoy(report: _Report, *, out: _OutFile = None) -> None:
    """Write sonobuoy_results.yaml, as a Sonobuoy plugin with result-format manual leaves it."""
    from conformance.report.export import write_export
    from conformance.report.sonobuoy import FILE_NAME, sonobuoy_yaml
    from conformance.report.yaml_text import read_report_at

    path = _beside(report, out, FILE_NAME)
    write_export(path, sonobuoy_yaml(read_report_at(report)))
    typer.echo(f"written: {path}")


@app.command("ai-conformance")
def ai_conformance(report: _Report, *, out: _OutFile = None) -> None:
    """Write what a run says of the Kubernetes AI conformance checklist.

    Of its two items that a controller's behaviour can speak for, one is filled from the run;
    what a run does not show stays unanswered, with the reason in its notes.
    """
    from conformance.report.ai_conformance import FILE_NAME, ai_conformance_yaml
    from conformance.report.export import write_export
    from conformance.report.html import INDEX_NAME
    from conformance.report.yaml_text import REPORT_NAME, read_report_at, report_path

    folder = report_path(report).parent
    evidence = [name for name in (REPORT_NAME, INDEX_NAME) if (folder / name).exists()]
    path = _beside(report, out, FILE_NAME)
    write_export(path, ai_conformance_yaml(read_report_at(report), evidence))
    typer.echo(f"written: {path}")


@app.command("rejudge")
def rejudge(
    report: _Report,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Where the new report goes, in a folder."),
    ],
) -> None:
    """Judge the stored histories by the claims of today, and make the report anew.

    \b
    assay report rejudge .assay --out judged-again
    assay report submission judged-again

    For a checker that was mended after a long run. The new report names both commits: that of
    the Assay that ran, and that of the one that judged. What changed is printed. A campaign's
    report is refused, since the histories of its uneventful runs were not kept.

    Exit codes are those of assay run.
    """

    from conformance.cli.changes import echo_changes
    from conformance.cli.ending import echo_files, now
    from conformance.cli.judging import claims_of, judge
    from conformance.cli.problems import BadInputError
    from conformance.report.comparison import compare_reports
    from conformance.report.comparison_text import headline
    from conformance.report.conformance_report import JudgedAgain
    from conformance.report.counted import counted
    from conformance.report.folder import check_folder, write_folder
    from conformance.report.rejudge import rejudged
    from conformance.report.suite_version import git_commit, version
    from conformance.report.text import checker_error_lines, counts_line
    from conformance.report.untrusted import printable
    from conformance.report.yaml_text import report_path

    if os.path.realpath(out) == os.path.realpath(report_path(report).parent):
        raise BadInputError(f"--out {out}: holds the report itself; name another folder")
    check_folder(out)
    by = JudgedAgain(version=version(), git_commit=git_commit(), date=now())
    found = rejudged(report, claims_of, judge, by)
    files = write_folder(out, found.suite, found.report, claims_of(found.suite.runs))
    changes = compare_reports(found.before, found.report)
    echo_changes(changes)
    for note in found.notes:
        typer.echo(f"note: {printable(note)}")
    typer.echo(f"ran: Assay {found.report.suite.version} {printable(found.report.suite.commits)}")
    typer.echo(f"judged again: {headline(changes)}")
    histories = counted(len(found.suite.runs), "history", "histories")
    typer.echo(f"{counts_line(found.report)}; {histories}")
    for line in checker_error_lines(found.report):
        typer.echo(line)
    echo_files(files)
    raise typer.Exit(ExitCode.of_report(found.report))


@app.command("merge")
def merge(
    shards: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="The folders of all shards of a campaign.")
    ],
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Where the one report goes, in a folder."),
    ],
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes for shrinking; 0: one per core.", min=0)
    ] = 0,
    no_shrink: Annotated[
        bool, typer.Option("--no-shrink", help="Show failures as they were found.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress; failures and where the report is.")
    ] = False,
) -> None:
    """Make one report of those of all shards, which is that of one run of the whole campaign.

    \b
    assay run $SUITE --random-plans 100 --shard 1/2 --out one
    assay run $SUITE --random-plans 100 --shard 2/2 --out two
    assay report merge one two --out whole
    assay verify whole

    No run is made again, except to shrink failures. All shards must be of one command and of this
    version of Assay. Exit codes are those of assay run.
    """
    import shlex

    from conformance.cli.app import app as assay
    from conformance.cli.journals import this_assay
    from conformance.cli.problems import BadInputError
    from conformance.running.journal import MergedShards

    if os.path.realpath(out) in map(os.path.realpath, shards):
        raise BadInputError(f"--out {out}: holds a shard's report; name another folder")
    words = shlex.split(MergedShards(shards, this_assay()).command)[1:]
    words += ["--out", str(out), "--jobs", str(jobs)]
    words += ["--no-shrink"] * no_shrink + ["--quiet"] * quiet
    for shard in shards:
        words += ["--merged", str(shard)]
    raise typer.Exit(assay(words, prog_name="assay", standalone_mode=False) or 0)


@app.command("submission")
def submission(
    report: _Report,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where reports are handed in.")
    ] = Path("handed-in"),
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="In the place of another report of the same version and cluster."
        ),
    ] = False,
) -> None:
    """Make a folder to hand in: the report, its histories, and a README as Gateway API's have.

    \b
    assay report submission .assay
    assay verify handed-in/example-$SUITE

    The report is verified first; one that does not hold is not handed in (exit code 1), nor is one
    that a checker fails on (exit code 3). Where
    another report of the same version and cluster stands, it stays (exit code 2), unless
    --replace says otherwise.
    """
    from conformance.cli.judging import WatchedJudge, all_claims, maker_of
    from conformance.report.submission import write_submission
    from conformance.report.untrusted import printable
    from conformance.report.verify import verify_report

    judge = WatchedJudge()
    found = verify_report(report, all_claims(), judge, maker_of)
    if found.findings:
        typer.echo(f"{len(found.findings)} differences; assay verify {report} names them")
        raise typer.Exit(ExitCode.VIOLATED)
    judge.require_no_errors()
    written = write_submission(report, out, replace=replace)
    for text in written.wanting:
        typer.echo(f"note: {printable(text)}")
    typer.echo(f"written: {written.folder}")
    typer.echo(f"readme: {written.readme}")


def _beside(report: Path, out: Path | None, name: str) -> Path:
    from conformance.report.yaml_text import report_path

    return out or report_path(report).parent / name
