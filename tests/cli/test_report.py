"""`assay report`: what a run wrote, and more, from the stored report alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
import yaml

from conformance.norm.verdict import Outcome
from conformance.report.yaml_text import read_report, write_report
from tests.cli.conftest import Assay, Reports


@pytest.fixture
def bad(reports: Reports, tmp_path: Path) -> Path:
    """A copy of the report with a violation, to write into."""
    return shutil.copytree(reports.bad, tmp_path / "bad")


def test_junit_written_afterwards_is_what_the_run_wrote(assay: Assay, bad: Path) -> None:
    before = (bad / "junit.xml").read_bytes()
    (bad / "junit.xml").unlink()
    ended = assay("report", "junit", bad)
    assert (ended.code, ended.out) == (0, f"written: {bad / 'junit.xml'}\n")
    assert (bad / "junit.xml").read_bytes() == before
    assert ElementTree.parse(bad / "junit.xml").getroot().tag == "testsuites"


def test_html_written_afterwards_has_a_page_for_each_violation(assay: Assay, bad: Path) -> None:
    pages = sorted(path.name for path in bad.glob("*.html"))
    for page in pages:
        (bad / page).unlink()
    assert assay("report", "html", bad / "report.yaml").code == 0
    assert sorted(path.name for path in bad.glob("*.html")) == pages
    page = (bad / "aw-015.html").read_text()
    assert f"assay replay {bad / 'aw-015.yaml'}" in page
    assert "QuotaReserved turned True" in page
    assert 'href="aw-015.html"' in (bad / "index.html").read_text()


def test_html_elsewhere_links_back_to_the_histories(assay: Assay, bad: Path) -> None:
    out = bad.parent / "pages"
    assert assay("report", "html", bad, "--out", out).code == 0
    index = (out / "index.html").read_text()
    assert 'href="../bad/histories/' in index
    assert 'href="histories/' not in index


def test_html_opens_no_history_outside_of_the_report(assay: Assay, bad: Path) -> None:
    path, history = bad / "report.yaml", next((bad / "histories").iterdir())
    path.write_text(path.read_text().replace(f"histories/{history.name}", "../../etc/passwd"))
    for other in (bad / "histories").iterdir():
        path.write_text(path.read_text().replace(f"histories/{other.name}", "../../etc/passwd"))
    ended = assay("report", "html", bad)
    assert ended.code == 2
    assert "is outside of the directory" in ended.err


def test_sonobuoy_and_the_checklist_go_where_they_are_told(assay: Assay, bad: Path) -> None:
    assert assay("report", "sonobuoy", bad).code == 0
    assert yaml.safe_load((bad / "sonobuoy_results.yaml").read_text())["status"] == "failed"
    out = bad.parent / "PRODUCT.yaml"
    assert assay("report", "ai-conformance", bad, "-o", out).code == 0
    (item,) = yaml.safe_load(out.read_text())["spec"]["operator"]
    assert (item["status"], item["evidence"]) == ("", [])
    assert "the cluster was simulated" in item["notes"]


@pytest.mark.parametrize("format_", ["sonobuoy", "ai-conformance"])
@pytest.mark.parametrize("out", [None, "PRODUCT.yaml"])
def test_an_export_that_somebody_filled_in_is_kept_and_one_that_nobody_touched_made_anew(
    assay: Assay, bad: Path, format_: str, out: str | None
) -> None:
    arguments = (
        ("report", format_, bad) if out is None else ("report", format_, bad, "-o", bad / out)
    )
    path = Path(assay(*arguments).out.removeprefix("written: ").strip())
    made = path.read_text()
    assert assay(*arguments).code == 0
    assert path.read_text() == made
    path.write_text(f"{made}# Ours: 42\n")
    ended = assay(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert f"{path}: is not as Assay wrote it" in ended.err
    assert path.read_text() == f"{made}# Ours: 42\n"


def test_exports_of_an_earlier_report_do_not_outlive_it(assay: Assay, bad: Path) -> None:
    for format_ in ("sonobuoy", "ai-conformance", "junit"):
        assert assay("report", format_, bad).code == 0
    checklist = bad / "ai-conformance.yaml"
    checklist.write_text(checklist.read_text().replace("[Vendor Name]", "Example"))
    ended = assay("run", "slow-pods-hold-their-quota", "-q", "--out", bad)
    assert f"note: {checklist} is not of this report" in ended.out
    assert 'vendorName: "Example"' in checklist.read_text()
    assert not (bad / "sonobuoy_results.yaml").exists()
    junit = (bad / "junit.xml").read_bytes()
    assert assay("report", "junit", bad).code == 0
    assert (bad / "junit.xml").read_bytes() == junit


def test_a_submission_is_verified_before_it_is_made_and_can_be_afterwards(
    assay: Assay, bad: Path
) -> None:
    out = bad.parent / "reports"
    ended = assay("report", "submission", bad, "--out", out)
    assert ended.code == 0, ended
    assert "note: implementation.contact is empty" in ended.out
    ended = assay("verify", out)
    assert ended.code == 0
    assert "all as reported" in ended.out
    assert "note: not checked: date, suite.gitCommit, " in ended.out
    assert "beside report.yaml" not in ended.out
    ended = assay("verify", bad)
    assert "note: not checked: index.html, junit.xml, " in ended.out


def test_a_submission_takes_the_place_of_another_only_with_replace(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    out = tmp_path / "reports"
    assert assay("report", "submission", reports.good, "--out", out).code == 0
    other = shutil.copytree(reports.good, tmp_path / "other")
    path = other / "report.yaml"
    report = msgspec.structs.replace(read_report(path), date="2001-01-01T00:00:00Z")
    path.write_text(write_report(report), encoding="utf-8")
    ended = assay("report", "submission", other, "--out", out)
    assert ended.code == 2
    assert "another report was handed in there" in ended.err
    assert assay("report", "submission", other, "--out", out, "--replace").code == 0
    (handed_in,) = out.rglob("report.yaml")
    assert handed_in.read_bytes() == path.read_bytes()


def test_a_report_that_does_not_hold_is_not_handed_in(assay: Assay, bad: Path) -> None:
    path = bad / "report.yaml"
    text = path.read_text()
    path.write_text(re.sub(r"Failed: [1-9]", "Failed: 0", text, count=1))
    assert path.read_text() != text
    out = bad.parent / "reports"
    ended = assay("report", "submission", bad, "--out", out)
    assert ended.code == 1
    assert not out.exists()
    ended = assay("verify", bad)
    assert "report.yaml: profiles[appwrapper].core.statistics." in ended.out


def test_the_checklist_names_evidence_by_its_place_in_the_reports_folder(
    assay: Assay, bad: Path
) -> None:
    path = bad / "report.yaml"
    report = read_report(path)
    kept = msgspec.structs.replace(report.claims[0], outcome=Outcome.PASSED)
    claims = [msgspec.structs.replace(kept, id=id_) for id_ in ("MLB-020", "MLB-021")]
    where = msgspec.structs.replace(report.environment, cluster="existing", operator="installed")
    report = msgspec.structs.replace(report, claims=tuple(claims), environment=where)
    path.write_text(write_report(report), encoding="utf-8")
    out = bad.parent / "PRODUCT.yaml"
    assert assay("report", "ai-conformance", bad, "-o", out).code == 0
    (item,) = yaml.safe_load(out.read_text())["spec"]["operator"]
    assert item["evidence"] == ["report.yaml", "index.html"]


@pytest.mark.parametrize("format_", ["html", "junit", "sonobuoy", "ai-conformance", "submission"])
def test_no_report_is_bad_input(assay: Assay, format_: str, tmp_path: Path) -> None:
    ended = assay("report", format_, tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "report.yaml" in ended.err
    assert list(tmp_path.iterdir()) == []
