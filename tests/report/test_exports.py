"""A report in the formats of others: their shapes, and nothing that reads better than it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import yaml

from conformance.report.ai_conformance import ai_conformance_yaml
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from conformance.report.run_result import RunResult
from conformance.report.sonobuoy import aggregate, sonobuoy_yaml
from conformance.verdict import Outcome, Verdict
from tests.report.hostile import HOSTILE, hostile_run
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import passing_run, sample_suite

Item = dict[str, Any]


def report_of(*runs: RunResult, **suite: Any) -> ConformanceReport:
    whole = msgspec.structs.replace(sample_suite(*runs), **suite)
    return build_report(whole, CLAIMS, version="0.1.0", git_commit="c0ffee", date="2026-01-01")


def all_items(item: Item) -> Iterator[Item]:
    yield item
    for child in item.get("items", ()):
        yield from all_items(child)


def ended(**outcomes: Outcome) -> RunResult:
    verdicts = tuple(
        Verdict(claim=claim.replace("_", "-"), outcome=outcome, armed=1, because="so it was")
        for claim, outcome in outcomes.items()
    )
    return msgspec.structs.replace(passing_run(), verdicts=verdicts)


ALL_PASSED = dict.fromkeys(("AW_015", "AW_049", "AW_012", "AW_063"), Outcome.PASSED)


def test_sonobuoy_gets_suite_profile_claim_and_test() -> None:
    root = yaml.safe_load(sonobuoy_yaml(report_of()))
    assert (root["name"], root["status"], root["meta"]["type"]) == ("assay", "failed", "summary")
    (profile,) = root["items"]
    claims = {claim["meta"]["claim"]: claim for claim in profile["items"]}
    assert (profile["name"], list(claims)) == (
        "appwrapper",
        ["AW-012", "AW-015", "AW-049", "AW-063"],
    )
    assert [claims[id_]["status"] for id_ in claims] == ["unknown", "failed", "passed", "passed"]
    statuses = [test["status"] for test in claims["AW-015"]["items"]]
    assert sorted(statuses) == ["failed", "passed"]


def test_sonobuoy_items_have_the_fields_and_types_that_sonobuoy_decodes() -> None:
    """Its `Item`: name and status are text, meta maps text to text, details text to anything."""
    for item in all_items(yaml.safe_load(sonobuoy_yaml(report_of()))):
        assert item.keys() <= {"name", "status", "meta", "details", "items"}
        assert isinstance(item["name"], str)
        assert item["status"] in ("passed", "failed", "skipped", "unknown")
        assert all(isinstance(text, str) for pair in item.get("meta", {}).items() for text in pair)
        assert all(isinstance(key, str) for key in item.get("details", {}))


def test_a_run_that_broke_off_keeps_sonobuoys_result_from_being_passed() -> None:
    run = msgspec.structs.replace(ended(**ALL_PASSED), error="the node went away")
    assert yaml.safe_load(sonobuoy_yaml(report_of(run)))["status"] == "unknown"
    whole = ended(**ALL_PASSED)
    assert yaml.safe_load(sonobuoy_yaml(report_of(whole)))["status"] == "passed"


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("passed", "unknown", "failed"), "failed"),
        (("passed", "unknown"), "unknown"),
        (("passed", "skipped"), "passed"),
        (("skipped",), "skipped"),
        ((), "unknown"),
    ],
)
def test_the_worst_child_decides_and_none_is_unknown(
    statuses: tuple[str, ...], expected: str
) -> None:
    assert aggregate(statuses) == expected


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_stranger_stays_text_in_sonobuoys_yaml(text: str) -> None:
    root = yaml.safe_load(sonobuoy_yaml(report_of(hostile_run(text))))
    assert root["status"] == "failed"


VALID_STATUSES = ("Implemented", "Not Implemented", "Partially Implemented", "N/A", "")


def checklist(report: ConformanceReport) -> Item:
    found: Item = yaml.safe_load(ai_conformance_yaml(report, ["report.yaml"]))
    return found


def controller(report: ConformanceReport) -> Item:
    (item,) = checklist(report)["spec"]["operator"]
    return dict(item)


def test_the_checklist_has_its_sections_items_and_keys() -> None:
    found = checklist(report_of())
    assert found.keys() == {"metadata", "spec"}
    assert found["metadata"]["kubernetesVersion"] == "v1.34"
    assert found["spec"].keys() == {"schedulingOrchestration", "operator"}
    for items, id_ in (("schedulingOrchestration", "gang_scheduling"),):
        assert [item["id"] for item in found["spec"][items]] == [id_]
    for item in (*found["spec"]["schedulingOrchestration"], *found["spec"]["operator"]):
        assert list(item) == ["id", "description", "level", "status", "evidence", "notes"]
        assert item["level"] == "MUST"
        assert item["status"] in VALID_STATUSES
        assert item["notes"]


def test_what_only_the_vendor_knows_stays_a_placeholder() -> None:
    metadata = checklist(report_of())["metadata"]
    unfilled = [key for key, value in metadata.items() if re.fullmatch(r"\[.*\]", value)]
    assert set(unfilled) == metadata.keys() - {"kubernetesVersion"}


@pytest.mark.parametrize(
    ("cluster", "outcome", "status"),
    [
        ("simulated", Outcome.PASSED, ""),
        ("simulated", Outcome.FAILED, ""),
        ("control-plane", Outcome.PASSED, "Partially Implemented"),
        ("control-plane", Outcome.FAILED, "Not Implemented"),
        ("existing", Outcome.PASSED, "Implemented"),
        ("kind", Outcome.INCONCLUSIVE, "Partially Implemented"),
        ("kind", Outcome.FAILED, "Not Implemented"),
    ],
)
def test_a_controller_is_implemented_only_where_a_real_clusters_run_kept_all(
    cluster: str, outcome: Outcome, status: str
) -> None:
    run = ended(**{**ALL_PASSED, "AW_015": outcome})
    item = controller(report_of(run, cluster=cluster))
    assert item["status"] == status
    assert item["evidence"] == ["report.yaml"]
    assert f"on {cluster}" in item["notes"]


def test_gang_scheduling_is_never_answered_by_claims_about_something_else() -> None:
    report = report_of(ended(**ALL_PASSED), cluster="existing")
    (item,) = checklist(report)["spec"]["schedulingOrchestration"]
    assert (item["status"], item["evidence"]) == ("", [])
