"""A folder to hand in: reports as they were made, their histories, and a README about them.

The layout is that of the Gateway API's conformance reports, with a folder for each report, since
ours come with the histories that make them verifiable:

```
reports/<organization>-<project>/
  README.md                            table of contents, and how to reproduce each report
  <version>-<cluster>/report.yaml      byte for byte as the run wrote it
  <version>-<cluster>/histories/       what `assay verify` judges again
```

What stands above "Table of contents" in a README that exists is its owner's, and is kept.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from conformance.report.build import slug
from conformance.report.conformance_report import ConformanceReport, ReportError
from conformance.report.counted import counted
from conformance.report.folder import (
    HISTORIES_NAME,
    RUNS_NAME,
    require_writable,
    untouched_exports,
)
from conformance.report.replacing import LEFT_OVER, replacing, write_whole
from conformance.report.text import counts_line
from conformance.report.untrusted import printable
from conformance.report.yaml_text import REPORT_NAME, read_report, read_report_at, report_path
from vocabulary.regular_files import path_below
from vocabulary.safe_yaml import YamlError

README_NAME: Final = "README.md"
MAX_DEPTH: Final = 4
"""How far below the folder that is named reports are looked for: from the one in which a project's
`reports/` stands it takes three."""
_CONTENTS: Final = "## Table of contents"


class Submission(NamedTuple):
    """The written files, and requirements of reviewers."""

    folder: Path
    """That of this report."""
    readme: Path
    wanting: tuple[str, ...]
    """Data that the rules of such submissions require and the report lacks, as sentences."""


def write_submission(report_at: Path, out: Path, *, replace: bool = False) -> Submission:
    """Copy a report and its histories below `out`, and update its README.

    Raises ReportError if another report of the same version and cluster, or histories of another,
    are already there, unless they are to be replaced; and if a history that the report refers to is
    missing, since the report could not be verified.
    """
    report = read_report_at(report_at)
    source = report_path(report_at)
    histories = sorted(_histories(report))
    for name in histories:
        if not _is_below(source.parent, name):
            raise ReportError(
                f"{source}: its history {name} is not in its folder; hand in the folder of the "
                "run, as a whole"
            )
    implementation = report.implementation
    owner = slug(f"{implementation.organization}-{implementation.project}")
    version = slug(f"{implementation.version}-{report.environment.cluster}")
    if not owner or not version:
        raise ReportError(f"{source}: implementation: organization, project and version are empty")
    folder = out / owner / version
    require_writable(folder)
    if os.path.realpath(source) != os.path.realpath(folder / REPORT_NAME):
        files = {name: source.parent / name for name in histories} | {REPORT_NAME: source}
        if _is_below(source.parent, RUNS_NAME):
            files[RUNS_NAME] = source.parent / RUNS_NAME
        in_the_way = next(_in_the_way(files, report_path(folder).parent), None)
        if in_the_way and not replace:
            raise ReportError(_would_replace(in_the_way, report))
        _copy(files, folder)
    readme = folder.parent / README_NAME
    write_whole(readme, _readme(readme))  # part of it is its owner's
    return Submission(folder, readme, tuple(_wanting(report)))


def reports_below(folder: Path) -> list[Path]:
    """The directories of all reports of a submission, or of several; none if it is one itself.

    Raises ReportError if there is none down to `MAX_DEPTH`, so that naming a whole disk does not
    take long.
    """
    if not folder.is_dir() or report_path(folder).exists():
        return []
    found = sorted(_reports_in(folder))
    if not found:
        raise ReportError(
            f"{folder}: neither it nor any folder down to {MAX_DEPTH} levels below it has a "
            f"{REPORT_NAME}; name the folder of a run, or one nearer to it"
        )
    return found


def _reports_in(folder: Path) -> Iterator[Path]:
    top = len(folder.parts)
    for path, folders, _ in os.walk(folder):
        folders[:] = sorted(set(folders) - LEFT_OVER)
        has_report = report_path(Path(path)).is_file()
        if has_report:
            yield Path(path)
        if has_report or len(Path(path).parts) - top == MAX_DEPTH:
            folders.clear()


def _histories(report: ConformanceReport) -> set[str]:
    named = {test.history for claim in report.claims for test in claim.tests}
    named |= {claim.shrunk.history for claim in report.claims if claim.shrunk is not None}
    return named - {""}


def _is_below(folder: Path, name: str) -> bool:
    """True if a file of that name is there, and no symbolic link leads elsewhere."""
    try:
        return path_below(folder, name).is_file()
    except OSError:
        return False


def _in_the_way(files: Mapping[str, Path], folder: Path) -> Iterator[Path]:
    """Files in the directory that would be lost, or belong to another report; its report first."""
    standing = folder / REPORT_NAME
    if standing.exists() and not filecmp.cmp(standing, files[REPORT_NAME], shallow=False):
        yield standing
        yield from untouched_exports(folder)
    runs = folder / RUNS_NAME
    if runs.exists() and (
        RUNS_NAME not in files or not filecmp.cmp(runs, files[RUNS_NAME], shallow=False)
    ):
        yield runs
    histories = folder / HISTORIES_NAME
    if histories.is_symlink():
        # Where it leads may be the only histories that there are, be it the source's.
        yield histories
        return
    for path in sorted(histories.glob("*.jsonl.gz")):
        same = files.get(f"{HISTORIES_NAME}/{path.name}")
        if same is None or not filecmp.cmp(path, same, shallow=False):
            yield path


def _copy(files: Mapping[str, Path], folder: Path) -> None:
    """A full disk or a killed process loses nothing, nor does a source that stands in this very
    folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder, lambda: _in_the_way(files, folder)) as made:
        for name, path in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, made / name)


