"""Run results become a report: worst outcomes, tiers, sorted, equal bytes for equal runs."""

from __future__ import annotations

import subprocess
from copy import copy
from pathlib import Path

import msgspec
import pytest

from conformance.claims import load
from conformance.cli.exit_code import ExitCode
from conformance.implementations.ours import implementations
from conformance.norm.claim import Level
from conformance.norm.verdict import Outcome, Verdict
from conformance.report import suite_version
from conformance.report.build import build_report, history_path, slug
from conformance.report.coherence import incoherences
from conformance.report.conformance_report import Allowances, ConformanceReport
from conformance.report.run_result import LIMIT, RunResult
from conformance.report.text import trouble_lines
from conformance.report.yaml_text import write_report
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from tests.headers import with_facts
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, passing_run, sample_suite


def _report(*runs: RunResult, claims: tuple[str, ...] = ()) -> ConformanceReport:
    suite = msgspec.structs.replace(sample_suite(*runs), claims=claims)
    return build_report(suite, CLAIMS, version="0.1.0", git_commit="c0ffee", date="2026-01-01")


def _with_outcomes(run: RunResult, **outcomes: Outcome) -> RunResult:
    verdicts = tuple(
        Verdict(claim=claim.replace("_", "-"), outcome=outcome, armed=1, because="said so")
        for claim, outcome in outcomes.items()
    )
    return msgspec.structs.replace(run, verdicts=verdicts)


def test_equal_runs_in_any_order_give_equal_bytes() -> None:
    assert write_report(_report(failing_run(), passing_run())) == write_report(
        _report(passing_run(), failing_run())
    )


def test_a_violated_core_claim_makes_its_tier_a_failure_and_is_listed() -> None:
    (profile,) = _report().profiles
    assert profile.core.result == "failure"
    assert profile.core.failed_tests == ("AW-015",)
    assert profile.core.inconclusive_tests == ("AW-012",)
    assert profile.extended is not None
    assert profile.extended.result == "success"
    assert profile.summary == "Core tests failed with 1 test failure. Extended tests succeeded."


def test_a_partial_tier_never_reads_like_success() -> None:
    report = _report(_with_outcomes(passing_run(), AW_063=Outcome.PASSED, AW_012=Outcome.SKIPPED))
    (profile,) = report.profiles
    assert profile.core.result == "partial"
    assert "succeeded" not in profile.summary.partition(" Extended")[0]
    assert report.result == "partial"


def test_a_profile_without_extended_claims_has_no_extended_tier() -> None:
    core = {id_: claim for id_, claim in CLAIMS.items() if claim.level is not Level.EXTENDED}
    report = build_report(
        sample_suite(passing_run()), core, version="0.1.0", git_commit="", date=""
    )
    (profile,) = report.profiles
    assert profile.extended is None
    assert "Extended" not in profile.summary
    assert "extended" not in write_report(report)


def test_a_claim_that_was_never_armed_is_inconclusive_and_not_covered() -> None:
    report = _report()
    claim = next(claim for claim in report.claims if claim.id == "AW-012")
    assert claim.outcome is Outcome.INCONCLUSIVE
    assert claim.tests == ()
    assert claim.reason == "Never armed: nothing was left."
    assert [gap.claim for gap in report.not_covered] == ["AW-012"]


def test_a_scenario_that_did_not_arm_a_claim_does_not_spoil_one_that_did() -> None:
    claim = next(claim for claim in _report().claims if claim.id == "AW-063")
    assert claim.outcome is Outcome.PASSED
    assert [test.name for test in claim.tests] == ["appwrapper/success/ttl"]


def test_the_runs_of_a_campaign_are_one_row_that_shows_the_worst() -> None:
    good = _with_outcomes(passing_run(), AW_015=Outcome.PASSED)
    runs = [
        msgspec.structs.replace(
            good, variant=f"killed after write {k}", entries=(), history_sha256=""
        )
        for k in range(5)
    ]
    bad = msgspec.structs.replace(
        _with_outcomes(passing_run(), AW_015=Outcome.FAILED), variant="killed after write 5"
    )
    (claim,) = (c for c in _report(good, *runs, bad).claims if c.id == "AW-015")
    (test,) = claim.tests
    assert test.name == "appwrapper/success/ttl [killed after write 5]"
    assert test.outcome is Outcome.FAILED
    assert test.runs == 7
    assert test.armed == 7
    assert test.history == history_path(bad)


