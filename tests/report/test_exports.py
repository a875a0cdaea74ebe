"""A report in the formats of others: their shapes, and nothing that reads better than it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import yaml

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.ai_conformance import ai_conformance_yaml
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from conformance.report.run_result import RunResult
from conformance.report.sonobuoy import aggregate, sonobuoy_yaml
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


def on_a_platform(
    outcome: Outcome = Outcome.PASSED, by_webhooks: Outcome = Outcome.PASSED
) -> ConformanceReport:
    """The report of an operator in its own pods, with its own webhooks; `outcome` is AW-015's."""
    report = report_of(
        ended(**{**ALL_PASSED, "AW_015": outcome}), cluster="existing", operator="installed"
    )
    like = report.claims[0]
    more = (
        msgspec.structs.replace(like, id="MLB-020", outcome=by_webhooks),
        msgspec.structs.replace(like, id="MLB-021", outcome=Outcome.PASSED),
    )
    return msgspec.structs.replace(report, claims=(*report.claims, *more))


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(Outcome.PASSED, "Implemented"), (Outcome.INCONCLUSIVE, "Partially Implemented")],
)
def test_a_controller_is_answered_by_a_run_with_its_pods_and_webhooks(
    outcome: Outcome, status: str
) -> None:
    item = controller(on_a_platform(outcome))
    assert item["status"] == status
    assert item["evidence"] == ["report.yaml"]
    assert "on existing" in item["notes"]


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        ({"cluster": "simulated", "operator": "simulated"}, "anything of a platform"),
        ({"cluster": "control-plane", "operator": "process"}, "pods and webhooks of its own"),
        ({"cluster": "kind", "operator": "deployed"}, "pods and webhooks of its own"),
        ({"cluster": "existing", "operator": None}, "pods and webhooks of its own"),
    ],
)
def test_a_run_without_the_operators_pods_and_webhooks_leaves_the_controller_unanswered(
    environment: dict[str, Any], missing: str
) -> None:
    report = on_a_platform()
    where = msgspec.structs.replace(report.environment, **environment)
    item = controller(msgspec.structs.replace(report, environment=where))
    assert (item["status"], item["evidence"]) == ("", [])
    assert missing in item["notes"]


def test_webhooks_that_were_not_seen_to_work_leave_the_controller_unanswered() -> None:
    item = controller(on_a_platform(by_webhooks=Outcome.UNSUPPORTED))
    assert item["status"] == ""
    assert "since MLB-020 is unsupported" in item["notes"]
    assert "MLB-021" not in item["notes"]


def test_an_operators_broken_promise_is_not_held_against_the_platform() -> None:
    item = controller(on_a_platform(Outcome.FAILED))
    assert item["status"] == ""
    assert "since 1 claim failed" in item["notes"]


def test_gang_scheduling_is_never_answered_by_claims_about_something_else() -> None:
    report = report_of(ended(**ALL_PASSED), cluster="existing")
    (item,) = checklist(report)["spec"]["schedulingOrchestration"]
    assert (item["status"], item["evidence"]) == ("", [])
