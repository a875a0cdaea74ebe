"""One failure as one HTML file: the claims, why they are violated, the picture, every event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.norm.claim import Claim
from conformance.norm.verdict import Verdict, merge
from conformance.report.build import fault_texts
from conformance.report.counted import counted
from conformance.report.end_diff import courses, end_diff
from conformance.report.pages.change import with_previous
from conformance.report.pages.event_table import details, event_rows, shown_positions
from conformance.report.pages.lanes import lane_groups, sheets_at
from conformance.report.pages.page import embedded_json, render
from conformance.report.pages.shown_time import axis_time, shown_span
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.recorded import digest_of
from conformance.report.run_result import RunResult
from conformance.report.untrusted import printable

MAX_PAGE_BYTES: Final = 300_000
_SIZES: Final = ((400, 24, 96_000), (220, 16, 60_000), (120, 10, 30_000), (60, 6, 12_000))
"""Events, lines of detail per event, bytes of detail: the first that fits the page is taken."""
_MAX_SHOWN_FAULTS: Final = 12
_MAX_REASONS: Final = 5
"""Of one claim; of several claims each has its first."""


def failure_page(
    judged: Sequence[tuple[Claim, Verdict]], run: RunResult, *, command: str, index_href: str = ""
) -> str:
    """The page, at most `MAX_PAGE_BYTES` long. `command` shows it again; empty: none does.

    `judged` are the claims that one entry contradicts, or one claim.
    """
    for size in _SIZES:
        page = _page(judged, run, size, command=command, index_href=index_href)
        if len(page.encode()) <= MAX_PAGE_BYTES:
            break
    return page


def _page(
    judged: Sequence[tuple[Claim, Verdict]],
    run: RunResult,
    size: tuple[int, int, int],
    *,
    command: str,
    index_href: str,
) -> str:
    max_events, lines, budget_bytes = size
    reasons = _reasons(judged)
    more = sum(len(each.violations) for _, each in judged) - sum(map(len, reasons.values()))
    verdict = merge(judged[0][0].id, (verdict for _, verdict in judged))
    steps = with_previous(run.entries)
    positions = shown_positions(steps, verdict, max_events)
    axis = TimeAxis(entry.t for entry in run.entries)
    rows = event_rows(steps, positions, verdict, axis)
    told = [row.n for row in rows if row.tone in ("at", "evidence")]
    first = min((violation.at for violation in verdict.violations), default=-1)
    important = sorted(positions, key=lambda n: (n not in told, abs(n - first), n))
    faults = [printable(text, 240) for text in fault_texts(run)]
    return render(
        "failure.html.j2",
        styles=("base.css", "failure.css"),
        scripts=("failure.js",),
        claims=[claim for claim, _ in judged],
        run=run,
        verdict=verdict,
        reasons=[(", ".join(ids), because) for because, ids in reasons.items()],
        more_violations=counted(more, "more violation") if more else "",
        evidence=[row for row in rows if row.n in told][:16],
        rows=rows,
        left_out=len(run.entries) - len(rows),
        groups=lane_groups(
            run.header, run.entries, [each for _, each in judged], axis, frozenset(positions)
        ),
        diff=[printable(line, 300) for line in end_diff(run)],
        courses=[
            (printable(step.undisturbed, 240), printable(step.here, 240), step.tone)
            for step in courses(run)
        ],
        sheets=sheets_at(run.header, run.entries, first),
        contradiction=axis.x(run.entries[first].t) if 0 <= first < len(run.entries) else None,
        ticks=[(x, axis_time(at_us)) for x, at_us in axis.ticks],
        folds=[(fold, shown_span(fold.span_us)) for fold in axis.folds],
        faults=faults[:_MAX_SHOWN_FAULTS],
        more_faults=max(len(faults) - _MAX_SHOWN_FAULTS, 0),
        lasted=shown_span(round(run.virtual_seconds * 1_000_000)),
        command=command,
        digest=digest_of(run),
        index_href=index_href,
        first=first,
        data=embedded_json(
            {
                "first": first,
                "evidence": told,
                "details": details(steps, important, lines=lines, budget_bytes=budget_bytes),
            }
        ),
    )


def _reasons(judged: Sequence[tuple[Claim, Verdict]]) -> dict[str, list[str]]:
    """The ids of the claims that each explanation is given for."""
    most = _MAX_REASONS if len(judged) == 1 else 1
    told: dict[str, list[str]] = {}
    for claim, each in judged:
        for violation in sorted(each.violations, key=lambda violation: violation.at)[:most]:
            told.setdefault(violation.because, []).append(claim.id)
    return told
