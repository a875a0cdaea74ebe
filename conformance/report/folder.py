"""The output folder of a run: what stands where, and writing all of it.

```
report.yaml              the conformance report
index.html               the same for people
aw-015.html, aw-015.yaml page and plan of a failure, named after the first claim that it breaks
further/                 the same of further scenarios: aw-015-2.html, aw-015-2.yaml
junit.xml                one test case per claim and scenario
runs.tsv.gz              of a campaign: name, seed and digest of each run
campaign.sqlite3         of a shard: each run, for `assay report merge`
allure-results/          for `allure generate`, if asked for
sonobuoy_results.yaml, ai-conformance.yaml      if `assay report` was asked for them
histories/               gzip JSON lines, digests in the report
.report-…/               left by a run that was killed while it wrote these: see `replacing`
unfinished/              the same of runs that are still going on, or that were killed; the
                         journal of a campaign that was stopped
cluster/                 not the report's: of a control plane that stays up, if there is one
```
"""

from __future__ import annotations

import gzip
import heapq
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from chaos.plan import Plan, plan_from_data
from conformance.norm.claim import CLAIMS, Claim
from conformance.norm.verdict import Verdict
from conformance.report import ai_conformance, sonobuoy
from conformance.report.again import replay_command
from conformance.report.allure import write_allure_results
from conformance.report.build import history_path, shrunk_history_path
from conformance.report.conformance_report import (
    ConformanceReport,
    ReportError,
    Suite,
)
from conformance.report.export import is_untouched_export
from conformance.report.failures import (
    FURTHER_NAME,
    Contradiction,
    failed_verdicts,
    failure_files,
    stem_of,
    violated_in,
)
from conformance.report.junit import junit_xml
from conformance.report.pages.failure_page import failure_page
from conformance.report.pages.index_page import index_page
from conformance.report.recorded import recorded
from conformance.report.replacing import LEFT_OVER, replacing
from conformance.report.run_result import RunResult, SuiteResult, test_name
from conformance.report.tables import tables_of
from conformance.report.uneventful import ListedRun
from conformance.report.yaml_text import FIRST_LINE, REPORT_NAME, report_path, write_report
from vocabulary.history import history_digest, write_history

ALLURE_NAME: Final = "allure-results"
HISTORIES_NAME: Final = "histories"
UNFINISHED_NAME: Final = "unfinished"
CLUSTER_NAME: Final = "cluster"
"""Where a control plane that stays up keeps its files, beside the report of what runs on it."""
_BEFORE_THE_REPORT: Final = frozenset((HISTORIES_NAME, UNFINISHED_NAME, CLUSTER_NAME))
RENDERINGS: Final = ("index.html", "junit.xml")
RUNS_NAME: Final = "runs.tsv.gz"
"""Name, seed and digest of each run of a campaign, most of which leave no history."""
JOURNAL_NAME: Final = "campaign.sqlite3"
"""Each run of a shard, for the report of all shards; below `unfinished` of a campaign that was
stopped, which goes on from there."""
_EXPORTS: Final = (sonobuoy.FILE_NAME, ai_conformance.FILE_NAME)
"""The files that `assay report` writes beside a report on request."""
_OUR_FOLDERS: Final = {
    ALLURE_NAME: "*-*",
    HISTORIES_NAME: "*.jsonl.gz",
    FURTHER_NAME: "*-[0-9]*.[hy]*ml",
}


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a run that contradicts claims: what is shown of it, its page and its plan."""

    entry: Contradiction
    run: RunResult
    """The run that is shown: the one that was found, or what it was shrunk to."""
    verdicts: tuple[Verdict, ...]
    """Of the claims that it violates."""
    page: Path | None
    """None where there are more failures than pages are made of; the plan still replays it."""
    plan: Path


class SuiteFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything was put."""

    report: Path
    index: Path
    junit: Path
    failures: tuple[Failure, ...]
    not_of_this: tuple[Path, ...]
    """Files that have an export's name and are not Assay's, or are not any more."""


