"""The conformance report as data: a superset of the Gateway API's ConformanceReport.

Field names on disk are camelCase and keep Gateway's where it has them, so that tools which
read those reports read these. Everything is sorted by `build_report`; of equal runs all bytes
are equal but those of the fields `date` and `wallSeconds`.

The JSON schema beside this file is generated from these types (`schema.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from conformance.norm.claim import Level
from conformance.norm.verdict import Outcome
from conformance.report.run_result import Implementation, OperatorPlace

API_VERSION: Final = "assay.dev/v1"
KIND: Final = "ConformanceReport"
BROKEN_OFF: Final = "runs that did not end"
"""The name of `errors` in other formats."""

CORE_LEVELS: Final = (Level.CORE, Level.DERIVED)
"""Claims derived from core claims are as binding as these."""

Result: TypeAlias = Literal["success", "partial", "failure"]
"""`partial`: nothing failed, but something was skipped or could not be judged."""

Sha256: TypeAlias = Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")]
RelativePath: TypeAlias = Annotated[str, Meta(max_length=1024)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
Text: TypeAlias = Annotated[str, Meta(max_length=65_536)]


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The basis of all parts of a report."""


class Statistics(Part, frozen=True, kw_only=True, rename="pascal"):
    """How many claims ended how. `Inconclusive` is ours: it is neither a pass nor a skip."""

    passed: Count
    skipped: Count
    failed: Count
    inconclusive: Count


class Tier(Part, frozen=True, kw_only=True):
    """The claims of one tier (core or extended) of a profile."""

    result: Result
    statistics: Statistics
    skipped_tests: tuple[str, ...] = ()
    failed_tests: tuple[str, ...] = ()
    inconclusive_tests: tuple[str, ...] = ()


class ExtendedTier(Tier, frozen=True, kw_only=True):
    """The extended tier also names features."""

    supported_features: tuple[str, ...] = ()
    unsupported_features: tuple[str, ...] = ()
    """The missing features of the implementation."""
    skipped_features: tuple[str, ...] = ()
    """Existing features that were disabled; their claims are skipped, not unsupported."""


class Profile(Part, frozen=True, kw_only=True, omit_defaults=True):
    """One profile: the name of a suite."""

    name: str
    summary: str
    core: Tier
    extended: ExtendedTier | None = None
    """None, and not in the file, as in Gateway's, where the profile has no extended claims."""

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Those that it has."""
        return (self.core,) if self.extended is None else (self.core, self.extended)


class JudgedAgain(Part, frozen=True, kw_only=True):
    """The Assay version that re-evaluated the histories, by `assay report rejudge`."""

    version: str
    git_commit: str
    """As that of the suite."""
    date: str
    """RFC 3339."""


class Suite(Part, frozen=True, kw_only=True, omit_defaults=True):
    """The Assay version."""

    version: str
    git_commit: str
    """The commit of the checkout that it ran from, with `-dirty` if its code had been changed;
    empty for an installed distribution."""
    claims_digest: Sha256
    """Over all claims' ids, levels, texts and sources: equal digests judged by equal norms."""
    judged_again: JudgedAgain | None = None
    """None: the verdicts are those of the Assay that ran."""
    editions: Mapping[str, str] = {}
    """By suite, the edition that its claims were judged in, of suites that have several."""

    @property
    def commits(self) -> str:
        """The commit that ran, and that which judged again; empty where neither is known."""
        again = self.judged_again
        if again is None:
            return self.git_commit
        return (
            f"{self.git_commit or 'unknown'}, "
            f"judged again on {again.date[:10]} with {again.git_commit or again.version}"
        )


class Allowances(Part, frozen=True, kw_only=True, omit_defaults=True):
    """The implementation's allowances, as in every history's header. Go durations."""

    latency: str
    """How late it might notice what happens."""
    request_latency: str = ""
    """How late a write might be stored that it had decided on."""
    poke_every: str = ""
    """How often its objects were edited, so that it looked at them."""
    polls_every: str = ""
    """How often it looked by itself in scenarios that left it untouched."""
    clock_resolution: str = ""
    """How early its timers might run out."""
    profile_sha256: Sha256 = ""
    """Of the profile's file; empty for the reference, which has none."""


class Environment(Part, frozen=True, kw_only=True, omit_defaults=True):
    """Where it ran, and under which terms."""

    cluster: str
    kubernetes_version: str
    clock: str
    operator: OperatorPlace | None = None
    """None: an older report does not say it."""
    allowances: Allowances | None = None
    """None: the histories do not say, or the report was made before reports did; or those of
    several operators differ."""
    allowances_by_role: Mapping[str, Allowances] = {}
    """Those of several operators that differ."""


class Reproduce(Part, frozen=True, kw_only=True):
    """How to run it again."""

    command: str
    seed: int


