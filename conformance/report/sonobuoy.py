"""A report as Sonobuoy's results: the file that a plugin with `result-format: manual` leaves.

One item per suite, profile, claim and test. Sonobuoy knows passed, failed, skipped and
unknown: what could not be judged is unknown, never passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import (
    BROKEN_OFF,
    ClaimReport,
    ClaimTest,
    ConformanceReport,
)
from conformance.report.yaml_text import dump

FILE_NAME: Final = "sonobuoy_results.yaml"
"""The name by which Sonobuoy finds it in a plugin's results."""

_STATUS: Final = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.INCONCLUSIVE: "unknown",
    Outcome.SKIPPED: "skipped",
    Outcome.UNSUPPORTED: "skipped",
}

Item = dict[str, Any]


def sonobuoy_yaml(report: ConformanceReport) -> str:
    """The whole file."""
    profiles = [_profile(report, profile.name, profile.summary) for profile in report.profiles]
    broken_off = [
        _item(error.name, "unknown", {"seed": str(error.seed)}, {"error": error.error})
        for error in report.errors
    ]
    if broken_off:
        profiles.append(_parent(BROKEN_OFF, broken_off, {}, {}))
    implementation = report.implementation
    root = _parent(
        "assay",
        profiles,
        {
            "type": "summary",
            "organization": implementation.organization,
            "project": implementation.project,
            "version": implementation.version,
            "cluster": report.environment.cluster,
            "seed": str(report.reproduce.seed),
        },
        {"result": report.result, "reproduce": report.reproduce.command, "date": report.date},
    )
    return dump(root)


def _profile(report: ConformanceReport, name: str, summary: str) -> Item:
    claims = [_claim(claim) for claim in report.claims if claim.profile == name]
    return _parent(name, claims, {}, {"summary": summary})


def _claim(claim: ClaimReport) -> Item:
    meta = {"claim": claim.id, "level": claim.level}
    details = {"text": claim.text, "reason": claim.reason, "armed": claim.armed}
    name = f"{claim.id} {claim.name}"
    tests = [_test(test) for test in claim.tests]
    return _item(name, _STATUS[claim.outcome], meta, details, tests)


def _test(test: ClaimTest) -> Item:
    because = test.first_violation.because if test.first_violation else test.because
    meta = {"seed": str(test.seed), "history-sha256": test.history_sha256}
    details: dict[str, Any] = {"faults": list(test.faults)} if test.faults else {}
    if because:
        details["because"] = because
    return _item(test.name, _STATUS[test.outcome], meta, details)


def _parent(name: str, items: list[Item], meta: dict[str, str], details: dict[str, Any]) -> Item:
    return _item(name, aggregate(item["status"] for item in items), meta, details, items)


def _item(
    name: str,
    status: str,
    meta: dict[str, str],
    details: dict[str, Any],
    items: Iterable[Item] = (),
) -> Item:
    """Sonobuoy leaves out what is empty, and so does this."""
    parts: Item = {"name": name, "status": status}
    for key, value in (("meta", meta), ("details", details), ("items", list(items))):
        if value:
            parts[key] = value
    return parts


def aggregate(statuses: Iterable[str]) -> str:
    """The status of a parent: the worst of its children's; of none, unknown."""
    seen = set(statuses)
    for status in ("failed", "unknown", "passed", "skipped"):
        if status in seen:
            return status
    return "unknown"
