"""The report's front page: how it ended, every claim with its source, the way to each failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from conformance.norm.claim import Claim
from conformance.report.conformance_report import ClaimReport, ConformanceReport
from conformance.report.counted import counted
from conformance.report.failures import contradictions, violated_in
from conformance.report.pages.page import render
from conformance.report.text import SIGNS, worst_first

MAX_SHOWN_TESTS = 12


def index_page(
    report: ConformanceReport,
    claims: Mapping[str, Claim],
    pages: Mapping[tuple[str, str, int], str],
    tables: Sequence[tuple[str, str]] = (),
) -> str:
    """The page. `pages` has the file name of a failure's page by claim, test name and seed;
    `tables` are those of suites, by name."""
    ordered = worst_first(report.claims)
    return render(
        "index.html.j2",
        styles=("base.css", "index.css"),
        scripts=("index.js",),
        report=report,
        claims=claims,
        pages=pages,
        tables=tables,
        ordered=ordered,
        failures=[
            (each, pages.get((each.shown_for[0], each.name, each.seed), ""))
            for each in contradictions(violated_in(report, claims))
            if each.shown_for
        ],
        of_claim={claim.id: claim for claim in ordered},
        signs=SIGNS,
        counts=Counter(claim.outcome for claim in ordered),
        not_run=sum(tier.statistics.skipped for each in report.profiles for tier in each.tiers),
        levels=sorted({claim.level for claim in ordered}),
        profiles=sorted({claim.profile for claim in ordered}),
        runs=len({(test.name, test.seed) for claim in ordered for test in claim.tests}),
        max_tests=MAX_SHOWN_TESTS,
        reason=_reason,
        counted=counted,
    )


def _reason(claim: ClaimReport) -> str:
    """Why a claim ended as it did, as its own page tells it: that shows what was shrunk."""
    shown = claim.shrunk.first_violation if claim.shrunk else None
    return claim.reason if shown is None else shown.because
