"""AppWrapper: every promise of its fault tolerance document, while things break.

- `claims`: the normative sentences, each with its checker. Read `claims/retry.py` first.
- `scenarios`: the situations that put them to the test, with their manifests.
- `view`: a history as checkers of AppWrappers see it: runs, attempts, deletions, health.
- `judging`: the decorators that make a generator the checker of a claim.
- `sources`, `decisions`: what claims cite, and what the suite decided where sources are silent.
"""

from conformance.parameters import DEFAULT_CONFIG, SUITE_CONFIG, Durations, overlay
from conformance.suite import Settings, Suite

SUITE = Suite(
    name="appwrapper",
    title="AppWrapper fault tolerance",
    prefixes=("AW", "INV"),
    package=__name__,
    roles=("appwrapper",),
    settings=Settings(
        written=SUITE_CONFIG, durations=lambda config: Durations.of(overlay(DEFAULT_CONFIG, config))
    ),
)
