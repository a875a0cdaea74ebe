"""The front page of a report agrees with the claims' own pages."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.report.build import build_report
from conformance.report.folder import write_folder
from conformance.report.pages.index_page import index_page
from conformance.report.run_result import RunResult, SuiteResult
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, passing_run, sample_suite

SHORTER = "t=1.2s rv25: it was released too early, and this is all that it takes."


def shrunk_run() -> RunResult:
    """The failing run as shrinking left it: another history, so other times."""
    run = failing_run(2)
    failed, *others = run.verdicts
    violation = msgspec.structs.replace(failed.violations[0], because=SHORTER)
    shown = msgspec.structs.replace(failed, because=SHORTER, violations=(violation,))
    return msgspec.structs.replace(run, verdicts=(shown, *others))


def index_of(suite: SuiteResult, folder: Path) -> str:
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    return write_folder(folder, suite, report, CLAIMS).index.read_text(encoding="utf-8")


def test_a_violation_that_was_shrunk_is_told_as_its_page_tells_it_and_then_as_it_was_found(
    tmp_path: Path,
) -> None:
    suite = msgspec.structs.replace(sample_suite(), shrunk={"AW-015": shrunk_run()})
    index = index_of(suite, tmp_path)
    (line,) = (line for line in index.splitlines() if "<strong>AW-015</strong>" in line)
    assert SHORTER in line
    found = failing_run().verdicts[0].violations[0].because
    assert f"As found: {found}" in index
    assert SHORTER in (tmp_path / "aw-015.html").read_text(encoding="utf-8")


def test_one_of_a_kind_is_told_in_the_singular(tmp_path: Path) -> None:
    assert "1 history, 1 plan," in index_of(sample_suite(failing_run()), tmp_path)
    assert "2 histories, 2 plans," in index_of(
        sample_suite(failing_run(), passing_run()), tmp_path / "two"
    )


def test_the_claims_that_a_partial_run_left_out_are_counted_as_not_run(tmp_path: Path) -> None:
    suite = msgspec.structs.replace(sample_suite(passing_run()), claims=("AW-063",))
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    left_out = sum(tier.statistics.skipped for each in report.profiles for tier in each.tiers)
    assert left_out > 0
    assert f"<b>{left_out}</b><span>skipped</span>" in index_of(suite, tmp_path)


def test_crash_points_that_nobody_asked_for_are_no_result(tmp_path: Path) -> None:
    assert "crash points 12/12" in index_of(sample_suite(), tmp_path)
    without = msgspec.structs.replace(sample_suite(), crash_points=(0, 0))
    index = index_of(without, tmp_path / "without")
    assert "no crash points were asked for" in index and "0/0" not in index


def test_the_tables_of_suites_stand_below_the_claims() -> None:
    report = build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")
    page = index_page(report, CLAIMS, {}, [("toy", "a row\n<b>another</b>")])
    assert "<pre>a row\n&lt;b&gt;another&lt;/b&gt;</pre>" in page


def test_editions_share_a_tile_and_outcomes_have_the_terminals_words() -> None:
    report = build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")
    editions = {"jobset": "kep", "quota": "strict"}
    suite = msgspec.structs.replace(report.suite, editions=editions)
    page = index_page(msgspec.structs.replace(report, suite=suite), CLAIMS, {})
    assert page.count("<dt>Edition</dt>") == 1
    assert "<dd>jobset kep, quota strict</dd>" in page
    for outcome in ("failed", "inconclusive", "passed", "skipped"):
        assert f"</b><span>{outcome}</span>" in page
