"""Cost: a subject costs what it costs, however many others there are."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from conformance.history.request_counts import COUNTS, stages_in
from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory

TIMES: Final = 2.0
"""Ten times as many requests per subject is what a look at all subjects for each one costs."""


@claim(25, armed_by="run with one, ten and a hundred workloads", level=Level.EXTENDED)
def cost_does_not_grow(run: OperatorHistory) -> Obligations:
    """The number of requests for one more subject MUST NOT grow with the number of subjects."""
    stages = list(stages_in(run.history.marks))
    if not stages:
        return
    if not run.history.is_stable:
        yield undecided(stages[-1].mark, "the run did not come to rest")
        return
    for before, after in pairwise(stages):
        if after.each > TIMES * before.each:
            grown = sorted(
                after.each_of, key=lambda name: before.each_of.get(name, 0) - after.each_of[name]
            )
            yield violated(
                after.mark,
                f"{before.each:.1f} requests per workload with {before.workloads}, "
                f"{after.each:.1f} for each further one up to {after.workloads}; most of them: "
                f"{listed(grown[:3])}.",
                before.mark,
            )
            return
    if stages[-1].workloads < COUNTS[-1]:
        yield undecided(stages[-1].mark, f"it came to {stages[-1].workloads} workloads only")
    else:
        yield met(stages[-1].mark)
