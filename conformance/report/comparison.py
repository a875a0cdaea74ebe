"""Two reports, claim by claim: improvements and regressions of a change.

A claim is *newly failing* if it fails now and did not before, including claims not tested before;
*failing in further scenarios* if it failed before and fails now in a scenario in which it did not;
*newly inconclusive* if it had a verdict and is inconclusive now; *no longer tested* if it had a
verdict and is not in the current report, or was skipped there. *Newly passing* is an improvement:
it failed, or was inconclusive. One that passes and was not tested before is *newly tested*, which
does not depend on the controller's change. A claim that fails in both reports, in the same
scenarios, is unchanged.

A selection's report has the selected claims, and any other violation. If such a violation is
missing in the current report, it is *no longer failing* if that report's histories show that it
held where it had failed (`held_unasked`); else it is no longer tested.

Failing in further scenarios is worse, unless the caller allows it: in virtual time a
controller's change caused it. On a real cluster it may be a race that was won the time before.

A scenario is *slower* by a rule that depends on the clock (`RULES`), and only between runs of
one seed, without a campaign's faults. In virtual time only the controller's behavior can change
it: a busy machine cannot. It is informational.

Differences that make two reports hard to compare (seed, norm, cluster, selection) are listed in
`differences`, never corrected for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import (
    ClaimReport,
    ClaimTest,
    ConformanceReport,
    ReportError,
    RunError,
)
from conformance.report.counted import first_few

Worse: TypeAlias = Literal["", "inconclusive", "failing"]

_DECIDED: Final = (Outcome.PASSED, Outcome.FAILED)
_NOT_RUN: Final = (None, Outcome.SKIPPED, Outcome.UNSUPPORTED)


class SlownessRule(NamedTuple):
    """A scenario is slower if it takes `factor` times as long and `least_seconds` longer."""

    factor: float
    least_seconds: float


RULES: Final = {
    "virtual": SlownessRule(factor=1.1, least_seconds=1.0),
    # Durations follow a real cluster's pace, so that only what is far off says anything.
    "wall": SlownessRule(factor=2.0, least_seconds=10.0),
}


class ClaimChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A claim whose outcome is another one than in the baseline."""

    claim: str
    name: str
    level: str
    before: Outcome | None
    """None: the baseline does not have it."""
    after: Outcome | None
    because: str
    """Of a claim that fails: what the page of the first of `scenarios` shows."""
    scenarios: tuple[str, ...] = ()
    """Of a claim that fails: where it does now and did not before, by test name."""
    shrunk: str = ""
    """The reduction of the run that `because` quotes: `3 nodes → 1`. Empty: not shrunk,
    quoted as found."""