def test_a_selection_by_claim_leaves_out_other_claims_unless_they_are_violated() -> None:
    assert [claim.id for claim in _report(claims=("AW-049",)).claims] == ["AW-015", "AW-049"]
    assert [claim.id for claim in _report(passing_run(), claims=("AW-063",)).claims] == ["AW-063"]


def test_a_claim_that_needs_an_operator_which_no_run_has_is_left_out_unless_it_is_armed() -> None:
    scenario = SCENARIOS["appwrapper/retry/limit-is-exhausted/1"]
    run = run_one(scenario, implementations("reference", scenario.roles), 1729)
    known = {claim.id: claim for claim in load()}
    report = build_report(sample_suite(run), known, version="", git_commit="", date="")
    of_the_guide = {claim.id for claim in report.claims if claim.profile == "mlbatch"}
    assert "MLB-020" in of_the_guide
    assert "MLB-015" not in of_the_guide


def test_a_failed_row_names_the_faults_the_history_and_the_first_violation() -> None:
    claim = next(claim for claim in _report().claims if claim.id == "AW-015")
    test = claim.tests[0]
    assert test.faults[0] == "kill pod a-job-xq0 with exit code 1"
    assert len(test.history_sha256) == 64
    assert test.first_violation is not None
    assert test.first_violation.resource_version > 100
    assert test.first_violation.because == test.because


def test_coverage_counts_fault_classes_against_all_that_exist() -> None:
    assert _report().coverage.fault_classes == "3/4"
    assert _report().coverage.crash_points == "12/12"


@pytest.mark.parametrize(
    ("outcomes", "error", "code"),
    [
        ({"AW_063": Outcome.PASSED}, "", ExitCode.CONFORMANT),
        ({"AW_063": Outcome.PASSED, "AW_049": Outcome.INCONCLUSIVE}, "", ExitCode.CONFORMANT),
        ({"AW_063": Outcome.INCONCLUSIVE}, "", ExitCode.INCONCLUSIVE),
        ({"AW_063": Outcome.PASSED}, "not reached: Running", ExitCode.INCONCLUSIVE),
        ({"AW_063": Outcome.PASSED}, f"given up after 9 events, {LIMIT}", ExitCode.ENVIRONMENT),
        ({"AW_063": Outcome.INCONCLUSIVE, "AW_049": Outcome.FAILED}, "", ExitCode.VIOLATED),
        ({}, "", ExitCode.INCONCLUSIVE),
        ({"AW_063": Outcome.PASSED, "AW_012": Outcome.UNSUPPORTED}, "", ExitCode.INCONCLUSIVE),
        ({"AW_063": Outcome.PASSED, "AW_012": Outcome.SKIPPED}, "", ExitCode.INCONCLUSIVE),
        ({"AW_063": Outcome.PASSED, "AW_049": Outcome.UNSUPPORTED}, "", ExitCode.CONFORMANT),
    ],
)
def test_the_exit_code_follows_the_worst_that_matters(
    outcomes: dict[str, Outcome], error: str, code: ExitCode
) -> None:
    run = msgspec.structs.replace(_with_outcomes(passing_run(), **outcomes), error=error)
    assert ExitCode.of_report(_report(run)) is code


def test_a_core_claim_that_a_profile_leaves_out_is_named_at_the_end() -> None:
    run = _with_outcomes(passing_run(), AW_063=Outcome.PASSED, AW_012=Outcome.UNSUPPORTED)
    (line,) = trouble_lines(_report(run))
    assert line.startswith("NOT CONFORMANT: ")
    assert line.endswith(": AW-012")


def test_features_that_are_lacked_and_those_that_are_switched_off_are_two_lists() -> None:
    suite = msgspec.structs.replace(
        sample_suite(), unsupported_features=("taints",), skipped_features=("webhooks",)
    )
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    (profile,) = report.profiles
    assert profile.extended.unsupported_features == ("taints",)
    assert profile.extended.skipped_features == ("webhooks",)


def test_what_the_implementation_was_allowed_is_that_of_the_histories() -> None:
    run = passing_run()
    facts = {
        "detection_latency_us": 2_000_000,
        "poll_us": 1_000_000,
        "polls_every_us": 60_000_000,
        "profile_sha256": "a" * 64,
    }
    header = with_facts(run.header, **facts)
    report = _report(msgspec.structs.replace(run, header=header))
    assert report.environment.allowances == Allowances(
        latency="2s", poke_every="1s", polls_every="60s", profile_sha256="a" * 64
    )


