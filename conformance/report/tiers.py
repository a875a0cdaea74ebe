"""Claims counted, tier by tier: statistics, lists, results, and the sentences about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import (
    CORE_LEVELS,
    ClaimReport,
    ExtendedTier,
    Profile,
    Result,
    Statistics,
    Tier,
)
from conformance.report.counted import counted


class Features(NamedTuple):
    """The optional features that an implementation is said to have, to lack, and to have been run
    without."""

    supported: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def profiles_of(
    reports: Sequence[ClaimReport], left_out: Sequence[Claim], features: Features
) -> tuple[Profile, ...]:
    """The profiles of which anything was judged.

    `left_out` are the claims that were not asked for. Those of such a profile are listed as
    skipped, if a run can judge them: the report of a selection is partial, and never reads like one
    of the whole.
    """
    profiles = []
    for name in sorted({report.profile for report in reports}):
        mine = [report for report in reports if report.profile == name]
        of_suite = (claim for claim in left_out if claim.suite == name)
        others = [claim for claim in of_suite if not claim.not_judged]
        core = _tier(
            [report for report in mine if report.level in CORE_LEVELS],
            [claim.id for claim in others if claim.level in CORE_LEVELS],
        )
        extended = _extended(
            [report for report in mine if report.level not in CORE_LEVELS],
            [claim.id for claim in others if claim.level not in CORE_LEVELS],
            features,
        )
        summary = summary_of(core, extended)
        profiles.append(Profile(name=name, summary=summary, core=core, extended=extended))
    return tuple(profiles)


def _extended(
    reports: Sequence[ClaimReport], left_out: Sequence[str], features: Features
) -> ExtendedTier | None:
    """None without a claim: nothing was tested, which is no success."""
    if not reports and not left_out:
        return None
    return ExtendedTier(
        **msgspec.structs.asdict(_tier(reports, left_out)),
        supported_features=features.supported,
        unsupported_features=features.unsupported,
        skipped_features=features.skipped,
    )


def _tier(reports: Iterable[ClaimReport], left_out: Iterable[str]) -> Tier:
    by_outcome: dict[Outcome, list[str]] = defaultdict(list)
    for report in reports:
        by_outcome[report.outcome].append(report.id)
    skipped = sorted([*by_outcome[Outcome.SKIPPED], *by_outcome[Outcome.UNSUPPORTED], *left_out])
    failed, inconclusive = by_outcome[Outcome.FAILED], by_outcome[Outcome.INCONCLUSIVE]
    statistics = Statistics(
        passed=len(by_outcome[Outcome.PASSED]),
        skipped=len(skipped),
        failed=len(failed),
        inconclusive=len(inconclusive),
    )
    return Tier(
        result=_result_of(statistics),
        statistics=statistics,
        skipped_tests=tuple(skipped),
        failed_tests=tuple(failed),
        inconclusive_tests=tuple(inconclusive),
    )


def _result_of(numbers: Statistics) -> Result:
    if numbers.failed:
        return "failure"
    return "partial" if numbers.skipped or numbers.inconclusive else "success"


def summary_of(core: Tier, extended: Tier | None) -> str:
    """A sentence for each tier of a profile."""
    sentences = [_sentence("Core", core)]
    if extended is not None:
        sentences.append(_sentence("Extended", extended))
    return " ".join(sentences)


def _sentence(name: str, tier: Tier) -> str:
    """One sentence per tier, worded as Gateway's; partial never reads like success."""
    numbers = tier.statistics
    if tier.result == "failure":
        return f"{name} tests failed with {counted(numbers.failed, 'test failure')}."
    if tier.result == "partial":
        parts = [
            f"{count} {word}"
            for count, word in (
                (numbers.inconclusive, "inconclusive"),
                (numbers.skipped, "skipped"),
            )
            if count
        ]
        noun = "test" if (numbers.skipped or numbers.inconclusive) == 1 else "tests"
        return f"{name} tests are incomplete with {' and '.join(parts)} {noun}."
    return f"{name} tests succeeded." if numbers.passed else f"{name} tests: there are none."
