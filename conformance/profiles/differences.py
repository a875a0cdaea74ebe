"""The known differences of a profile, as reports show them.

All evidence comes from reports; the profile's `knownDifferences` add the cause and the fault, which
no run can show.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from conformance import editions
from conformance.norm.verdict import Outcome
from conformance.profiles.profile import Difference, ImplementationProfile, Origin
from conformance.report.agreement import together
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.run_result import Implementation

FAULTS: Final = {
    "implementation": "the implementation",
    "text": "the text, which can be read in another way than Assay's decision",
    "suite": "the suite, which sees a violation where there is none",
}
SHOWN_ON: Final[Mapping[str, str]] = {
    "simulated": "virtual time",
    "control-plane": "control plane",
}
"""By cluster, as pages call it; others by their names."""


def violated(report: ConformanceReport) -> list[ClaimReport]:
    """The claims that the report says are violated, in its order."""
    return [claim for claim in report.claims if claim.outcome is Outcome.FAILED]


def unexplained(
    report: ConformanceReport,
    profile: ImplementationProfile,
    beside: Iterable[ConformanceReport] = (),
) -> list[str]:
    """The violations of which the profile does not say who is at fault: `AW-001 in SCENARIO`, and
    `AW-001 in SCENARIO on CLUSTER` of those in reports `beside` it."""
    found = [(report, "")]
    found += [(each, f" on {each.environment.cluster}") for each in by_cluster(beside).values()]
    return [
        f"{claim.id} in {test.scenario}{where}"
        for each, where in found
        for claim in violated(each)
        for test in unexplained_in(claim, profile)
    ]


def another_implementation(report: ConformanceReport, profile: ImplementationProfile) -> str | None:
    """The report's implementation, if it is not the profile's."""
    told, made = report.implementation, profile.implementation
    if (told.organization, told.project, told.version) == (
        made.organization,
        made.project,
        made.version,
    ):
        return None
    return spelled(told)


def spelled(made: Implementation | Origin) -> str:
    """An implementation and its version: `organization/project v1.0.0`."""
    return f"{made.organization}/{made.project} {made.version}"


def edition_of(report: ConformanceReport) -> str:
    """The edition that was asked for; empty: the default one."""
    words = shlex.split(report.reproduce.command)
    return words[words.index("--edition") + 1] if "--edition" in words else ""


def judged_by(report: ConformanceReport, profile: ImplementationProfile) -> str:
    """The edition of the profile's suite whose claims the report judged; empty if it has none."""
    return editions.edition_of(profile.suite, report.suite.editions)


def command_of(
    test: ClaimTest, *, cluster: str, release: str, edition: str, seed: int | None = None
) -> str:
    """The command that makes the same run of a release."""
    words = ["assay", "run", test.scenario]
    words += [] if cluster == "simulated" else ["--cluster", cluster]
    words += ["--implementation", release]
    words += ["--edition", edition] if edition else []
    words += [] if seed is None else ["--seed", str(seed)]
    return shlex.join(words)


def by_cluster(reports: Iterable[ConformanceReport]) -> dict[str, ConformanceReport]:
    """The reports of each cluster as one, by the word for the cluster. Later verdicts count."""
    found: dict[str, ConformanceReport] = {}
    for report in reports:
        word = shown_on(report)
        found[word] = together(found[word], report) if word in found else report
    return found


@dataclass(frozen=True, slots=True)
class Sighting:
    """One scenario of one report in which a known difference violates a claim."""

    release: str
    """The profile's name."""
    claim: ClaimReport
    test: ClaimTest
    cluster: str
    edition: str
    """Empty: the default one."""

    @property
    def command(self) -> str:
        """The command that makes the same run."""
        return command_of(
            self.test, cluster=self.cluster, release=self.release, edition=self.edition
        )

    @property
    def simplicity(self) -> tuple[int, float, str]:
        """The sort key of the one that needs the fewest faults and is shown soonest."""
        return len(self.test.faults), self.test.virtual_seconds, self.test.scenario

    @property
    def position(self) -> int:
        """The position of the violation in the run's history."""
        first = self.test.first_violation
        return 0 if first is None else first.position


def sightings(
    report: ConformanceReport, profile: ImplementationProfile, known: Difference
) -> Iterator[Sighting]:
    """Where a report shows a known difference."""
    cluster, edition = report.environment.cluster, edition_of(report)
    for claim in violated(report):
        for test in failing_tests(claim):
            if explains(known, claim.id, test):
                yield Sighting(profile.name, claim, test, cluster, edition)


def explains(known: Difference, claim: str, test: ClaimTest) -> bool:
    """True if the profile names this reason for the claim in that run and the violation there
    shows it."""
    patterns = known.scenarios or (() if known.variants else ("*",))
    is_named = any(fnmatchcase(test.scenario, each) for each in patterns) or any(
        fnmatchcase(test.variant, each) for each in known.variants
    )
    if claim not in known.claims or not is_named:
        return False
    evidence = evidence_of(test)
    return not known.shown_by or any(phrase in evidence for phrase in known.shown_by)


def evidence_of(test: ClaimTest) -> str:
    """The text of the first violation of a test."""
    return test.because if test.first_violation is None else test.first_violation.because


def failing_tests(claim: ClaimReport) -> list[ClaimTest]:
    """The scenarios in which a claim is violated."""
    return [test for test in claim.tests if test.outcome is Outcome.FAILED]


def reasons_of(claim: ClaimReport, profile: ImplementationProfile) -> list[Difference]:
    """Why it is violated where it is, in the profile's words; there may be several reasons."""
    failing = failing_tests(claim)
    return [
        known
        for known in profile.known_differences
        if any(explains(known, claim.id, test) for test in failing)
    ]


def unexplained_in(claim: ClaimReport, profile: ImplementationProfile) -> list[ClaimTest]:
    """Where it is violated and no reason of the profile's is of that scenario."""
    return [
        test
        for test in failing_tests(claim)
        if not any(explains(known, claim.id, test) for known in profile.known_differences)
    ]


def shown_on(report: ConformanceReport) -> str:
    return SHOWN_ON.get(report.environment.cluster, report.environment.cluster)


def in_one_line(text: str) -> str:
    return " ".join(text.split())
