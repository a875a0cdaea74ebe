"""The suite's decisions where the norm is silent or contradicts itself, each in one place.

A reader who disagrees with a verdict looks here first: the claim names its decision.
"""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

ALWAYS_BACKS_OFF: Final = Decision(
    "K1",
    "A back-off is computed whether or not backoffLimitCount is set; the limit only decides when a "
    "Workload is deactivated.",
    "one section of the norm ties the mechanism to the limit, its formula and the API do not",
)
LIMIT_AT_NEXT: Final = Decision(
    "K2",
    "A Workload whose count is at the limit is deactivated at its next timeout, with its "
    "requeueState as it was.",
    "'reaches the limit' can be read one timeout earlier; the norm's formula has n + 1 timeouts",
)
WHOLE_SECONDS: Final = Decision(
    "K3",
    "requeueAt is a whole second, so a back-off may be up to a second shorter than the formula.",
    "API times have no fractions",
)
EVERY_BACK_OFF_ENDS: Final = Decision(
    "K4",
    "Once its requeueAt has come, a Workload is a candidate again, and is admitted if it fits and "
    "is the first, also if it was written to meanwhile.",
    "the norm says when a Workload will be requeued, and nothing that would undo it",
)
RESET_BY_LIMIT: Final = Decision(
    "K5",
    "A Workload is deactivated by eviction if its controller writes that it is not active; whoever "
    "else does so deactivates it by other means.",
    "the norm tells the two apart and not how to do so",
)
PODS_THEMSELVES: Final = Decision(
    "K6",
    "Pods are looked at themselves, not the counters of the object that owns them.",
    "the norm names counters by kind; that these tell the truth is another promise",
)
FITS_THOUGH_OTHERS_WAIT: Final = Decision(
    "K7",
    "A Workload passes those before it once none of the cohort that waits fits, and no queue of "
    "the cohort preempts.",
    "one that preempts may keep back what is left until its victims have given up theirs",
)
NO_BORROWING_BY_PREEMPTION: Final = Decision(
    "K8",
    "A queue whose borrowWithinCohort is Never does not preempt and borrow in one admission.",
    "the norm says never; the API has had a policy since that allows it, and controllers from "
    "v0.4 on preempt within their own queue while they borrow",
)
GARBAGE_IS_COLLECTED: Final = Decision(
    "K9",
    "The pods of a RayJob whose RayCluster is gone are those of the garbage collector.",
    "KubeRay deletes the RayCluster in the background, and reports that the RayJob is suspended "
    "once the RayCluster is gone; the garbage collector may come later",
)
WHAT_IS_MANAGED: Final = Decision(
    "K10",
    "A controller manages the Jobs that name a queue, and, where it is configured to, all others "
    "of the selected namespaces.",
    "webhooks that are called for more make every Job of a cluster depend on the controller",
)
AS_ITS_USER_WROTE_IT: Final = Decision(
    "K11",
    "What an admission adds to a job is taken back when its quota is released; until then it may "
    "stand.",
    "a job that is placed by a flavor which it no longer has fits into no other; the norm says "
    "what an admission adds, and not for how long",
)
FLAVOR_BEFORE_VICTIMS: Final = Decision(
    "K12",
    "The flavor is chosen before the victims are: that they are few is judged in that flavor, "
    "though some of them would do for one that is tried later.",
    "the API has the flavors tried in their order, and victims taken where one does not fit",
)
