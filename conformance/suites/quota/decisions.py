"""The suite's decisions where the norm is silent or contradicts itself, each in one place.

A reader who disagrees with a verdict looks here first: the claim names its decision.
"""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

USED: Final = Decision(
    "L1",
    "A pod uses what it requests from its binding until it is terminal or gone from the API, "
    "whatever the state of its node; pods that were orphaned are used of no queue.",
    "only pods show what runs, and a status may be wrong",
)
MATRIX: Final = Decision(
    "L2",
    "Success gives quota back at once. In editions strict and mlbatch everything else does so once "
    "the last pod is terminal, but for a deletion that orphans; in editions kep and released at "
    "the signal of the job's kind, and failure and deletion at once.",
    "the proposals speak of evictions, and leave failure and deletion to each kind",
)
SIGNAL: Final = Decision(
    "L3",
    "Where quota goes back by a signal, pods that are terminating use nothing.",
    "released controllers admit others in their place by design",
)
STARTED_BY_OTHERS: Final = Decision(
    "L4",
    "A job that others start without quota may run until its controller can have seen it.",
    "no controller can keep an API server from storing it where no webhook is called",
)
