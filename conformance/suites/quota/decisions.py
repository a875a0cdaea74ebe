"""The suite's decisions where the norm is silent or contradicts itself, each in one place.

A reader who disagrees with a verdict looks here first: the claim names its decision.
"""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

USED: Final = Decision(
    "L1",
    "A pod uses what it requests from its binding until it is terminal or gone from the API, "
    "whatever the state of its node; pods that were orphaned use the quota of no queue.",
    "only pods show what runs, and a status may be wrong",
)
MATRIX: Final = Decision(
    "L2",
    "Quota is released at once after success and after a deletion that orphans. Otherwise it is "
    "released once the last pod is terminal (editions strict and mlbatch), or at once after a "
    "failure or deletion, and after an eviction when the job reports that it is not active "
    "(editions kep and released; PyTorchJobs, RayClusters and RayJobs in every edition).",
    "the proposals speak of evictions, and leave failure and deletion to each kind",
)
SIGNAL: Final = Decision(
    "L3",
    "Where quota is released when the job reports that it is not active, terminating pods use "
    "nothing; where it is released once the job has ended, no pod does that is left of it.",
    "released controllers admit others in their place by design",
)
STARTED_BY_OTHERS: Final = Decision(
    "L4",
    "A job that others start without quota may run until its controller can have seen it.",
    "no controller can keep an API server from storing it where no webhook is called",
)
WHEN_RESERVED: Final = Decision(
    "L5",
    "The sums of a queue and a cohort are compared with their quotas when a Workload reserves. A "
    "quota that is reduced, and pods that are wanted again, make nothing wrong that was reserved.",
    "no eviction follows from either, so a sum may be above its quota for a while",
)
BOUND_OF_GRACE: Final = Decision(
    "L6",
    "A Workload within the nominal quota of its queue is admitted within the longest grace period "
    "of its victims' pods and six reactions, unless a pod outlives its grace period.",
    "the norm has no bound, and a pod that does not stop is not the controller's",
)
OVERLAP: Final = Decision(
    "L7",
    "What is left of a job whose quota is released is bounded by what it had reserved, and by the "
    "grace period of its pods; how long it lasts is in the table.",
    "the norm asks for a bound and has none",
)
SERVING: Final = Decision(
    "L8",
    "A StatefulSet, and a pod group with the annotation pod-group-serving, serve: the end of a pod "
    "is never their end. Each pod of a Deployment is a workload of its own and ends with itself; "
    "the one that replaces it waits like any other.",
    "Kueue gives each pod of a Deployment a Workload, and knows of no other unit",
)
