"""A checker that raises an exception gives no verdict: every command that evaluates ends with 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance import claims
from conformance.as_tests.test_scenarios import test_scenario as run_as_test
from conformance.implementations.ours import implementation
from conformance.norm import checker
from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome, merge
from conformance.report.yaml_text import read_report_at
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.cli.conftest import Assay, Reports

SLOW_PODS = "appwrapper/deletion/slow-pods-hold-their-quota"
FAILED = "AW-015: NOT JUDGED: its checker failed on "
RAISED = "RuntimeError: sabotaged (test_failed_checkers.py:"


@contextmanager
def sabotage(is_sabotaged: Callable[[str], bool] = lambda _: True) -> Iterator[None]:
    """The checkers of these claims raise; all others judge."""
    judge_rightly = checker._verdict

    def raise_or_judge(claim: Claim, *rest: Any) -> Any:
        if is_sabotaged(claim.id):
            raise RuntimeError("sabotaged")
        return judge_rightly(claim, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "_verdict", raise_or_judge)
        yield


@pytest.fixture
def sabotaged() -> Iterator[None]:
    """The checker of AW-015 raises."""
    with sabotage(lambda claim: claim == "AW-015"):
        yield


def history_of(folder: Path) -> Path:
    return next(iter((folder / "histories").glob("*.jsonl.gz")))


def test_check_with_every_checker_sabotaged_ends_with_3(assay: Assay, reports: Reports) -> None:
    with sabotage():
        ended = assay("check", history_of(reports.good))
    assert ended.code == 3
    of = claims.judged_on(SLOW_PODS, frozenset({"appwrapper"}))
    judged = [claim for claim in of if claim.judge is not None]
    for claim in judged:
        assert f"{claim.id}: NOT JUDGED: its checker failed on {SLOW_PODS}: {RAISED}" in ended.out


def test_check_with_all_checkers_but_one_sabotaged_ends_with_3(
    assay: Assay, reports: Reports
) -> None:
    with sabotage(lambda claim: claim != "AW-015"):
        ended = assay("check", history_of(reports.good))
    assert ended.code == 3
    assert FAILED not in ended.out


@pytest.mark.usefixtures("sabotaged")
def test_check_ends_with_3_for_one_checker_that_failed(assay: Assay, reports: Reports) -> None:
    ended = assay("check", history_of(reports.good))
    assert ended.code == 3
    assert f"{FAILED}{SLOW_PODS}: {RAISED}" in ended.out


@pytest.mark.usefixtures("sabotaged")
def test_a_violation_is_still_one_beside_a_checker_that_failed(
    assay: Assay, reports: Reports
) -> None:
    ended = assay("check", history_of(reports.bad))
    assert ended.code == 1
    assert FAILED in ended.out


@pytest.mark.usefixtures("sabotaged")
def test_a_run_ends_with_3_and_its_report_names_the_checker(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", SLOW_PODS, "--out", tmp_path / "out")
    assert ended.code == 3
    assert f"{FAILED}{SLOW_PODS}, seed 1729: {RAISED}" in ended.out
    report = read_report_at(tmp_path / "out")
    assert [(error.claim, error.name) for error in report.checker_errors] == [("AW-015", SLOW_PODS)]
    assert report.result == "partial"


def test_a_derived_claims_checker_counts_as_one_of_a_core_claim(
    assay: Assay, tmp_path: Path
) -> None:
    with sabotage(lambda claim: claim == "INV-2"):
        assert assay("run", SLOW_PODS, "--out", tmp_path / "out").code == 3


@pytest.mark.usefixtures("sabotaged")
def test_verify_ends_with_3_and_finds_no_difference_where_nothing_was_judged(
    assay: Assay, reports: Reports
) -> None:
    ended = assay("verify", reports.good)
    assert ended.code == 3
    assert "DIFFERS" not in ended.out
    assert f"{FAILED}{SLOW_PODS}: {RAISED}" in ended.out


@pytest.mark.usefixtures("sabotaged")
def test_a_report_is_not_handed_in_that_a_checker_fails_on(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    ended = assay("report", "submission", reports.good, "--out", tmp_path / "reports")
    assert ended.code == 3
    assert FAILED in ended.out
    assert not (tmp_path / "reports").exists()


def test_a_report_that_is_judged_again_ends_with_3_until_the_checker_is_mended(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    with sabotage():
        ended = assay("report", "rejudge", reports.good, "--out", tmp_path / "crashed")
    assert ended.code == 3
    assert f"{FAILED}{SLOW_PODS}, seed 1729: {RAISED}" in ended.out
    ended = assay("report", "rejudge", tmp_path / "crashed", "--out", tmp_path / "mended")
    assert ended.code == 0, ended
    assert not read_report_at(tmp_path / "mended").checker_errors


@pytest.mark.usefixtures("sabotaged")
def test_pages_made_anew_name_the_checker_that_failed_on_their_history(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    ended = assay("report", "html", reports.bad, "--out", tmp_path)
    assert ended.code == 3
    assert FAILED in ended.out


def test_a_comparison_ends_with_3_if_the_current_report_names_a_checker(
    assay: Assay, tmp_path: Path
) -> None:
    out = tmp_path / "crashed"
    with sabotage():
        assert assay("run", SLOW_PODS, "--out", out).code == 3
    ended = assay("compare", out, out)
    assert ended.code == 3
    assert FAILED in ended.out


def test_a_replay_ends_with_3(assay: Assay, reports: Reports) -> None:
    with sabotage():
        ended = assay("replay", reports.bad / "aw-015.yaml")
    assert ended.code == 3
    assert f"{FAILED}{SLOW_PODS}: {RAISED}" in ended.out


def test_mutants_end_with_3_since_nobody_knows_what_the_checker_would_have_killed(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {SLOW_PODS: SCENARIOS[SLOW_PODS]}
    monkeypatch.setattr("conformance.running.mutation.SCENARIOS", one)
    with sabotage():
        ended = assay("mutants", "quota-released-on-failed", "--jobs", "1")
    assert ended.code == 3
    assert FAILED in ended.out


@pytest.mark.usefixtures("sabotaged")
def test_an_experiment_ends_with_3(assay: Assay) -> None:
    ended = assay("chaos", "chaos/experiments/pod-kill.yaml")
    assert ended.code == 3
    assert FAILED in ended.out


@pytest.mark.usefixtures("sabotaged")
def test_a_scenario_as_a_test_fails_and_names_the_checker(request: pytest.FixtureRequest) -> None:
    run = run_one(SCENARIOS[SLOW_PODS], implementation("reference", "appwrapper"), 1729)
    with pytest.raises(AssertionError, match=FAILED):
        run_as_test(SCENARIOS[SLOW_PODS], lambda _: run, request)


def test_one_checker_that_failed_outvotes_all_histories_that_passed() -> None:
    (claim,) = (claim for claim in claims.load() if claim.id == "AW-015")
    run = run_one(SCENARIOS[SLOW_PODS], implementation("reference", "appwrapper"), 1729)
    passed = next(verdict for verdict in run.verdicts if verdict.claim == claim.id)
    failed = msgspec.structs.replace(passed, outcome=Outcome.INCONCLUSIVE, error="RuntimeError")
    merged = merge(claim.id, [passed, failed, passed])
    assert (merged.outcome, merged.error) == (Outcome.INCONCLUSIVE, "RuntimeError")