def test_what_several_operators_were_allowed_is_told_by_role_where_it_differs() -> None:
    run = passing_run()
    header = with_facts(run.header, detection_latency_us=2_000_000)
    late = with_facts(run.header, detection_latency_us=9_000_000)
    both = {**header.operators, "toy": late.first}
    two = msgspec.structs.replace(header, operators=both)
    runs = [msgspec.structs.replace(run, header=each) for each in (header, two)]
    environment = _report(*runs).environment
    assert environment.allowances is None
    told = {role: each.latency for role, each in environment.allowances_by_role.items()}
    assert told == {"appwrapper": "2s", "toy": "9s"}
    same = msgspec.structs.replace(header, operators={**both, "toy": header.first})
    environment = _report(msgspec.structs.replace(run, header=same)).environment
    assert environment.allowances == Allowances(latency="2s")
    assert not environment.allowances_by_role


def test_a_run_that_does_not_repeat_itself_is_no_pass() -> None:
    run = _with_outcomes(passing_run(), AW_063=Outcome.PASSED)
    suite = msgspec.structs.replace(sample_suite(run), rerun=1, mismatches=1)
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    assert ExitCode.of_report(report) is ExitCode.INCONCLUSIVE
    assert any("NOT DETERMINISTIC: 1 of 1 runs" in line for line in trouble_lines(report))


def test_a_run_that_broke_off_is_listed_and_spoils_success() -> None:
    run = msgspec.structs.replace(
        _with_outcomes(passing_run(), AW_063=Outcome.PASSED), error="not reached: Running"
    )
    report = _report(run)
    assert [error.error for error in report.errors] == ["not reached: Running"]
    assert report.result == "partial"


@pytest.mark.parametrize("text", ["../../etc/passwd", "a/b c", "x" * 300, "Ünïcode\x00\n"])
def test_a_slug_is_a_plain_short_file_name(text: str) -> None:
    made = slug(text)
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert 0 < len(made) <= 80


def test_the_report_of_a_selection_is_partial_and_lists_what_was_not_asked_for() -> None:
    (profile,) = _report(passing_run(), claims=("AW-063",)).profiles
    assert profile.core.result == "partial"
    assert profile.core.skipped_tests == ("AW-012", "AW-015")
    assert profile.extended is not None
    assert profile.extended.skipped_tests == ("AW-049",)
    assert "succeeded" not in profile.summary


@pytest.mark.parametrize(
    ("asked", "result", "named"),
    [
        (("AW-012", "AW-015", "AW-049", "AW-063"), "success", ["AW-900"]),
        (("AW-012", "AW-015", "AW-063"), "partial", []),
        (("AW-012", "AW-015", "AW-049", "AW-063", "AW-900"), "success", ["AW-900"]),
    ],
)
def test_a_selection_is_not_incomplete_for_claims_that_no_run_can_judge(
    asked: tuple[str, ...], result: str, named: list[str]
) -> None:
    right = copy(CLAIMS["AW-049"])
    right.id, right.not_judged = "AW-900", "It is a right."
    all_passed = dict.fromkeys((id_.replace("-", "_") for id_ in CLAIMS), Outcome.PASSED)
    run = _with_outcomes(passing_run(), **all_passed)
    suite = msgspec.structs.replace(sample_suite(run), claims=asked)
    claims = {**CLAIMS, right.id: right}
    report = build_report(suite, claims, version="0", git_commit="", date="")
    assert report.result == result
    assert [gap.claim for gap in report.not_covered] == named
    assert not list(incoherences(report, claims))


def test_faults_of_runs_whose_histories_were_not_kept_count_as_tried() -> None:
    run = msgspec.structs.replace(
        passing_run(), entries=(), history_sha256="0" * 64, struck=({"evict": {}, "when": {}},)
    )
    assert _report(run).coverage.fault_classes == "1/4"


def test_the_commit_of_a_changed_checkout_is_marked_as_such(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True)

    code = tmp_path / "conformance" / "report" / "suite_version.py"
    code.parent.mkdir(parents=True)
    code.write_text("x = 1")
    (tmp_path / "README.md").write_text("")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    monkeypatch.setattr(suite_version, "__file__", str(code))
    clean = suite_version.git_commit()
    assert len(clean) == 40
    (tmp_path / "README.md").write_text("changed")
    assert suite_version.git_commit() == clean
    code.write_text("x = 2")
    assert suite_version.git_commit() == f"{clean}-dirty"