def _would_replace(standing: Path, report: ConformanceReport) -> str:
    if standing.name != REPORT_NAME:
        return (
            f"{standing}: is no part of the report that is handed in: {_told(report)}. Give "
            "--replace to remove it, or name another folder with --out"
        )
    try:
        there = _told(read_report(standing))
    except YamlError:
        there = "one that this Assay cannot read"
    return (
        f"{standing}: another report was handed in there: {there}; this one is {_told(report)}. "
        "Give --replace to put it in the place of that one, or name another folder with --out"
    )


def _told(report: ConformanceReport) -> str:
    """`jobset v0.12.0 of 2026-05-04T12:00:00Z, 95 claims: 95 passed; 180 scenarios`."""
    implementation = report.implementation
    scenarios = {test.scenario for claim in report.claims for test in claim.tests}
    named = printable(f"{implementation.project} {implementation.version} of {report.date}")
    return f"{named}, {counts_line(report)}; {counted(len(scenarios), 'scenario')}"


def _wanting(report: ConformanceReport) -> Iterator[str]:
    implementation = report.implementation
    if not implementation.url:
        yield "implementation.url is empty: name the project's page or repository."
    if not implementation.contact:
        yield "implementation.contact is empty: name who answers for this report."
    if not report.suite.git_commit:
        yield "suite.gitCommit is empty: the suite did not run from a checkout."
    if report.suite.git_commit.endswith("-dirty"):
        yield "suite.gitCommit: the suite that ran had been changed since that commit."
    again = report.suite.judged_again
    if again is not None and (not again.git_commit or again.git_commit.endswith("-dirty")):
        yield "suite.judgedAgain.gitCommit: the suite that judged is no commit that others have."
    if report.result != "success":
        yield f"The result is {report.result}: {counts_line(report)}."
    rows = [test for claim in report.claims for test in claim.tests]
    without = sum(not test.history for test in rows)
    if without:
        yield f"{without} of {len(rows)} rows have no stored history; nobody can verify them."


def _readme(path: Path) -> str:
    reports = {
        found.parent.name: read_report(found) for found in path.parent.glob(f"*/{REPORT_NAME}")
    }
    first = next(iter(reports.values()))
    above = f"# {_cell(first.implementation.project)}\n\n{_about(first)}\n\n"
    if path.is_file():
        try:
            owned, found, _ = path.read_text(encoding="utf-8").partition(_CONTENTS)
        except UnicodeDecodeError as error:
            raise ReportError(f"{path}: is not UTF-8: {error.reason}; save it as UTF-8") from error
        above = owned if found else f"{owned.rstrip()}\n\n"
    rows = [
        f"| {_cell(_release(report))} | {_cell(report.suite.version)} "
        f"| {_cell(report.environment.cluster)} | {report.result} "
        f"| [link](./{name}/{REPORT_NAME}) |"
        for name, report in sorted(reports.items())
    ]
    return above + "\n".join(
        [
            _CONTENTS,
            "",
            "| Implementation version | Suite version | Cluster | Result | Report |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "## Reproduce",
            "",
            "`assay verify .` in this folder judges the stored histories again, without a cluster.",
            "To run the suite anew:",
            "",
            *(
                line
                for name, report in sorted(reports.items())
                for line in (f"### {name}", "", f"    {printable(report.reproduce.command)}", "")
            ),
        ]
    )


def _about(report: ConformanceReport) -> str:
    implementation = report.implementation
    contact = ", ".join(map(_cell, implementation.contact)) or "nobody is named"
    url = _cell(implementation.url) or "no page is named"
    return f"By {_cell(implementation.organization)}: {url}. Contact: {contact}."


def _release(report: ConformanceReport) -> str:
    return report.implementation.version


def _cell(text: str) -> str:
    """Text of a stranger in Markdown: on one line, and nothing of it is a table, HTML or a link."""
    shown = printable(text, 300)
    for character in "\\`|<>[]*_":
        shown = shown.replace(character, f"\\{character}")
    return shown
