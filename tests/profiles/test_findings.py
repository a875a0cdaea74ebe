"""The findings page: a table of causes, and a section for each with a run that shows it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.profiles.differences import failing_tests, violated
from conformance.profiles.findings import findings, findings_page, issue_text
from conformance.profiles.profile import Difference
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from tests.profiles.test_details import on_control_plane, profile
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, sample_suite
from vocabulary.history import write_history


@pytest.fixture(scope="module")
def report() -> ConformanceReport:
    return build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")


def cause(report: ConformanceReport, **fields: object) -> Difference:
    (claim,) = violated(report)
    known = Difference(
        id="cache-is-behind",
        claims=(claim.id,),
        fault="implementation",
        because="Its cache is behind.",
        link="https://example.com/blob/v1/pkg/cache.go#L7",
    )
    return msgspec.structs.replace(known, **fields)


def test_a_section_has_what_was_expected_what_happened_a_run_and_a_line_of_source(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = failing_tests(claim)
    assert failing.first_violation is not None
    page = findings_page(report, profile(cause(report)))
    section = page.partition("\n## cache-is-behind\n")[2]
    assert f"Expected: {claim.text}\nHappened: {failing.first_violation.because}" in section
    link = "[cache.go#L7](https://example.com/blob/v1/pkg/cache.go#L7)"
    assert f"Its cache is behind. ({link})" in section
    assert f"- `{failing.scenario}`: " in section
    assert f"| [cache-is-behind](#cache-is-behind) | {claim.id} | 1 |" in page
    assert "Not explained yet" not in page


def test_a_violation_that_nobody_explains_stands_above_the_table(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = failing_tests(claim)
    above = findings_page(report, profile()).partition("| cause |")[0]
    assert f"**Not explained yet**: {claim.id} in {failing.scenario}." in above


def test_not_reproduced_and_not_run_there_are_told_apart(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    known = profile(cause(report))
    same = findings_page(report, known, [on_control_plane(report, report.claims)])
    assert "| 1 | 1 |" in same and "- the same on the control plane" in same
    sound = [
        msgspec.structs.replace(test, outcome=Outcome.PASSED, first_violation=None)
        for test in claim.tests
    ]
    passed = msgspec.structs.replace(claim, outcome=Outcome.PASSED, tests=tuple(sound))
    page = findings_page(report, known, [on_control_plane(report, (passed,))])
    assert "- only in virtual time; control plane" in page
    assert "control plane: not reproduced in 1" in page
    page = findings_page(report, known, [on_control_plane(report, ())])
    assert "; control plane: not run there" in page


def test_the_example_is_one_that_both_clusters_show(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    (failing,) = failing_tests(claim)
    longer = msgspec.structs.replace(
        failing, name="toy/longer", virtual_seconds=9e9, history_sha256="f" * 64
    )
    both = msgspec.structs.replace(claim, tests=(*claim.tests, longer))
    here = msgspec.structs.replace(report, claims=(both,))
    there = on_control_plane(report, (msgspec.structs.replace(claim, tests=(longer,)),))
    known = profile(cause(report))
    assert findings(here, known)[0].example.test.scenario == failing.scenario
    assert findings(here, known, [there])[0].example.test.scenario == "toy/longer"


def test_what_the_other_cluster_alone_shows_is_not_lost(report: ConformanceReport) -> None:
    nothing = msgspec.structs.replace(report, claims=())
    page = findings_page(nothing, profile(cause(report)), [on_control_plane(report, report.claims)])
    assert "\n## cache-is-behind\n" in page


def test_readings_of_the_text_and_the_letter_of_the_norm_come_last(
    report: ConformanceReport,
) -> None:
    nothing = msgspec.structs.replace(report, claims=())
    reading = profile(cause(report, fault="text"))
    assert "read in another way\n\n- **cache-is-behind**" in findings_page(report, reading)
    assert "letter of the norm" not in findings_page(report, reading, literal=report)
    page = findings_page(nothing, profile(cause(report)), literal=report)
    assert "## By the letter of the norm, also\n\n- **cache-is-behind**" in page


def test_an_issue_has_the_manifests_and_the_faults_of_the_history(
    report: ConformanceReport, tmp_path: Path
) -> None:
    (found,) = findings(report, profile(cause(report)))
    run = failing_run()
    path = tmp_path / found.example.test.history
    path.parent.mkdir(parents=True, exist_ok=True)
    write_history(path, run.header, run.entries)
    text = issue_text(found, report, tmp_path)
    assert text.startswith("# Cache is behind\n")
    assert "**Expected**: " in text and "**Happened**: " in text
    steps = text.partition("**Steps**")[2].partition("**Cause**")[0]
    assert "apply:\n\n   ```yaml\n   apiVersion: workload.codeflare.dev/v1beta2" in steps
    assert "uid:" not in steps and "status:" not in steps


def test_an_issue_without_a_history_lists_the_faults(report: ConformanceReport) -> None:
    (found,) = findings(report, profile(cause(report)))
    text = issue_text(found, report, Path("nowhere"))
    (first, *_) = found.example.test.faults
    assert f"\n1. {first}\n" in text
