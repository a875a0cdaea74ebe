"""Toy: a Crew keeps a number of pods alive.

The smallest suite: an API of one kind, a reference controller with mutants, three claims,
scenarios, a fault and a lane of its own, in a distribution of its own.
"""

from conformance import KindUse, Suite

from .api import CREW, is_at_rest, pods, progress
from .lanes import lanes

SUITE = Suite(
    name="toy",
    title="Crews of pods",
    prefixes=("TOY",),
    package=__name__,
    roles=("toy",),
    editions=("strict", "lenient"),
    kinds=(KindUse(CREW, is_at_rest, progress=progress, pods=pods),),
    lanes=lanes,
)