def check_folder(folder: Path) -> None:
    """ReportError if a report must not go there: it must be new, empty, or hold an earlier one.
    OSError if it cannot.

    One that was not finished, since its run was killed, counts as an earlier one: such a run
    leaves histories, whole or not, and nothing else. The cluster may have been there first.
    """
    if not folder.exists():
        require_writable(folder)
        return
    if not folder.is_dir():
        raise ReportError(f"{folder}: is a file; name a folder for the report with --out")
    others = [path for path in folder.iterdir() if path.name not in _BEFORE_THE_REPORT | LEFT_OVER]
    if others and not _is_ours(report_path(folder)):
        raise ReportError(
            f"{folder}: holds files but no {REPORT_NAME} of Assay's; "
            "name a new or an empty folder with --out"
        )
    require_writable(folder)


def require_writable(folder: Path) -> None:
    """Raise OSError if the directory is not writable: before a long run, not after it.

    Permissions alone do not show that; so a directory is created and removed at the end of the
    path.
    """
    standing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with TemporaryDirectory(dir=standing):
            pass
    except OSError as error:
        what = f"nothing can be written there: {error.strerror}"
        raise OSError(error.errno, what, str(folder)) from error


def _is_ours(report: Path) -> bool:
    """True if a run wrote it; its first line says so, all of it may be large."""
    if not report.is_file():
        return False
    with report.open("rb") as file:
        return file.readline(100).rstrip() == FIRST_LINE


def write_folder(
    folder: Path,
    suite: SuiteResult,
    report: ConformanceReport,
    claims: Mapping[str, Claim],
    *,
    allure: bool = False,
    beside: Path | None = None,
) -> SuiteFiles:
    """Write the report and its renderings; an earlier report in the folder is replaced.

    `beside` is a journal that goes with the report, of a shard.

    Allure's results are thousands of small files, so they are written only where asked for.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failures = tuple(_name_failures(folder, suite, report, claims))
    with replacing(folder, lambda: files_of_reports(folder, {*claims, *CLAIMS})) as made:
        _write_histories(made, suite, report)
        if _is_campaign(suite) and suite.count == report.coverage.plans:
            _write_runs(made, suite, report)
        _write_failures(made, folder, failures, report, claims)
        pages = {
            (claim, failure.entry.name, failure.entry.seed): failure.page.relative_to(
                folder
            ).as_posix()
            for failure in failures
            if failure.page is not None
            for claim in failure.entry.claims
        }
        index = index_page(report, claims, pages, list(tables_of(suite.runs)))
        (made / "index.html").write_text(index, encoding="utf-8")
        (made / "junit.xml").write_text(junit_xml(report), encoding="utf-8")
        if allure:
            write_allure_results(made / ALLURE_NAME, report, made, pages)
        if beside is not None:
            shutil.copyfile(beside, made / JOURNAL_NAME)
        (made / REPORT_NAME).write_text(write_report(report), encoding="utf-8")
    _remove_unfinished(folder)
    return SuiteFiles(
        report=folder / REPORT_NAME,
        index=folder / "index.html",
        junit=folder / "junit.xml",
        failures=failures,
        not_of_this=tuple(folder / name for name in _EXPORTS if (folder / name).exists()),
    )


def _is_campaign(suite: SuiteResult) -> bool:
    return suite.uneventful is not None or any(run.variant for run in suite.runs)


def _write_failures(
    made: Path,
    folder: Path,
    failures: Iterable[Failure],
    report: ConformanceReport,
    claims: Mapping[str, Claim],
) -> None:
    """Write plans and pages into the directory that becomes the folder's report."""
    for failure in failures:
        plan = made / failure.plan.relative_to(folder)
        plan.parent.mkdir(exist_ok=True)
        plan.write_text(_plan_of(failure, report.suite).to_yaml(), encoding="utf-8")
        if failure.page is not None:
            page = failure_page(
                [(claims[verdict.claim], verdict) for verdict in failure.verdicts],
                failure.run,
                command=replay_command(failure.run, failure.plan),
                index_href="index.html" if failure.page.parent == folder else "../index.html",
            )
            (made / failure.page.relative_to(folder)).write_text(page, encoding="utf-8")


