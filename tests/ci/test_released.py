"""`ci/released`: the released operators' reports and findings, made anew and counted."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite

SCRIPT = Path(__file__).parents[2] / "ci" / "released"


@pytest.fixture(scope="module")
def released() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("released", str(SCRIPT))
    spec = importlib.util.spec_from_loader("released", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def report() -> ConformanceReport:
    return build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")


def test_what_is_violated_is_counted_before_and_now(
    released: Any, report: ConformanceReport
) -> None:
    (failed,) = [claim.id for claim in report.claims if claim.outcome is Outcome.FAILED]
    kept = tuple(msgspec.structs.replace(c, outcome=Outcome.PASSED) for c in report.claims)
    better = msgspec.structs.replace(report, claims=kept)
    plans = report.coverage.plans
    assert released.counted("one", report, better).split() == [
        *("one", str(plans), "→", str(plans), "1", "→", "0", "none;", failed)
    ]
    assert released.counted("one", None, report).split() == [
        *("one", "0", "→", str(plans), "0", "→", "1", f"{failed};", "none")
    ]


def test_each_release_is_handed_in_where_its_report_stands(released: Any) -> None:
    on_control_planes = [
        name for name in released.RELEASES if released.suite_of(name) not in released.VIRTUAL_ONLY
    ]
    assert on_control_planes
    for name in on_control_planes:
        assert released.handed_in(name).is_file()


def test_each_release_has_its_findings_page(released: Any) -> None:
    for name in released.RELEASES:
        assert (released.ROOT / "docs" / "findings" / f"{name}.md").is_file()
