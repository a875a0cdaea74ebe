"""The reports kept in this repository, evaluated today, have the same verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli.judging import all_claims, judge
from conformance.report.submission import README_NAME, reports_below
from conformance.report.verify import verify_report

REPORTS = Path(__file__).parents[2] / "reports"
HANDED_IN = reports_below(REPORTS)
MOST_BYTES = 12_000_000
"""The limit for a report with its histories, since every clone contains them."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", HANDED_IN, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_its_histories_are_judged_today_as_its_report_says(folder: Path) -> None:
    found = verify_report(folder, all_claims(), judge)
    assert found.verdicts > 0
    assert found.without_history == 0
    differences = [f"{finding.where}: {finding.what}" for finding in found.findings]
    assert not differences, (
        f"{folder} does not verify; if the claims have changed for good reason, judge it again "
        "(assay report rejudge) or run its suite again, and hand that in: assay report submission"
    )


@pytest.mark.parametrize(
    "folder", HANDED_IN, ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_its_readme_leads_to_it_and_it_is_no_burden(folder: Path) -> None:
    readme = (folder.parent / README_NAME).read_text(encoding="utf-8")
    assert f"[link](./{folder.name}/report.yaml)" in readme
    assert sum(file.stat().st_size for file in folder.rglob("*")) < MOST_BYTES


def test_there_are_reports_of_released_operators() -> None:
    owners = {folder.parent.name for folder in HANDED_IN}
    assert owners == {"kubernetes-sigs-jobset", "project-codeflare-appwrapper"}
