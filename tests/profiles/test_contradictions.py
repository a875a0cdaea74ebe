"""Why two reports of one implementation contradict each other."""

from __future__ import annotations

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.profiles.contradictions import Contradiction, by_cause, contradictions
from conformance.profiles.differences import violated
from conformance.profiles.profile import Difference, ImplementationProfile
from conformance.profiles.reading import read_profile
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from conformance.suite import shipped_profiles
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite


@pytest.fixture(scope="module")
def shown() -> ConformanceReport:
    """One violation."""
    return build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")


@pytest.fixture(scope="module")
def hidden(shown: ConformanceReport) -> ConformanceReport:
    """The same runs, with nothing violated."""
    claims = []
    for claim in shown.claims:
        tests = tuple(
            msgspec.structs.replace(test, outcome=Outcome.PASSED, first_violation=None)
            if test.outcome is Outcome.FAILED
            else test
            for test in claim.tests
        )
        claims.append(msgspec.structs.replace(claim, tests=tests))
    return msgspec.structs.replace(shown, claims=tuple(claims))


def found(
    first: ConformanceReport, other: ConformanceReport, *known: Difference
) -> list[Contradiction]:
    released = read_profile(shipped_profiles()["appwrapper-v1.1.2"])
    profile: ImplementationProfile = msgspec.structs.replace(released, known_differences=known)
    return list(contradictions(first, other, profile))


def cause(report: ConformanceReport, varies: str) -> Difference:
    (claim,) = violated(report)
    return Difference(
        claims=(claim.id,), fault="implementation", because="Its cache is behind.", varies=varies
    )


def test_two_reports_that_agree_have_no_contradiction(shown: ConformanceReport) -> None:
    assert found(shown, shown) == []


def test_a_contradiction_is_explained_by_a_cause_that_varies(
    shown: ConformanceReport, hidden: ConformanceReport
) -> None:
    steady, varying = cause(shown, ""), cause(shown, "Events may\nbe late.")
    (each,) = found(shown, hidden, steady, varying)
    assert each.is_first
    assert each.cause == varying
    (claim,) = violated(shown)
    assert by_cause([each], "simulated", "kind") == [
        "| claims | violated on simulated | violated on kind | cause | why not on both |",
        "|---|---:|---:|---|---|",
        f"| {claim.id} | 1 | 0 | Its cache is behind. | Events may be late. |",
        "| all | 1 | 0 | | |",
    ]


def test_a_cause_that_shows_always_explains_no_contradiction(
    shown: ConformanceReport, hidden: ConformanceReport
) -> None:
    (each,) = found(hidden, shown, cause(shown, ""))
    assert not each.is_first
    assert each.cause is None
    assert str(each) == f"{each.claim} in {each.violation.scenario}"
    assert "| 0 | 1 | not known | not known |" in by_cause([each], "simulated", "kind")[2]