class Slowdown(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One scenario that takes longer than it did, on the cluster's clock."""

    scenario: str
    before_seconds: float
    after_seconds: float


class Difference(NamedTuple):
    """Something else than outcomes that differs between two reports."""

    what: str
    claims: tuple[str, ...] = ()
    """Those that it is about, if it is about some."""

    def told(self, most: int = 0) -> str:
        """As a sentence, which names so many claims; 0: all of them."""
        return f"{self.what}: {first_few(self.claims, most)}." if self.claims else self.what


class Comparison(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The differences between two reports; all lists in order of ids or names."""

    baseline: ConformanceReport
    current: ConformanceReport
    newly_failing: tuple[ClaimChange, ...]
    failing_further: tuple[ClaimChange, ...]
    """Claims that failed before; `scenarios` says in which further ones they do now."""
    newly_inconclusive: tuple[ClaimChange, ...]
    no_longer_tested: tuple[ClaimChange, ...]
    newly_passing: tuple[ClaimChange, ...]
    newly_tested: tuple[ClaimChange, ...]
    """Claims that pass; one that fails is newly failing, whatever there was before."""
    no_longer_failing: tuple[ClaimChange, ...]
    """Claims not selected, that were violated before, and that were seen to hold now."""
    still_failing: tuple[str, ...]
    newly_broken_off: tuple[RunError, ...]
    """Runs that did not come to their end now, and did in the baseline."""
    slower: tuple[Slowdown, ...]
    times: str
    """How times were compared, or why they were not: a sentence."""
    differences: tuple[Difference, ...]
    """Other differences between the two reports."""
    further_is_worse: bool = True
    """True if failing in further scenarios counts in `worse`."""

    @property
    def worse(self) -> Worse:
        """`failing` if a promise broke; `inconclusive` if one can no longer be relied on."""
        if self.newly_failing or (self.further_is_worse and self.failing_further):
            return "failing"
        lost = self.newly_inconclusive or self.no_longer_tested or self.newly_broken_off
        unreliable = self.current.checker_errors or self.current.interrupted
        return "inconclusive" if lost or unreliable else ""


def compare_reports(
    baseline: ConformanceReport,
    current: ConformanceReport,
    *,
    held: Collection[str] = (),
    further_is_worse: bool = True,
) -> Comparison:
    """The comparison; ReportError if the two have no claim in common.

    `held` are claims that the current report does not have, and that were seen to hold.
    """
    before = {claim.id: claim for claim in baseline.claims}
    after = {claim.id: claim for claim in current.claims}
    if not before.keys() & after.keys():
        raise ReportError(
            f"the baseline ({_suites(baseline)}) and the current report ({_suites(current)}) "
            "have no claim in common; compare reports of one suite"
        )
    changes = [
        _change(before.get(id_), after.get(id_)) for id_ in sorted(before.keys() | after.keys())
    ]
    failing = [change for change in changes if change.after is Outcome.FAILED]
    passing = [change for change in changes if change.after is Outcome.PASSED]
    failed_before = [change for change in failing if change.before is Outcome.FAILED]
    mended = tuple(
        change
        for change in changes
        if change.before is Outcome.FAILED and change.after is None and change.claim in held
    )
    broken_before = {(error.name, error.seed) for error in baseline.errors}
    return Comparison(
        baseline=baseline,
        current=current,
        newly_failing=tuple(change for change in failing if change not in failed_before),
        failing_further=tuple(change for change in failed_before if change.scenarios),
        newly_inconclusive=tuple(
            change
            for change in changes
            if change.before in _DECIDED and change.after is Outcome.INCONCLUSIVE
        ),
        no_longer_tested=tuple(
            change
            for change in changes
            if change.before in _DECIDED and change.after in _NOT_RUN and change not in mended
        ),
        newly_passing=tuple(
            change for change in passing if change.before in (Outcome.FAILED, Outcome.INCONCLUSIVE)
        ),
        newly_tested=tuple(change for change in passing if change.before in _NOT_RUN),
        no_longer_failing=mended,
        still_failing=tuple(change.claim for change in failed_before if not change.scenarios),
        newly_broken_off=tuple(
            error for error in current.errors if (error.name, error.seed) not in broken_before
        ),
        slower=tuple(_slower(baseline, current)),
        times=_times(baseline, current),
        differences=tuple(_differences(baseline, current)),
        further_is_worse=further_is_worse,
    )


def _change(before: ClaimReport | None, after: ClaimReport | None) -> ClaimChange:
    known = after or before
    assert known is not None
    newly = _new_failures(before, after)
    shown = _shown(after, newly)
    return ClaimChange(
        claim=known.id,
        name=known.name,
        level=known.level,
        before=None if before is None else before.outcome,
        after=None if after is None else after.outcome,
        because=shown.because,
        scenarios=tuple(sorted((test.name for test in newly), key=lambda name: name != shown.test)),
        shrunk=shown.shrunk,
    )


class _Shown(NamedTuple):
    """The quotation for a claim; its test, if any; its reduction."""

    because: str
    test: str = ""
    shrunk: str = ""


def _shown(claim: ClaimReport | None, newly: Sequence[ClaimTest]) -> _Shown:
    """The first evidence in a newly failing test; without one, the current report's reason.

    Of a failure that was shrunk, the page shows the smaller run, so that one is preferred.
    """
    if claim is None:
        return _Shown("")
    smallest = claim.shrunk
    if smallest is not None and smallest.first_violation is not None:
        for test in newly:
            if (test.scenario, test.seed) == (smallest.scenario, smallest.seed):
                return _Shown(smallest.first_violation.because, test.name, smallest.shrunk)
    for test in newly:
        if test.first_violation is not None:
            return _Shown(test.first_violation.because, test.name)
    return _Shown(claim.reason)


def _new_failures(before: ClaimReport | None, after: ClaimReport | None) -> tuple[ClaimTest, ...]:
    """The tests that fail now, in scenarios in which none did; whatever was undecided counts.

    Which variant (crash point) was the worst is not what matters.
    """
    known = {test.scenario for test in _failing(before)}
    return tuple(test for test in _failing(after) if test.scenario not in known)


def _failing(claim: ClaimReport | None) -> Iterable[ClaimTest]:
    tests = () if claim is None else claim.tests
    return (test for test in tests if test.outcome is Outcome.FAILED)


def _slower(baseline: ConformanceReport, current: ConformanceReport) -> Iterator[Slowdown]:
    rule = _rule(baseline, current)
    if rule is None:
        return
    before, after = _seconds(baseline), _seconds(current)
    for key in sorted(before.keys() & after.keys()):
        longest = max(before[key] * rule.factor, before[key] + rule.least_seconds)
        if after[key] > longest:
            yield Slowdown(scenario=key[0], before_seconds=before[key], after_seconds=after[key])


def _rule(baseline: ConformanceReport, current: ConformanceReport) -> SlownessRule | None:
    """None where times cannot be compared: seconds of two clocks, or of two seeds."""
    clocks = {baseline.environment.clock, current.environment.clock}
    seeds = {baseline.reproduce.seed, current.reproduce.seed}
    return RULES.get(clocks.pop()) if len(clocks) == len(seeds) == 1 else None


def _seconds(report: ConformanceReport) -> dict[tuple[str, int], float]:
    """How long each scenario took by (name, seed), where it ran by itself: not in a campaign."""
    found: dict[tuple[str, int], float] = {}
    for claim in report.claims:
        for test in claim.tests:
            if not test.variant:
                key = (test.name, test.seed)
                found[key] = max(found.get(key, 0.0), test.virtual_seconds)
    return found


def _times(baseline: ConformanceReport, current: ConformanceReport) -> str:
    rule = _rule(baseline, current)
    if rule is None:
        return "Times were not compared: the two reports differ in their clock or their seed."
    clock = current.environment.clock
    text = (
        f"Slower means: {rule.factor:g} times as long and {rule.least_seconds:g} s longer, "
        f"in {clock} time, for one scenario and seed."
    )
    if clock == "virtual":
        return text
    return (
        f"{text} On a real cluster the machine has its part, and a race is lost in one run and won "
        "in the next: run what fails newly again before you believe it."
    )


def _differences(baseline: ConformanceReport, current: ConformanceReport) -> Iterator[Difference]:
    for what, one, two in (
        ("implementation", _implementation(baseline), _implementation(current)),
        ("suite version", baseline.suite.version, current.suite.version),
        ("suite commit", baseline.suite.commits, current.suite.commits),
        ("claims digest", baseline.suite.claims_digest[:12], current.suite.claims_digest[:12]),
        ("edition", _editions(baseline), _editions(current)),
        ("cluster", baseline.environment.cluster, current.environment.cluster),
        (
            "Kubernetes version",
            baseline.environment.kubernetes_version,
            current.environment.kubernetes_version,
        ),
        ("clock", baseline.environment.clock, current.environment.clock),
        ("seed", str(baseline.reproduce.seed), str(current.reproduce.seed)),
        ("command", baseline.reproduce.command, current.reproduce.command),
    ):
        if one != two:
            yield Difference(f"The {what} differs: {one or 'none'}, now {two or 'none'}.")
    before = {claim.id: claim for claim in baseline.claims}
    reworded = tuple(
        claim.id
        for claim in current.claims
        if claim.id in before
        and (claim.text, claim.source) != (before[claim.id].text, before[claim.id].source)
    )
    if reworded:
        yield Difference("Claims with another text or source", reworded)
    added = tuple(claim.id for claim in current.claims if claim.id not in before)
    if added:
        yield Difference("Claims that the baseline does not have", added)


def _editions(report: ConformanceReport) -> str:
    """`jobset released`."""
    return ", ".join(f"{name} {edition}" for name, edition in report.suite.editions.items())


def _implementation(report: ConformanceReport) -> str:
    found = report.implementation
    return f"{found.organization} {found.project} {found.version}"


def _suites(report: ConformanceReport) -> str:
    return ", ".join(profile.name for profile in report.profiles) or "no profile"
