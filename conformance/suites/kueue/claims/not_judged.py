"""KQ-004, 005, 007, 008, 022, 025, 026, 031, 040, 051, 120, 205, 208: what no history can break.

Each says why, and names what judges or shows it instead.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from conformance.norm.claim import Source, not_judged
from conformance.suites.kueue.sources import (
    KEP,
    config,
    evaluation,
    guide,
    mechanism,
    release,
)

_not_judged: Final = partial(not_judged, "kueue")

KQ_004: Final = _not_judged(
    "KQ-004",
    "no-limit-is-the-default",
    config(4),
    "Without a backoffLimitCount, a Workload MUST be requeued without end.",
    "KQ-016 and KQ-038 judge it, in kueue/timeouts/no-limit.",
)
KQ_005: Final = _not_judged(
    "KQ-005",
    "limit-switches-the-back-off-on",
    mechanism(1),
    "A back-off MUST be active if backoffLimitCount is set.",
    "KQ-006 and KQ-012 ask for it with and without a limit, as v0.6.2 does (decision K1).",
)
KQ_007: Final = _not_judged(
    "KQ-007",
    "jitter-is-small",
    config(5),
    "A back-off MUST be longer than its formula by a small random part.",
    "The text has no number. KQ-006 and KQ-015 allow a ten-thousandth, which is below the API's "
    "resolution of a second for all but the longest back-offs.",
)
KQ_008: Final = _not_judged(
    "KQ-008",
    "fields-have-one-name",
    evaluation(2),
    "The configuration's field MUST be requeuingStrategy, and the Workload's spec.active.",
    "The text has two spellings of each. `pytest tests/reference_kueue/test_config.py` shows that "
    "the other is rejected.",
)
KQ_022: Final = _not_judged(
    "KQ-022",
    "preempted-ones-keep-their-order",
    Source(KEP, "Non-Goals", 1),
    "After other evictions the order MAY be any.",
    "It is no goal of the text. QL-009 and KQ-041 judge what becomes of preempted Workloads.",
)
KQ_025: Final = _not_judged(
    "KQ-025",
    "heads-may-block",
    Source(KEP, "Drawbacks", 1),
    "With StrictFIFO and timestamps of creation, a Workload that is never ready MAY block its "
    "queue outside of its back-offs.",
    "It permits. KQ-013 judges that it blocks nobody during them.",
)
KQ_026: Final = _not_judged(
    "KQ-026",
    "heads-come-back",
    Source(KEP, "Drawbacks", 4),
    "With timestamps of creation, a Workload that is never ready MAY come back first, again and "
    "again.",
    "It permits.",
)
KQ_031: Final = _not_judged(
    "KQ-031",
    "later-releases-clear-the-state",
    evaluation(2),
    "A later release MAY clear requeueState as it deactivates a Workload.",
    "It describes other releases. KQ-034 and KQ-035 judge what the text says; the edition "
    "`released` leaves it open.",
)
KQ_040: Final = _not_judged(
    "KQ-040",
    "first-story-is-tested",
    Source(KEP, "Test Plan, Integration tests", 1),
    "An integration test MUST cover the first story.",
    "It is about upstream's tests. KQ-024 judges the story.",
)
KQ_120: Final = _not_judged(
    "KQ-120",
    "there-are-three-priorities",
    guide("Priorities and Preemption", 1),
    "There MUST be the priority classes high-priority, default-priority and low-priority.",
    "The administrator sets it up. `assay tools team --with-shared` writes them.",
)
KQ_205: Final = _not_judged(
    "KQ-205",
    "strategies-are-checked",
    release(1),
    "A quotaReleaseStrategy that a kind does not support, an unknown kind and an unknown strategy "
    "MUST be refused at start.",
    "An operator that does not start has no history. `pytest tests/reference_kueue/test_config.py` "
    "has the errors.",
)
KQ_208: Final = _not_judged(
    "KQ-208",
    "releases-are-tabled",
    release(1),
    "For each kind, the moment of each release MUST be known.",
    "It is a table, made from runs: `ci/quota-table` for the reference, `ci/released-quota-table` "
    "for releases.",
)
