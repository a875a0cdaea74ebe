"""Streams: submissions of Jobs that are interrupted, and their recovery.

- `claims`: the normative sentences, each with its checker. Read `claims/recovery.py` first.
- `scenarios`: the situations that put them to the test.
- `view`: a history as checkers of Jobs see it: submissions, interruptions, trees of owners.
- `judging`: the decorators that make a generator the checker of a claim.
- `kind`: a Job and its parts, field by field, live and recorded; `api` has their names.
- `handle`: a Job as scenarios use it.
- `crash_states`: what a crash can leave of a submission, state by state, each with a plan.
- `argument`: the norm's argument in our words, for `assay explain`; `designs` has its histories.
- `lanes`: what failure pages show of a Job.
- `sources`, `decisions`: what claims cite, and what the suite decided where the norm is silent.
"""

from conformance.suite import PlainDurations, Settings, Suite
from conformance.suites.streams.api import SEED, STRICT
from conformance.suites.streams.kind import KINDS
from conformance.suites.streams.lanes import lanes
from vocabulary.clock import HOUR, MINUTE, SECOND

SUITE = Suite(
    name="streams",
    title="Streams submission recovery",
    prefixes=("ST",),
    package=__name__,
    roles=("streams",),
    editions=(STRICT, SEED),
    kinds=KINDS,
    settings=Settings(
        durations=lambda _config: PlainDurations(
            patience_us=HOUR, maximum_us=15 * MINUTE, attempt_bound_us=30 * SECOND
        )
    ),
    fails_in={
        SEED: {
            "ST-001": (
                "streams/recoveries/operator-is-down-as-the-old-one-goes",
                "streams/recoveries/recovery-is-interrupted/before-the-creation",
            )
        }
    },
    lanes=lanes,
    by_edition={SEED: {"streams": {"recoveryRecord": False}}},
)
