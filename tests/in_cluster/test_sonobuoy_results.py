"""The results that the plugin's container submits to Sonobuoy, however the suite ends."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.in_cluster.sonobuoy_results import DONE, run_and_hand_in
from conformance.report.sonobuoy import FILE_NAME

SCENARIO = "slow-pods-hold-their-quota"


def handed_in(results: Path) -> tuple[dict[str, Any], list[str]]:
    """As Sonobuoy does it: the file that `done` names, unpacked; its summary and the names."""
    with tarfile.open((results / DONE).read_text()) as archive:
        summary = archive.extractfile(FILE_NAME)
        assert summary is not None
        return yaml.safe_load(summary.read()), archive.getnames()


def test_a_report_is_handed_in_whole_with_its_summary_in_sonobuoys_format(tmp_path: Path) -> None:
    assert run_and_hand_in([SCENARIO, "--quiet"], tmp_path) == 0
    summary, names = handed_in(tmp_path)
    assert summary["status"] == "passed"
    assert {"report/report.yaml", "report/index.html"} <= set(names)
    assert any(name.startswith("report/histories/") for name in names)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--implementation", "mutant:quota-released-on-failed", "--no-shrink"), 1),
        (("--cluster", "nowhere"), 2),
    ],
)
def test_a_suite_that_found_a_violation_or_never_ran_is_handed_in_as_failed(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    assert run_and_hand_in([SCENARIO, "--quiet", *words], tmp_path) == code
    summary, names = handed_in(tmp_path)
    assert summary["status"] == "failed"
    if "report/report.yaml" not in names:
        assert f"ended with code {code}" in summary["details"]["error"]
