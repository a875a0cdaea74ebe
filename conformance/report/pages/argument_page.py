"""A norm's argument as one HTML file: each design with its claim, its picture and its replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conformance.explanation import Argument, Design
from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.pages.lane import LaneGroup
from conformance.report.pages.lanes import lane_groups
from conformance.report.pages.page import render
from conformance.report.pages.shown_time import axis_time, shown_span
from conformance.report.pages.time_axis import Fold, TimeAxis
from conformance.report.run_result import RunResult

_LEFT_OUT = ("Pods", "Components", "Nodes")
"""Groups of lanes that the page of every event has: an argument is about whole Jobs."""


class Shown(NamedTuple):
    """A design, and its recorded run."""

    design: Design
    run: RunResult
    command: str
    """It makes the run again."""


class _Section(NamedTuple):
    design: Design
    claim: Claim
    verdict: Verdict
    because: str
    others: Sequence[Claim]
    groups: Sequence[LaneGroup]
    ticks: Sequence[tuple[float, str]]
    folds: Sequence[tuple[Fold, str]]
    contradiction: float | None
    command: str


def argument_page(argument: Argument, shown: Sequence[Shown], claims: Mapping[str, Claim]) -> str:
    """The page. Each run has a verdict on the claim of its design."""
    return render(
        "argument.html.j2",
        styles=("base.css", "failure.css", "argument.css"),
        scripts=(),
        argument=argument,
        designs=[_section(each, claims) for each in shown],
    )


def verdict_on(run: RunResult, claim: str) -> Verdict:
    """The verdict on a claim; inconclusive if the run is not judged by it."""
    none = Verdict(claim=claim, outcome=Outcome.INCONCLUSIVE)
    return next((each for each in run.verdicts if each.claim == claim), none)


def _section(shown: Shown, claims: Mapping[str, Claim]) -> _Section:
    design, run = shown.design, shown.run
    verdict = verdict_on(run, design.claim)
    first = min(verdict.violations, key=lambda each: each.at, default=None)
    axis = TimeAxis(entry.t for entry in run.entries)
    groups = lane_groups(run.header, run.entries, [verdict], axis, frozenset())
    return _Section(
        design,
        claims[design.claim],
        verdict,
        f"Kept {verdict.armed} times in this run." if first is None else first.because,
        [
            claims[each.claim]
            for each in run.verdicts
            if each.outcome is Outcome.FAILED and each.claim != design.claim
        ],
        [group for group in groups if group.title not in _LEFT_OUT],
        [(x, axis_time(at_us)) for x, at_us in axis.ticks],
        [(fold, shown_span(fold.span_us)) for fold in axis.folds],
        None if first is None else axis.x(run.entries[first.at].t),
        shown.command,
    )