def _plan_of(failure: Failure, suite: Suite) -> Plan:
    """The failure's plan; it names the implementation, so that it replays the same failure, and the
    history, so that a replay can be compared with it."""
    run = failure.run
    plan = plan_from_data(msgspec.to_builtins(run.plan))
    plan = replace(plan, recorded=recorded(run, suite, failure.verdicts))
    if not plan.implementation and run.header.implementation != "reference":
        plan = replace(plan, implementation=run.header.implementation)
    return plan


def files_of_reports(folder: Path, claims: Iterable[str]) -> Iterator[Path]:
    """The files that runs wrote here, or that were made of it; not all of them need be there.

    The names of pages and plans are asked of the claims: others may have files of such a shape.
    """
    pages = (f"{stem_of(claim)}.{suffix}" for claim in claims for suffix in ("html", "yaml"))
    for name in (REPORT_NAME, *RENDERINGS, RUNS_NAME, JOURNAL_NAME, *pages):
        yield folder / name
    yield from untouched_exports(folder)
    for name, pattern in _OUR_FOLDERS.items():
        yield from (folder / name).glob(pattern)


def untouched_exports(folder: Path) -> tuple[Path, ...]:
    """Exports of the directory's report that have not been edited since."""
    return tuple(folder / name for name in _EXPORTS if is_untouched_export(folder / name))


def _remove_unfinished(folder: Path) -> None:
    """Remove what the histories have taken over; last, or one killed here would leave none."""
    unfinished = folder / UNFINISHED_NAME
    for path in unfinished.glob("*.jsonl*"):
        path.unlink()
    if unfinished.is_dir() and not any(unfinished.iterdir()):
        unfinished.rmdir()


def _name_failures(
    folder: Path, suite: SuiteResult, report: ConformanceReport, claims: Mapping[str, Claim]
) -> Iterator[Failure]:
    """The failures in order, each with its files' names."""
    runs = {(test_name(run), run.seed): run for run in suite.runs}
    for entry, stem, has_page in failure_files(violated_in(report, claims)):
        run = suite.shrunk[entry.shrunk] if entry.shrunk else runs[entry.name, entry.seed]
        yield Failure(
            entry=entry,
            run=run,
            verdicts=failed_verdicts(entry, run),
            page=folder / f"{stem}.html" if has_page and run.entries else None,
            plan=folder / f"{stem}.yaml",
        )


def _write_histories(folder: Path, suite: SuiteResult, report: ConformanceReport) -> None:
    """Store the histories that the report refers to; of a campaign's others it has the count.

    A run that broke off may have armed no claim, and so be in no row: its history says why.
    """
    (folder / HISTORIES_NAME).mkdir(exist_ok=True)
    wanted = {test.history for claim in report.claims for test in claim.tests if test.history}
    wanted |= {history_path(run) for run in suite.runs if run.error and run.entries}
    for run in suite.runs:
        path = history_path(run)
        if path in wanted:
            _store(run, folder / path)
            wanted.remove(path)
    for claim, run in suite.shrunk.items():
        _store(run, folder / shrunk_history_path(claim, suite.shrunk))


def _write_runs(folder: Path, suite: SuiteResult, report: ConformanceReport) -> None:
    digests = {
        (test.name, test.seed): test.history_sha256
        for claim in report.claims
        for test in claim.tests
    }

    def digest_of(run: RunResult) -> str:
        known = run.history_sha256 or digests.get((test_name(run), run.seed), "")
        return known or (history_digest(run.header, run.entries) if run.entries else "")

    kept = sorted(ListedRun(test_name(run), run.seed, digest_of(run)) for run in suite.runs)
    others = suite.uneventful.listed() if suite.uneventful else ()
    with (
        (folder / RUNS_NAME).open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
    ):
        for each in heapq.merge(kept, others):
            packed.write(runs_line(*each))


def runs_line(name: str, seed: int, digest: str) -> bytes:
    """A run's line in the list of a campaign's runs."""
    return f"{name}\t{seed}\t{digest}\n".encode()


def _store(run: RunResult, path: Path) -> None:
    if run.stored:
        # The report names it by the digest of these bytes.
        path.write_bytes(Path(run.stored).read_bytes())
    else:
        write_history(path, run.header, run.entries)
