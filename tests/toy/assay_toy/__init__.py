"""Toy: a Crew keeps a number of pods alive.

The smallest suite: an API of one kind, a reference controller with mutants, two claims, two
scenarios and a fault of its own, in a distribution of its own.
"""

from conformance.suite import Suite

SUITE = Suite(
    name="toy", title="Crews of pods", prefixes=("TOY",), package=__name__, roles=("toy",)
)
