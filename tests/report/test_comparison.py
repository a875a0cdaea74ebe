"""Comparison of two reports: regressions are found, and other differences listed."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from conformance.norm.verdict import Outcome, Verdict, Violation
from conformance.report.build import build_report
from conformance.report.comparison import Comparison, Difference, compare_reports
from conformance.report.comparison_json import comparison_json
from conformance.report.comparison_markdown import code, comparison_markdown
from conformance.report.comparison_text import difference_lines, headline, note_lines
from conformance.report.conformance_report import ConformanceReport, ReportError
from conformance.report.run_result import RunResult
from tests.report.hostile import HOSTILE
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, passing_run, sample_suite


def run_with(seconds: float = 10.0, error: str = "", **outcomes: Outcome) -> RunResult:
    """A run of one scenario in which the claims ended so."""
    verdicts = tuple(
        Verdict(claim=claim.replace("_", "-"), outcome=outcome, armed=1, because="as seen")
        for claim, outcome in outcomes.items()
    )
    return msgspec.structs.replace(
        passing_run(), verdicts=verdicts, virtual_seconds=seconds, error=error
    )


def report_of(*runs: RunResult, **suite: Any) -> ConformanceReport:
    whole = msgspec.structs.replace(sample_suite(*runs), **suite)
    return build_report(whole, CLAIMS, version="0.1.0", git_commit="c0ffee", date="2026-01-01")


def compared(before: RunResult, after: RunResult) -> Comparison:
    return compare_reports(report_of(before), report_of(after))


def test_equal_reports_show_no_change() -> None:
    found = compared(failing_run(), failing_run())
    assert found.worse == ""
    assert found.differences == ()
    assert headline(found) == "1 still failing"


def test_a_claim_that_held_and_is_violated_is_newly_failing() -> None:
    found = compared(
        run_with(AW_015=Outcome.PASSED, AW_063=Outcome.PASSED),
        run_with(AW_015=Outcome.FAILED, AW_063=Outcome.PASSED),
    )
    (change,) = found.newly_failing
    assert (change.claim, change.before, change.after) == (
        "AW-015",
        Outcome.PASSED,
        Outcome.FAILED,
    )
    assert change.scenarios == ("appwrapper/success/ttl",)
    assert found.worse == "failing"


def in_one_more_scenario(**options: bool) -> Comparison:
    """A claim that fails in both reports, in the second also where it did not in the first."""
    before = run_with(AW_015=Outcome.FAILED)
    elsewhere = msgspec.structs.replace(before, scenario="appwrapper/b")
    return compare_reports(report_of(before), report_of(before, elsewhere), **options)


def test_a_claim_that_fails_in_one_more_scenario_is_worse_and_not_newly_failing() -> None:
    found = in_one_more_scenario()
    assert [change.scenarios for change in found.failing_further] == [("appwrapper/b",)]
    assert (found.newly_failing, found.still_failing) == ((), ())
    assert found.worse == "failing"
    assert headline(found) == "1 claim failing in further scenarios"


def test_a_claim_that_fails_anew_is_not_failing_in_further_scenarios() -> None:
    found = compared(run_with(AW_015=Outcome.INCONCLUSIVE), run_with(AW_015=Outcome.FAILED))
    assert [change.claim for change in found.newly_failing] == ["AW-015"]
    assert found.failing_further == ()


def test_further_scenarios_decide_nothing_where_that_is_asked_for_and_it_is_said() -> None:
    found = in_one_more_scenario(further_is_worse=False)
    assert found.worse == ""
    assert headline(found) == "1 claim failing in further scenarios"
    for told in ("\n".join(note_lines(found)), comparison_markdown(found)):
        assert "further scenarios decides nothing" in told
    both = compare_reports(
        report_of(run_with(AW_015=Outcome.FAILED, AW_063=Outcome.PASSED)),
        report_of(run_with(AW_015=Outcome.FAILED, AW_063=Outcome.FAILED)),
        further_is_worse=False,
    )
    assert both.worse == "failing"


def test_the_comment_and_the_json_tell_further_scenarios_apart() -> None:
    found = in_one_more_scenario()
    text = comparison_markdown(found)
    assert "❌ Assay: 1 claim failing in further scenarios\n" in text
    assert "#### Failing in further scenarios (1)" in text
    assert "#### Newly failing" not in text
    told = json.loads(comparison_json(found))
    assert (told["worse"], told["newlyFailing"]) == ("failing", [])
    (change,) = told["failingFurther"]
    assert (change["claim"], change["scenarios"]) == ("AW-015", ["appwrapper/b"])
    assert told["current"]["implementation"]["project"] == "appwrapper"
    assert "claims" not in told["current"]


def test_what_is_shown_is_what_was_seen_where_it_fails_newly() -> None:
    def violating(scenario: str, seen: str) -> RunResult:
        violations = (Violation(at=0, because=seen),)
        (verdict,) = run_with(AW_015=Outcome.FAILED).verdicts
        verdict = msgspec.structs.replace(verdict, because=seen, violations=violations)
        return msgspec.structs.replace(passing_run(), scenario=scenario, verdicts=(verdict,))

    known, further = violating("appwrapper/a", "old."), violating("appwrapper/b", "new.")
    found = compare_reports(report_of(known), report_of(known, further))
    (change,) = found.failing_further
    assert (change.scenarios, change.because) == (("appwrapper/b",), "new.")


def test_a_failure_that_was_shrunk_is_quoted_only_where_it_fails_newly() -> None:
    known, further = failing_run(), msgspec.structs.replace(failing_run(), scenario="appwrapper/a")
    smallest = msgspec.structs.replace(known, shrunk="3 nodes → 1")
    after = report_of(known, further, shrunk={"AW-015": smallest})
    fresh = compare_reports(report_of(run_with(AW_015=Outcome.PASSED)), after)
    (change,) = (change for change in fresh.newly_failing if change.claim == "AW-015")
    assert change.scenarios == (known.scenario, further.scenario), "the quoted one comes first"
    assert change.shrunk == "3 nodes → 1"
    (change,) = compare_reports(report_of(known), after).failing_further
    assert (change.scenarios, change.shrunk) == ((further.scenario,), "")


def test_the_same_failure_at_another_crash_point_is_no_change() -> None:
    at_first = msgspec.structs.replace(run_with(AW_015=Outcome.FAILED), variant="crash at 1")
    at_second = msgspec.structs.replace(run_with(AW_015=Outcome.FAILED), variant="crash at 2")
    found = compared(at_first, at_second)
    assert (found.worse, found.still_failing) == ("", ("AW-015",))


@pytest.mark.parametrize("before", [Outcome.PASSED, Outcome.FAILED])
def test_a_verdict_that_turned_inconclusive_is_worse_even_if_it_was_a_failure(
    before: Outcome,
) -> None:
    found = compared(run_with(AW_015=before), run_with(AW_015=Outcome.INCONCLUSIVE))
    assert [change.claim for change in found.newly_inconclusive] == ["AW-015"]
    assert found.worse == "inconclusive"


@pytest.mark.parametrize(
    "after",
    [{}, {"AW_015": Outcome.SKIPPED}, {"AW_015": Outcome.UNSUPPORTED}],
    ids=["absent", "skipped", "unsupported"],
)
def test_a_claim_that_lost_its_verdict_is_no_longer_tested(after: dict[str, Outcome]) -> None:
    found = compared(
        run_with(AW_015=Outcome.PASSED, AW_063=Outcome.PASSED),
        run_with(AW_063=Outcome.PASSED, **after),
    )
    assert [change.claim for change in found.no_longer_tested] == ["AW-015"]
    assert found.worse == "inconclusive"


@pytest.mark.parametrize(
    "before",
    [{}, {"AW_015": Outcome.SKIPPED}, {"AW_015": Outcome.UNSUPPORTED}],
    ids=["absent", "skipped", "unsupported"],
)
def test_a_claim_that_passes_and_was_not_tested_before_is_newly_tested_not_newly_passing(
    before: dict[str, Outcome],
) -> None:
    found = compared(
        run_with(AW_063=Outcome.PASSED, **before),
        run_with(AW_015=Outcome.PASSED, AW_063=Outcome.PASSED),
    )
    assert [change.claim for change in found.newly_tested] == ["AW-015"]
    assert (found.newly_passing, found.worse) == ((), "")
    assert headline(found) == "1 claim newly tested"
    assert "#### Newly tested (1)" in comparison_markdown(found)
    assert len(json.loads(comparison_json(found))["newlyTested"]) == 1


def test_a_claim_that_fails_and_was_not_tested_before_does_not_pass_the_gate() -> None:
    found = compared(
        run_with(AW_063=Outcome.PASSED),
        run_with(AW_015=Outcome.FAILED, AW_063=Outcome.PASSED),
    )
    assert [change.claim for change in found.newly_failing] == ["AW-015"]
    assert (found.newly_tested, found.worse) == ((), "failing")


@pytest.mark.parametrize("before", [Outcome.FAILED, Outcome.INCONCLUSIVE])
def test_a_claim_that_holds_now_and_did_not_is_newly_passing_and_nothing_is_worse(
    before: Outcome,
) -> None:
    found = compared(run_with(AW_015=before), run_with(AW_015=Outcome.PASSED))
    assert [change.claim for change in found.newly_passing] == ["AW-015"]
    assert found.worse == ""


def test_a_run_that_newly_broke_off_is_worse_though_no_claim_changed() -> None:
    before, after = (run_with(AW_015=Outcome.PASSED, error=error) for error in ("", "no node"))
    found = compared(before, after)
    assert [error.error for error in found.newly_broken_off] == ["no node"]
    assert found.worse == "inconclusive"
    assert compared(after, after).worse == ""


@pytest.mark.parametrize(
    ("before", "after", "is_slower"),
    [(10.0, 10.9, False), (10.0, 12.0, True), (2.0, 2.5, False), (100.0, 109.0, False)],
)
def test_slower_in_virtual_time_means_a_tenth_and_a_second_and_decides_nothing(
    before: float, after: float, is_slower: bool
) -> None:
    found = compared(
        run_with(before, AW_015=Outcome.PASSED), run_with(after, AW_015=Outcome.PASSED)
    )
    assert bool(found.slower) is is_slower
    assert found.worse == ""


@pytest.mark.parametrize("other", [{"clock": "wall"}, {"seed": 2}])
def test_times_of_two_clocks_or_two_seeds_are_not_compared_and_that_is_said(
    other: dict[str, Any],
) -> None:
    fast, slow = (run_with(seconds, AW_015=Outcome.PASSED) for seconds in (1.0, 1_000.0))
    found = compare_reports(report_of(fast), report_of(slow, **other))
    assert found.slower == ()
    assert "were not compared" in " ".join(note_lines(found))


def test_whatever_makes_two_reports_hard_to_compare_is_said() -> None:
    one = report_of(run_with(AW_015=Outcome.PASSED))
    other = report_of(
        run_with(AW_015=Outcome.PASSED, AW_063=Outcome.FAILED),
        seed=7,
        cluster="control-plane",
        command="assay run AW-015 --seed 7",
    )
    claims = tuple(
        msgspec.structs.replace(claim, text="Another sentence.") for claim in other.claims
    )
    suite = msgspec.structs.replace(other.suite, claims_digest="0" * 64)
    other = msgspec.structs.replace(other, claims=claims, suite=suite)
    told = " ".join(found.told() for found in compare_reports(one, other).differences)
    for word in ("seed", "cluster", "command", "claims digest"):
        assert f"The {word} differs" in told
    assert "Claims with another text or source: AW-015." in told
    assert "Claims that the baseline does not have: AW-063." in told


def test_reports_without_a_common_claim_are_refused() -> None:
    with pytest.raises(ReportError, match="no claim in common"):
        compared(run_with(AW_015=Outcome.PASSED), run_with(AW_063=Outcome.PASSED))


def test_the_comment_is_marked_and_has_a_row_for_each_change() -> None:
    found = compared(
        run_with(AW_015=Outcome.PASSED, AW_063=Outcome.FAILED),
        run_with(AW_015=Outcome.FAILED, AW_063=Outcome.PASSED),
    )
    text = comparison_markdown(found)
    assert text.startswith("<!-- assay compare -->\n### ❌ Assay: 1 claim newly failing")
    assert "#### Newly failing (1)" in text
    assert "| `AW-015 quota-released-after-last-pod` | Core | passed | failed |" in text
    assert "#### Newly passing (1)" in text


@pytest.mark.parametrize("text", [*HOSTILE, "@everyone | `code` |", "a\n\n| b | c |"])
def test_text_of_a_stranger_stays_in_its_code_span_and_its_cell(text: str) -> None:
    span = code(text)
    assert span[0] == span[-1] == "`"
    assert "`" not in span[1:-1]
    assert "\n" not in span
    assert "|" not in span.replace("\\|", "")


def test_long_lists_of_claims_are_short_for_people_and_whole_for_programs() -> None:
    ids = tuple(f"AW-{number:03}" for number in range(1, 31))
    found = msgspec.structs.replace(
        compared(failing_run(), failing_run()),
        differences=(Difference("Claims that the baseline does not have", ids),),
        still_failing=ids,
    )
    short = f"{', '.join(ids[:8])} and 22 more"
    terminal = "\n".join((*difference_lines(found), *note_lines(found)))
    for told in (terminal, comparison_markdown(found)):
        assert told.count(short) == 2
        assert ids[8] not in told
    told = json.loads(comparison_json(found))
    whole = ", ".join(ids)
    assert told["differences"] == [f"Claims that the baseline does not have: {whole}."]
    assert told["stillFailing"] == list(ids)


def test_a_comment_of_the_worst_comparison_still_fits_into_a_pull_request() -> None:
    many = {f"AW_{number:03}": Outcome.PASSED for number in range(400)}
    claims = {id_.replace("_", "-"): CLAIMS["AW-015"] for id_ in many}
    outcomes = dict.fromkeys(many, Outcome.FAILED)

    def report(wanted: dict[str, Outcome]) -> ConformanceReport:
        verdicts = tuple(
            Verdict(claim=id_.replace("_", "-"), outcome=outcome, armed=1, because="x" * 2_000)
            for id_, outcome in wanted.items()
        )
        run = msgspec.structs.replace(passing_run(), verdicts=verdicts)
        built = build_report(sample_suite(run), claims, version="", git_commit="", date="")
        named = tuple(
            msgspec.structs.replace(claim, id=id_)
            for claim, id_ in zip(built.claims, sorted(claims), strict=True)
        )
        return msgspec.structs.replace(built, claims=named)

    text = comparison_markdown(compare_reports(report(many), report(outcomes)))
    assert len(text) < 65_536
    assert "and 360 more" in text
