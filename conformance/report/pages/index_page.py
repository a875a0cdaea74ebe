"""The report's front page: how it ended, every claim with its source, the way to each failure.

A page of 20,000 rows is no page: those of claims that passed are a few of each, then names of
scenarios, which the page's script shows and finds. The length depends on the number of claims and
of scenarios, not on that of runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.counted import counted
from conformance.report.failures import contradictions, violated_in
from conformance.report.pages.page import embedded_json, render
from conformance.report.text import SIGNS, worst_first

MAX_ROWS: Final = 600
"""Of claims that passed, all together; and as many of other claims."""
MOST_OF_A_CLAIM: Final = 12
LEAST_OF_A_CLAIM: Final = 2
MAX_ERRORS: Final = 200


def index_page(
    report: ConformanceReport,
    claims: Mapping[str, Claim],
    pages: Mapping[tuple[str, str, int], str],
    tables: Sequence[tuple[str, str]] = (),
) -> str:
    """The page. `pages` has the file name of a failure's page by claim, test name and seed;
    `tables` are those of suites, by name."""
    ordered = worst_first(report.claims)
    scenarios = sorted({test.scenario for claim in ordered for test in claim.tests})
    numbers = {name: n for n, name in enumerate(scenarios)}
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
        shown=_shown(ordered),
        max_errors=MAX_ERRORS,
        scenarios=embedded_json(scenarios),
        places={
            claim.id: _ranges({numbers[test.scenario] for test in claim.tests}) for claim in ordered
        },
        reason=_reason,
        counted=counted,
    )


def _reason(claim: ClaimReport) -> str:
    """Why a claim ended as it did, as its own page tells it: that shows what was shrunk."""
    shown = claim.shrunk.first_violation if claim.shrunk else None
    return claim.reason if shown is None else shown.because


def _shown(claims: Sequence[ClaimReport]) -> dict[str, list[ClaimTest]]:
    """By claim, the rows that the page has; those that did not pass come first."""
    passed = sum(claim.outcome is Outcome.PASSED for claim in claims)
    of_passed = min(MOST_OF_A_CLAIM, max(LEAST_OF_A_CLAIM, MAX_ROWS // max(passed, 1)))
    of_others = max(LEAST_OF_A_CLAIM, MAX_ROWS // max(len(claims) - passed, 1))
    shown = {}
    for claim in claims:
        others = [test for test in claim.tests if test.outcome is not Outcome.PASSED]
        held = [test for test in claim.tests if test.outcome is Outcome.PASSED]
        first = sorted(others, key=lambda test: test.outcome)[:of_others]
        shown[claim.id] = [*first, *held[: max(of_passed - len(first), 0)]]
    return shown


def _ranges(numbers: Iterable[int]) -> str:
    """`0-3 7`."""
    found: list[list[int]] = []
    for n in sorted(numbers):
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)
