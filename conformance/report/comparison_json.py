"""A comparison of two reports as JSON, for programs: its lists, and what the two reports are."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from conformance.report.comparison import Comparison
from conformance.report.comparison_text import headline
from conformance.report.conformance_report import ConformanceReport


def comparison_json(comparison: Comparison) -> str:
    """The whole comparison; of each report only what tells it from others."""
    data = {
        "headline": headline(comparison),
        "worse": comparison.worse,
        **msgspec.to_builtins(comparison),
        "differences": [difference.told() for difference in comparison.differences],
        "baseline": _identity(comparison.baseline),
        "current": _identity(comparison.current),
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _identity(report: ConformanceReport) -> dict[str, Any]:
    """The implementation, suite, place and result."""
    parts = (report.implementation, report.suite, report.environment, report.reproduce)
    names = ("implementation", "suite", "environment", "reproduce")
    told = dict(zip(names, map(msgspec.to_builtins, parts), strict=True))
    return {"result": report.result, "date": report.date, **told}
