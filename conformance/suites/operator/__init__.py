"""Operator: claims about any operator, which need no suite written for it.

Most of them compare a disturbed run with the undisturbed one of the same workload: an operator that
is level-based ends where it would have ended, whatever breaks on the way. `assay explore` makes
the runs; a bare `assay run` leaves this suite out, since it has no operator of its own.

- `claims`: the sentences, each with its checker. Read `claims/same_end.py` first.
- `scenarios`: the courses of a workload that the runs follow. Its objects come from the plan.
- `view`: a history as checkers see it: subjects, their tree, and the sort of disturbance.
- `judging`: the decorator that makes a generator the checker of a claim.

What the operator is for is no claim of this suite. A suite of its own says that.
"""

from conformance.suite import PlainDurations, Settings, Suite
from vocabulary.clock import HOUR

SUITE = Suite(
    name="operator",
    title="Any operator",
    prefixes=("OP",),
    package=__name__,
    roles=("operator",),
    settings=Settings(
        durations=lambda _config: PlainDurations(patience_us=2 * HOUR, maximum_us=HOUR)
    ),
)
