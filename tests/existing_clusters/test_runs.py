"""Runs on an existing cluster: verdicts as elsewhere, and everything restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusters.control_plane import ControlPlane
from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import ConformanceReport
from conformance.report.yaml_text import read_report
from vocabulary.history import Write, read_history

from .command import assay, run, standing

pytestmark = pytest.mark.control_plane
SCENARIOS = (
    "appwrapper/retry/one-failure-is-retried",
    "appwrapper/autopilot/other-resources-are-monitored",
    "appwrapper/deletion/stuck-pods-are-deleted-forcefully/pods",
    "appwrapper/operator-faults/leader-is-killed",
    "appwrapper/tampering/finalizer-is-stripped",
)
NO_WRITERS = "the history does not say who made each write"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> ConformanceReport:
    """The same scenarios in virtual time; that a control plane of Assay's own comes to the same
    verdicts is what `ci/agreement` sees to."""
    out = tmp_path_factory.mktemp("elsewhere")
    assay("run", *SCENARIOS, "-q", "--out", str(out))
    return read_report(out / "report.yaml")


def outcomes(report: ConformanceReport) -> dict[str, Outcome]:
    return {claim.id: claim.outcome for claim in report.claims}


def test_with_the_audit_log_verdicts_are_those_of_a_cluster_of_ones_own(
    plane: ControlPlane, tmp_path: Path, elsewhere: ConformanceReport
) -> None:
    before = standing(plane)
    log = str(plane.audit_log)
    run(plane.kubeconfig(), *SCENARIOS, "--yes", "--audit-log", log, "--out", str(tmp_path))
    report = read_report(tmp_path / "report.yaml")
    assert report.environment.cluster == "existing"
    assert outcomes(report) == outcomes(elsewhere)
    assert standing(plane) == before


def test_with_the_least_rights_and_watches_alone_no_verdict_contradicts(
    plane: ControlPlane, guest: Path, tmp_path: Path, elsewhere: ConformanceReport
) -> None:
    before = standing(plane)
    said = run(guest, *SCENARIOS, "--yes", "--out", str(tmp_path), code=3)
    assert "no accounts for operators, which act as you" in said
    report = read_report(tmp_path / "report.yaml")
    other = outcomes(elsewhere)
    for claim in report.claims:
        if claim.outcome is not other[claim.id]:
            assert claim.outcome is Outcome.INCONCLUSIVE, claim.id
    assert any(NO_WRITERS in claim.reason for claim in report.claims)
    for history in (tmp_path / "histories").glob("*.jsonl.gz"):
        header, _, whole, _ = read_history(history)
        assert whole
        assert not header.capabilities.writers
        assert header.capabilities.versions
    assert standing(plane) == before


def test_what_a_mutant_does_wrong_is_found_by_watches_alone(
    plane: ControlPlane, tmp_path: Path
) -> None:
    scenario = "appwrapper/retry/one-failure-is-retried"
    mutant = ("--implementation", "mutant:deployed-cleared-on-resetting")
    run(plane.kubeconfig(), scenario, *mutant, "--yes", "--out", str(tmp_path), code=1)
    failed = [
        claim.id
        for claim in read_report(tmp_path / "report.yaml").claims
        if claim.outcome is Outcome.FAILED
    ]
    assert "AW-013" in failed


def test_what_a_limit_of_time_leaves_no_room_for_is_named_and_not_judged(
    plane: ControlPlane, tmp_path: Path
) -> None:
    before = standing(plane)
    limit = ("--time-limit", "6s")
    said = run(plane.kubeconfig(), *SCENARIOS[:2], "--yes", *limit, "--out", str(tmp_path), code=3)
    assert "the time was up before the end of: " in said
    assert Outcome.FAILED not in outcomes(read_report(tmp_path / "report.yaml")).values()
    assert standing(plane) == before


def test_operators_whose_webhooks_see_each_others_objects_run_there_together(
    plane: ControlPlane, tmp_path: Path
) -> None:
    before = standing(plane)
    log = str(plane.audit_log)
    scenario = "mlbatch/kinds/kind-is-wrapped/job"
    run(plane.kubeconfig(), scenario, "--yes", "--audit-log", log, "--out", str(tmp_path))
    assert outcomes(read_report(tmp_path / "report.yaml"))["MLB-073"] is Outcome.PASSED
    (history,) = (tmp_path / "histories").glob("*.jsonl.gz")
    _, entries, _, _ = read_history(history)
    queues = (e for e in entries if isinstance(e, Write) and e.kind.startswith("ClusterQueue."))
    assert {e.event for e in queues} >= {"ADDED", "MODIFIED"}
    assert standing(plane) == before


def test_a_run_may_have_further_namespaces(plane: ControlPlane, tmp_path: Path) -> None:
    before = standing(plane)
    log = str(plane.audit_log)
    scenario = "kueue/queues/namespace-is-not-selected"
    run(plane.kubeconfig(), scenario, "--yes", "--audit-log", log, "--out", str(tmp_path))
    assert outcomes(read_report(tmp_path / "report.yaml"))["KQ-046"] is Outcome.PASSED
    assert standing(plane) == before
