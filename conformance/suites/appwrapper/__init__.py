"""AppWrapper: every promise of its fault tolerance document, while things break.

- `claims`: the normative sentences, each with its checker. Read `claims/retry.py` first.
- `scenarios`: the situations that put them to the test, with their manifests.
- `view`: a history as checkers of AppWrappers see it: runs, attempts, deletions, health.
- `judging`: the decorators that make a generator the checker of a claim.
- `api`, `handle`, `at_rest`: an AppWrapper as scenarios and worlds use it.
- `lanes`: what failure pages show of an AppWrapper.
- `settings`: the operator's configuration, with durations for virtual and for real time.
- `faults`: its own faults, and AppWrappers of other shapes for random plans.
- `activities`: its probes for the Chaos Toolkit.
- `profiles`: the released operators.
- `sources`, `decisions`: what claims cite, and what the suite decided where sources are silent.
"""

from conformance.suite import KindUse, Suite
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.at_rest import begins_again, is_at_rest, progress
from conformance.suites.appwrapper.lanes import lanes
from conformance.suites.appwrapper.probe import probe
from conformance.suites.appwrapper.settings import SETTINGS
from conformance.suites.appwrapper.view.profile import Profile

SUITE = Suite(
    name="appwrapper",
    title="AppWrapper fault tolerance",
    prefixes=("AW", "INV"),
    package=__name__,
    roles=("appwrapper",),
    kinds=(KindUse(APPWRAPPER, is_at_rest, probe, progress=progress, begins_again=begins_again),),
    settings=SETTINGS,
    fields=Profile,
    need_webhooks=("MLB-020",),
    lanes=lanes,
    condition_tones={"Unhealthy": "bad"},
)
