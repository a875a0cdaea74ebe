"""The details of findings list all violations of a report, claim by claim, with their causes."""

from __future__ import annotations

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.profiles.details import details_page
from conformance.profiles.differences import (
    another_implementation,
    failing_tests,
    unexplained,
    violated,
)
from conformance.profiles.profile import Difference, ImplementationProfile, Lack
from conformance.profiles.reading import read_profile
from conformance.report.build import build_report
from conformance.report.conformance_report import ClaimReport, ConformanceReport
from conformance.report.run_result import Implementation
from conformance.suite import shipped_profiles
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite


@pytest.fixture(scope="module")
def report() -> ConformanceReport:
    return build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")


def profile(*known: Difference) -> ImplementationProfile:
    released = read_profile(shipped_profiles()["appwrapper-v1.1.2"])
    return msgspec.structs.replace(released, known_differences=known)


def test_a_violation_is_shown_with_sentence_evidence_plan_and_the_profiles_reason(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    reason = "Its cache is behind."
    known = Difference(claims=(claim.id,), fault="implementation", because=reason, link="https://x")
    page = details_page(report, profile(known))
    assert f"## {claim.id}\n\n**{claim.text}**" in page
    assert str(claim.source) in page
    assert f"**At fault**: the implementation. {reason} ([source](https://x))" in page
    failing = next(test for test in claim.tests if test.first_violation is not None)
    assert failing.first_violation is not None
    assert failing.first_violation.because in page
    assert f"`{failing.name}`, seed {failing.seed}, faults: " in page
    assert unexplained(report, profile(known)) == []


def test_how_slow_the_machine_was_stands_beside_the_evidence(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    histories = {test.history for test in claim.tests}
    page = details_page(report, profile(), dict.fromkeys(histories, 1_234_567))
    assert "slow by 1.2s (median), at most 1.2s." in page
    # 2 s of latency, 1 s until it is poked, and 1 s since its clock is coarse.
    assert "Each reaction was allowed 5.2s (median), at most 5.2s." in page
    assert "The machine was slow by 1.2s.\n- **Smallest plan**" in page
    assert "The machine was" not in details_page(report, profile())


def on_control_plane(
    report: ConformanceReport, claims: tuple[ClaimReport, ...]
) -> ConformanceReport:
    there = msgspec.structs.replace(report.environment, cluster="control-plane")
    return msgspec.structs.replace(report, environment=there, claims=claims)


def test_each_finding_tells_if_another_cluster_shows_it(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    total, bad = len(claim.tests), len(failing_tests(claim))
    same = details_page(report, profile(), beside=[on_control_plane(report, report.claims)])
    assert "| claim | name | at fault | scenarios | control plane |" in same
    assert f"| {bad} of {total} | {bad} of {total} |" in same
    assert f"violated in {bad} of {total} scenarios, of which {bad} are among these." in same

    sound = [
        msgspec.structs.replace(test, outcome=Outcome.PASSED, first_violation=None)
        for test in claim.tests
    ]
    passed = msgspec.structs.replace(claim, outcome=Outcome.PASSED, tests=tuple(sound))
    page = details_page(report, profile(), beside=[on_control_plane(report, (passed,))])
    assert f"| {bad} of {total} | 0 of {total} |" in page
    assert "**On the control plane**: not reproduced, in" in page

    page = details_page(report, profile(), beside=[on_control_plane(report, ())])
    assert f"| {bad} of {total} | not judged |" in page


def test_a_violation_that_the_other_cluster_alone_shows_is_not_lost(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    nothing = msgspec.structs.replace(report, claims=())
    other = on_control_plane(report, report.claims)
    known = Difference(claims=(claim.id,), fault="implementation", because="Its cache is behind.")
    page = details_page(nothing, profile(known), beside=[other])
    assert "## Violated on the control plane alone" in page
    assert f"- {claim.id} ({claim.name}), in " in page
    assert "Its cache is behind." in page.partition("control plane alone")[2].splitlines()[2]


def test_a_violation_beside_that_nobody_explains_is_told_with_its_cluster(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = failing_tests(claim)
    nothing = msgspec.structs.replace(report, claims=())
    other = on_control_plane(report, report.claims)
    there = f"{claim.id} in {failing.scenario} on control-plane"
    assert unexplained(nothing, profile(), [other]) == [there]
    assert unexplained(report, profile(), [other])[1:] == [there]
    known = Difference(claims=(claim.id,), fault="implementation", because="Its cache is behind.")
    assert unexplained(report, profile(known), [other]) == []

    sound = msgspec.structs.replace(failing, outcome=Outcome.PASSED, first_violation=None)
    later = msgspec.structs.replace(claim, outcome=Outcome.PASSED, tests=(sound,))
    again = on_control_plane(report, (later,))
    assert unexplained(nothing, profile(), [other, again]) == []


def test_the_page_names_what_is_not_explained_on_the_other_cluster(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = failing_tests(claim)
    elsewhere = msgspec.structs.replace(failing, name="toy/elsewhere")
    more = msgspec.structs.replace(claim, tests=(*claim.tests, elsewhere))
    other = on_control_plane(report, (more,))
    known = Difference(
        claims=(claim.id,),
        fault="implementation",
        because="Its cache is behind.",
        scenarios=(failing.scenario,),
    )
    page = details_page(report, profile(known), beside=[other])
    assert "of which 1 are among these. Not explained yet in `elsewhere`." in page
    nothing = msgspec.structs.replace(report, claims=())
    page = details_page(nothing, profile(known), beside=[other])
    assert "Its cache is behind. Not explained yet in `elsewhere`." in page


def test_the_command_of_a_finding_names_cluster_and_edition(report: ConformanceReport) -> None:
    asked = "assay run appwrapper --edition kep --implementation appwrapper-v1.1.2"
    reproduce = msgspec.structs.replace(report.reproduce, command=asked)
    in_virtual_time = msgspec.structs.replace(report, reproduce=reproduce)
    assert "virtual time" in details_page(in_virtual_time, profile())
    of_page = [
        line
        for line in details_page(in_virtual_time, profile()).splitlines()
        if line.endswith("shows it.")
    ]
    assert all("--edition kep --seed" in line and "--cluster" not in line for line in of_page)
    real = details_page(on_control_plane(in_virtual_time, report.claims), profile())
    assert of_page and "--cluster control-plane --implementation" in real


def test_a_claim_may_be_broken_for_several_reasons(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    known = profile(
        Difference(claims=(claim.id,), fault="implementation", because="Its cache is behind."),
        Difference(claims=(claim.id,), fault="text", because="It says nothing of caches."),
    )
    page = details_page(report, known)
    assert f"{claim.name} | the implementation, the text |" in page
    assert "read in another" not in page.partition("| claim |")[0]
    assert (
        "**At fault**: the implementation. Its cache is behind.\n- **At fault**: the text" in page
    )


def test_a_violation_that_nobody_explains_is_shown_as_such(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    (failing,) = (test for test in claim.tests if test.outcome is Outcome.FAILED)
    assert unexplained(report, profile()) == [f"{claim.id} in {failing.scenario}"]
    page = details_page(report, profile())
    assert "- **At fault**: not decided yet, in `" in page
    assert f"[{claim.id}](#{claim.id.lower()}) | {claim.name} | unexplained |" in page


def test_a_reason_explains_the_scenarios_that_it_names_and_no_others(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = (test for test in claim.tests if test.outcome is Outcome.FAILED)
    reason = Difference(claims=(claim.id,), fault="suite", because="It asks too early.")
    suite, _, _ = failing.scenario.partition("/")
    there = msgspec.structs.replace(reason, scenarios=(f"{suite}/*",))
    assert unexplained(report, profile(there)) == []
    assert "**At fault**: the suite, which sees" in details_page(report, profile(there))
    elsewhere = profile(msgspec.structs.replace(reason, scenarios=("elsewhere/*",)))
    assert unexplained(report, elsewhere) == [f"{claim.id} in {failing.scenario}"]
    assert "| unexplained |" in details_page(report, elsewhere)


def test_a_reason_explains_the_campaigns_that_it_names_in_any_scenario(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = (test for test in claim.tests if test.outcome is Outcome.FAILED)
    drawn = msgspec.structs.replace(failing, name=f"{failing.scenario} [random plan 2 of 8]")
    explored = msgspec.structs.replace(
        report, claims=(msgspec.structs.replace(claim, tests=(drawn,)),)
    )
    reason = Difference(
        claims=(claim.id,),
        fault="implementation",
        because="Its cache is behind.",
        scenarios=("elsewhere/*",),
        variants=("random plan *",),
    )
    assert unexplained(explored, profile(reason)) == []
    assert unexplained(report, profile(reason)) == [f"{claim.id} in {failing.scenario}"]
    anywhere = msgspec.structs.replace(reason, scenarios=())
    assert unexplained(explored, profile(anywhere)) == []
    assert unexplained(report, profile(anywhere)) == [f"{claim.id} in {failing.scenario}"]


def test_a_page_of_another_version_is_none_of_this_profile(report: ConformanceReport) -> None:
    made = profile().implementation
    of_it = Implementation(
        organization=made.organization, project=made.project, url=made.url, version=made.version
    )
    same = msgspec.structs.replace(report, implementation=of_it)
    assert another_implementation(same, profile()) is None
    later = msgspec.structs.replace(of_it, version="v9")
    other = msgspec.structs.replace(report, implementation=later)
    assert another_implementation(other, profile()) == "project-codeflare/appwrapper v9"


def test_what_the_implementation_was_allowed_is_stated(report: ConformanceReport) -> None:
    page = details_page(report, profile())
    assert "edits what is tested every 1s" in page
    assert "1s early" in page
    assert "Assay grants configmaps" in page


def test_a_reason_that_the_evidence_does_not_show_explains_nothing(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    (failing,) = (test for test in claim.tests if test.outcome is Outcome.FAILED)
    assert failing.first_violation is not None
    known = Difference(claims=(claim.id,), fault="implementation", because="Its cache is behind.")
    words = (failing.first_violation.because[:20],)
    shown = msgspec.structs.replace(known, shown_by=words)
    assert unexplained(report, profile(shown)) == []
    unshown = msgspec.structs.replace(known, shown_by=("deleted by itself twice",))
    assert unexplained(report, profile(unshown)) == [f"{claim.id} in {failing.scenario}"]
    page = details_page(report, profile(unshown))
    assert "**At fault**: the implementation" not in page


def test_what_only_a_reading_of_the_text_explains_is_not_among_the_violations(
    report: ConformanceReport,
) -> None:
    (claim,) = violated(report)
    reading = Difference(claims=(claim.id,), fault="text", because="It names no phase.")
    page = details_page(report, profile(reading))
    assert f"than Assay decided, these hold:\n{claim.id}. They are listed below" in page
    apart = page.partition("# Where the text can be read in another way")[2]
    assert f"## {claim.id}" in apart


def test_a_known_difference_that_does_not_show_is_listed_and_so_is_what_was_not_judged(
    report: ConformanceReport,
) -> None:
    lack = Lack(feature="webhooks", because="It has none.", claims=("MLB-020", "MLB-021"))
    (claim,) = violated(report)
    stale = profile(
        Difference(
            claims=(claim.id,), fault="text", because="Long repaired.", scenarios=("elsewhere/*",)
        )
    )
    page = details_page(report, msgspec.structs.replace(stale, lacks=(lack,)))
    assert f"- {claim.id}: Long repaired." in page.partition("no report shows")[2]
    assert "- webhooks (MLB-020, MLB-021): It has none." in page
    elsewhere = profile(Difference(claims=("KQ-001",), fault="text", because="Another suite's."))
    assert "no report shows" not in details_page(report, elsewhere)