class ClaimSource(Part, frozen=True, kw_only=True):
    """Where the claim's sentence stands."""

    document: str
    section: str
    sentence: Count | Text
    """Its number in the section; its words, in reports of versions that quoted them."""

    def __str__(self) -> str:
        numbered = f", sentence {self.sentence}" if isinstance(self.sentence, int) else ""
        return f"{self.document}, {self.section}{numbered}"


class FirstViolation(Part, frozen=True, kw_only=True):
    """The first contradiction of a claim in one history."""

    position: Count
    """`n` of the entry in the history."""
    seconds: Seconds
    resource_version: Count
    because: Text


class ClaimTest(Part, frozen=True, kw_only=True):
    """One claim in one scenario: the worst of `runs` histories, and how to see it. Runs that passed
    are in one row, whatever their seeds."""

    name: str
    """The scenario's id; with the campaign's variant in brackets, where that was the worst."""
    seed: int
    outcome: Outcome
    armed: Count
    because: Text
    """Empty where it passed: the claim's `reason` says it once, and the history in full."""
    faults: tuple[str, ...]
    """The faults in that history, in order, in English."""
    runs: Count
    virtual_seconds: Seconds
    wall_seconds: Seconds
    history_sha256: Sha256
    history: RelativePath
    """Path of the stored history, relative to the report; empty if it was not kept."""
    first_violation: FirstViolation | None

    @property
    def scenario(self) -> str:
        """The scenario's id."""
        return self.name.partition(" [")[0]

    @property
    def variant(self) -> str:
        """The variant of a campaign's worst run; empty for the run of the scenario itself."""
        return self.name.partition(" [")[2].removesuffix("]")


class ShrunkTest(Part, frozen=True, kw_only=True):
    """The smallest run that was found to violate a claim; its page and its plan show it."""

    scenario: str
    seed: int
    shrunk: str
    """The reduction: `plan shrunk 14 → 2 faults, 3 nodes → 1`."""
    faults: tuple[str, ...]
    """The remaining faults, in order, in English."""
    history_sha256: Sha256
    history: RelativePath
    first_violation: FirstViolation | None


class ClaimReport(Part, frozen=True, kw_only=True, omit_defaults=True):
    """One claim over all histories."""

    id: str
    name: str
    level: str
    profile: str
    text: Text
    source: ClaimSource
    outcome: Outcome
    reason: Text
    armed: Count
    tests: tuple[ClaimTest, ...]
    shrunk: ShrunkTest | None = None
    """None where no run that is smaller than those of `tests` was found, or looked for."""


class Coverage(Part, frozen=True, kw_only=True):
    """How much was tried, as `tried/existing`."""

    fault_classes: str
    crash_points: str
    plans: Count
    random_plans: Count = 0
    """How many of the plans were drawn at random."""


class Determinism(Part, frozen=True, kw_only=True):
    """How many runs were repeated, and how many of those gave other bytes."""

    rerun: Count
    mismatches: Count


class RunError(Part, frozen=True, kw_only=True):
    """A run that did not come to its end."""

    name: str
    seed: int
    error: Text


class CheckerError(Part, frozen=True, kw_only=True):
    """A checker that raised an exception, and the first run that it did not judge for that."""

    claim: str
    name: str
    seed: int
    error: Text


class NotCovered(Part, frozen=True, kw_only=True):
    """A claim without a verdict in this report."""

    claim: str
    because: Text


class ConformanceReport(Part, frozen=True, kw_only=True, omit_defaults=True):
    """The whole report."""

    api_version: Literal["assay.dev/v1"]
    kind: Literal["ConformanceReport"]
    implementation: Implementation
    date: str
    """RFC 3339, when the report was made of the runs."""
    suite: Suite
    environment: Environment
    reproduce: Reproduce
    profiles: tuple[Profile, ...]
    claims: tuple[ClaimReport, ...]
    coverage: Coverage
    determinism: Determinism
    errors: tuple[RunError, ...]
    not_covered: tuple[NotCovered, ...]
    wall_seconds: Seconds
    checker_errors: tuple[CheckerError, ...] = ()
    interrupted: str = ""
    """How far a campaign had come when it was interrupted; empty if it was not."""

    @property
    def lacking_core(self) -> tuple[str, ...]:
        """The core claims that a profile leaves out: an implementation without one of these does
        not conform, whatever the reason."""
        left_out = (Outcome.SKIPPED, Outcome.UNSUPPORTED)
        return tuple(
            claim.id
            for claim in self.claims
            if claim.outcome in left_out and claim.level in CORE_LEVELS
        )

    @property
    def result(self) -> Result:
        """The worst result of all tiers; a run that broke off makes success partial, and so do a
        checker that failed and an interrupt."""
        results = {tier.result for profile in self.profiles for tier in profile.tiers}
        if "failure" in results:
            return "failure"
        unreliable = self.errors or self.checker_errors or self.interrupted
        is_partial = "partial" in results or unreliable or not results
        return "partial" if is_partial else "success"


class ReportError(ValueError):
    """A report, or what it refers to, that cannot be used; the message names the next action."""
