"""JobSet: every promise of its failure policy (KEP-262), while things break.

- `claims`: the normative sentences, each with its checker. Read `claims/counting.py` first.
- `scenarios`: the situations that put them to the test, with their manifests.
- `view`: a history as checkers of JobSets see it: a JobSet's run, its child Jobs, failures.
- `judging`: the decorators that make a generator the checker of a claim.
- `kind`: a JobSet and its Jobs, field by field, live and recorded; `api` has their names.
- `handle`: a JobSet as scenarios use it.
- `lanes`: what failure pages show of a JobSet.
- `settings`: how long its workloads may take.
- `sources`, `decisions`: what claims cite, and what the suite decided where the norm is silent.
"""

from conformance.suite import Suite
from conformance.suites.jobset.api import KEP, KEP_V0_12, RELEASED
from conformance.suites.jobset.kind import KIND
from conformance.suites.jobset.lanes import lanes
from conformance.suites.jobset.settings import SETTINGS

SUITE = Suite(
    name="jobset",
    title="JobSet failure policy",
    prefixes=("JS",),
    package=__name__,
    roles=("jobset",),
    editions=(KEP, KEP_V0_12, RELEASED),
    kinds=(KIND,),
    settings=SETTINGS,
    need_webhooks=("JS-006", "JS-007", "JS-009", "JS-046", "JS-075", "JS-096", "JS-109", "JS-110"),
    lanes=lanes,
    condition_tones={
        "Completed": "done",
        "Failed": "bad",
        "RestartingJobSet": "warn",
        "Suspended": "pending",
    },
)
