"""Allure results, written as the files that Allure reads: one JSON per claim and scenario.

Epic is the suite, feature the profile, story the claim; the level is the severity and the
source sentence a link. The seed is a parameter that does not count for the test's identity,
so that a test keeps its history over seeds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.untrusted import printable

_STATUS: Final = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.INCONCLUSIVE: "broken",
    Outcome.SKIPPED: "skipped",
    Outcome.UNSUPPORTED: "skipped",
}
_SEVERITY: Final = {
    "Core": "critical",
    "Extended": "normal",
    "Derived": "critical",
    "Provisional": "minor",
}


def write_allure_results(
    folder: Path,
    report: ConformanceReport,
    root: Path,
    pages: Mapping[tuple[str, str, int], str],
) -> None:
    """Write the results; attachments are small files of their own, as Allure wants them.

    `root` is the folder that the report's own paths are relative to.
    """
    folder.mkdir(exist_ok=True)
    for claim in report.claims:
        for test in claim.tests:
            result = _result(claim, test, report)
            page = pages.get((claim.id, test.name, test.seed))
            if page is not None:
                history = root / test.history if test.history else None
                result["attachments"] += _attach(folder, result["uuid"], root / page, history)
            path = folder / f"{result['uuid']}-result.json"
            path.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _result(claim: ClaimReport, test: ClaimTest, report: ConformanceReport) -> dict[str, Any]:
    full_name = f"{claim.profile}.{claim.id}#{test.name}"
    suite = test.name.partition("/")[0]
    because = test.first_violation.because if test.first_violation else test.because
    seed = str(test.seed)
    return {
        "uuid": _uuid(full_name, seed, report.environment.cluster),
        "historyId": _md5(full_name, report.environment.cluster),
        "testCaseId": _md5(full_name),
        "fullName": full_name,
        "name": f"{claim.id} {claim.name} [{test.name}]",
        "description": f"{claim.text}\n\n{claim.source}",
        "status": _STATUS[test.outcome],
        "statusDetails": {
            "message": printable(because),
            "trace": "\n".join(printable(fault) for fault in test.faults),
        },
        "stage": "finished",
        "start": 0,
        "stop": round(test.wall_seconds * 1000),
        "labels": [
            {"name": name, "value": value}
            for name, value in (
                ("epic", suite),
                ("feature", claim.profile),
                ("story", f"{claim.id} {claim.name}"),
                ("severity", _SEVERITY.get(claim.level, "normal")),
                ("parentSuite", suite),
                ("suite", claim.profile),
                ("subSuite", claim.id),
                ("framework", "assay"),
                ("host", report.environment.cluster),
            )
        ],
        "links": [
            {
                "type": "link",
                "name": str(claim.source),
                "url": f"urn:assay:source:{claim.source.document}#{claim.id}",
            }
        ],
        "parameters": [
            {"name": "cluster", "value": report.environment.cluster},
            {"name": "seed", "value": seed, "excluded": True},
        ],
        "attachments": [],
        "steps": [],
    }


def _attach(folder: Path, uuid: str, page: Path, history: Path | None) -> list[dict[str, str]]:
    """Copy a failure's page, plan and history beside the result, and name them."""
    wanted = [
        (page, "What happened", "text/html", ".html"),
        (page.with_suffix(".yaml"), "Plan", "application/yaml", ".yaml"),
    ]
    if history is not None:
        wanted.append((history, "History", "application/gzip", ".jsonl.gz"))
    attachments = []
    for path, name, type_, suffix in wanted:
        source = f"{uuid}-attachment{suffix}"
        (folder / source).write_bytes(path.read_bytes())
        attachments.append({"name": name, "source": source, "type": type_})
    return attachments


def _md5(*parts: str) -> str:
    return hashlib.md5("\n".join(parts).encode(), usedforsecurity=False).hexdigest()


def _uuid(*parts: str) -> str:
    """A stable identifier in the form of a UUID: equal runs give equal files."""
    text = _md5(*parts)
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
