"""MLBatch: what its guide promises of AppWrappers.

It has no operator of its own, and no scenarios yet: its claims are judged on the runs of others.
"""

from conformance.suite import Suite

SUITE = Suite(
    name="mlbatch",
    title="MLBatch guide",
    prefixes=("MLB",),
    package=__name__,
    judged_with=("appwrapper",),
)
