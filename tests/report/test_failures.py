"""One wrong entry is one failure, with all claims that it is the first to contradict."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.norm.verdict import Outcome, Verdict, Violation
from conformance.report.build import build_report
from conformance.report.failures import Row, by_entry, contradictions, failure_files
from conformance.report.folder import write_folder
from conformance.report.html import write_html
from conformance.report.text import failure_block
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, sample_suite


def failed(claim: str, *at: int) -> Verdict:
    return Verdict(
        claim=claim,
        outcome=Outcome.FAILED,
        armed=1,
        because=f"{claim} is broken",
        violations=tuple(Violation(at=n, because=f"{claim} broken at {n}") for n in at),
    )


def test_violations_of_one_run_are_together_where_the_same_entry_comes_first() -> None:
    one, other, later = failed("A-1", 7, 3), failed("A-2", 3), failed("A-3", 7)
    passed = Verdict(claim="A-4", outcome=Outcome.PASSED)
    assert by_entry([one, other, later, passed]) == [(one, other), (later,)]


def test_the_fewest_failures_that_show_every_claim_come_first() -> None:
    rows = [
        Row("A-1", "short", 1, 3),
        Row("A-1", "long", 1, 90),
        Row("A-2", "long", 1, 90),
        Row("A-3", "long", 1, 91),
    ]
    first, alone, further = contradictions(rows)
    assert (first.name, first.claims, first.shown_for) == ("long", ("A-1", "A-2"), ("A-1", "A-2"))
    assert first.further == 1
    assert (alone.claims, alone.shown_for) == (("A-3",), ("A-3",))
    assert (further.name, further.claims, further.shown_for) == ("short", ("A-1",), ())
    stems = [each.stem for each in failure_files(rows)]
    assert stems == ["a-1", "a-3", "further/a-1-2"]


def test_of_equal_failures_the_earliest_entry_comes_first_and_a_kept_history_before_it() -> None:
    rows = [Row("A-1", "b", 1, 9), Row("A-1", "a", 1, 10), Row("A-1", "c", 1, 2, is_kept=False)]
    assert [each.name for each in contradictions(rows) if each.shown_for] == ["b"]


def test_failures_that_were_shrunk_apart_stand_apart() -> None:
    rows = [
        Row("A-1", "a", 1, 9, shrunk="histories/a-1-shrunk.jsonl.gz"),
        Row("A-2", "a", 1, 9, shrunk="histories/a-2-shrunk.jsonl.gz"),
        Row("A-3", "a", 1, 9),
    ]
    assert [each.claims for each in contradictions(rows)] == [("A-1", "A-3"), ("A-2",)]


def test_one_page_and_one_block_show_all_claims_that_an_entry_breaks(tmp_path: Path) -> None:
    run = failing_run()
    (violation,) = run.verdicts[0].violations
    also = msgspec.structs.replace(failed("AW-012", violation.at), armed=2)
    run = msgspec.structs.replace(run, verdicts=(run.verdicts[0], also))
    suite = sample_suite(run)
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    files = write_folder(tmp_path, suite, report, CLAIMS)
    (failure,) = files.failures
    assert failure.page == tmp_path / "aw-012.html"
    page = failure.page.read_text("utf-8")
    assert CLAIMS["AW-015"].text in page and CLAIMS["AW-012"].text in page
    index = files.index.read_text("utf-8")
    assert '<a href="aw-012.html">AW-012, AW-015</a>' in index
    block = failure_block([(CLAIMS[v.claim], v) for v in failure.verdicts], run)
    heads = block.splitlines()[:2]
    assert heads[0].startswith("AW-012 ") and heads[1].startswith("AW-015 ")
    assert f"broken at {violation.at}" in block
    again = write_html(tmp_path, tmp_path / "again", CLAIMS, lambda *_: run.verdicts)
    assert (again.parent / "aw-012.html").is_file()
    assert not (again.parent / "aw-015.html").exists()


def test_claims_that_are_broken_for_one_reason_share_its_sentence(tmp_path: Path) -> None:
    run = failing_run()
    (violation,) = run.verdicts[0].violations
    also = msgspec.structs.replace(failed("AW-012"), violations=(violation,))
    run = msgspec.structs.replace(run, verdicts=(run.verdicts[0], also))
    judged = [(CLAIMS[verdict.claim], verdict) for verdict in run.verdicts]
    block = failure_block(judged, run)
    assert block.count(violation.because) == 1
    assert all(f"{claim.text} ({claim.source})" in block for claim, _ in judged)
    suite = sample_suite(run)
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    (failure,) = write_folder(tmp_path, suite, report, CLAIMS).failures
    page = failure.page.read_text("utf-8")
    assert "<strong>AW-012, AW-015</strong>" in page
