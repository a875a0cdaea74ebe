"""`assay report rejudge` as a shell sees it, after a checker was fixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import claims
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.yaml_text import read_report_at
from tests.cli.conftest import Assay, Reports


@pytest.fixture
def misjudged(assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A report of the reference by a checker that sees a violation of AW-015 everywhere."""
    claims.load()

    def wrong(_: object) -> Verdict:
        return Verdict(claim="AW-015", outcome=Outcome.FAILED, armed=1, because="out of spite")

    out = tmp_path / "misjudged"
    with monkeypatch.context() as patch:
        patch.setattr(claims.CLAIMS["AW-015"], "judge", wrong)
        assert assay("run", "slow-pods-hold-their-quota", "--no-shrink", "--out", out).code == 1
    return out


def test_a_mended_checker_makes_the_report_anew_and_it_verifies(
    assay: Assay, misjudged: Path, tmp_path: Path
) -> None:
    out = tmp_path / "again"
    assert assay("verify", misjudged).code == 1
    ended = assay("report", "rejudge", misjudged, "--out", out)
    assert ended.code == 0, ended
    assert "AW-015 quota-released-after-last-pod" in ended.out
    assert "judged again: 1 claim newly passing" in ended.out
    assert assay("verify", out).code == 0
    before, after = read_report_at(misjudged), read_report_at(out)
    assert after.suite.git_commit == before.suite.git_commit
    assert after.suite.judged_again is not None
    assert (after.date, after.coverage) == (before.date, before.coverage)
    assert (misjudged / "aw-015.yaml").exists()
    assert not (out / "aw-015.yaml").exists()
    assert after.suite.commits in (out / "index.html").read_text()


def test_a_violation_that_stays_one_has_its_page_and_its_plan(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    out = tmp_path / "again"
    ended = assay("report", "rejudge", reports.bad, "--out", out)
    assert ended.code == 1
    assert "judged again: 3 still failing" in ended.out
    assert (out / "aw-015.yaml").read_bytes() == (reports.bad / "aw-015.yaml").read_bytes()
    assert "QuotaReserved turned True" in (out / "aw-015.html").read_text()


def test_nothing_is_overwritten_but_an_earlier_report(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    ended = assay("report", "rejudge", reports.bad / "report.yaml", "--out", reports.bad)
    assert (ended.code, ended.out) == (2, "")
    assert "holds the report itself; name another folder" in ended.err
    (tmp_path / "thesis.txt").write_text("mine")
    ended = assay("report", "rejudge", reports.bad, "--out", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_campaign_is_refused_before_anything_is_written(assay: Assay, tmp_path: Path) -> None:
    campaign, out = tmp_path / "campaign", tmp_path / "again"
    assert assay("run", "one-failure-is-retried", "--crash-points", "--out", campaign).code == 0
    ended = assay("report", "rejudge", campaign, "--out", out)
    assert (ended.code, out.exists()) == (2, False)
    assert "run it again: assay run" in ended.err


def test_no_report_is_bad_input(assay: Assay, tmp_path: Path) -> None:
    ended = assay("report", "rejudge", tmp_path, "--out", tmp_path / "again")
    assert (ended.code, ended.out) == (2, "")
    assert "report.yaml" in ended.err
