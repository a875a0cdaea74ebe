"""The suite's decisions where the source is silent or ambiguous, each in one place.

A reader who disagrees with a verdict looks here first: the claim names its decision.
"""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

A1: Final = Decision(
    "A1",
    "A limit of N allows exactly N resets; failure N+1 is final.",
    "the source fails the AppWrapper when the number of resets exceeds the limit",
)
A2: Final = Decision(
    "A2",
    "The failure grace period also follows an expired admission or warmup grace period.",
    "the source applies it to one of the first three conditions, and these are two of them",
)
A3: Final = Decision(
    "A3",
    "The retry pause counts from the moment at which the deletion is complete: the last pod and "
    "the last resource are gone.",
    "the source orders the steps: deleting, waiting, creating",
)
A4: Final = Decision(
    "A4",
    "ResourcesDeployed may be False during the retry pause while the quota stays reserved.",
    "the law is one-way: quota that is released without success implies that nothing is left",
)
A5: Final = Decision(
    "A5",
    "Admission and warmup grace periods start when the attempt's resources are created. A claim "
    "demands no more than this: not before the grace period since the first creation, and at the "
    "latest the grace period and the detection latency since the last plausible start, which is "
    "the last creation or entering Running.",
    "the source does not say from when it takes longer",
)
A6: Final = Decision(
    "A6",
    "The Running state of a pod is its phase Running, whether it is ready or not.",
    "the source writes Running as it writes the other phases",
)
A7: Final = Decision(
    "A7",
    "Pods that go missing after the start, or that no longer run after warm-up, are treated like "
    "the pod-level conditions.",
    "the number of pods is monitored throughout the execution",
)
A8: Final = Decision(
    "A8",
    "The maximum does not cap SuccessTTL; the operator's own SuccessTTL does.",
    "its default of 7 days would exceed the maximum of 24 hours, and it is no grace period",
)
A9: Final = Decision(
    "A9",
    "The delayed deletion counts from entering Failed, however many resets came before; the "
    "forceful deletion clock starts when the deletion starts, after that delay. A controller that "
    "was kept from deleting may have started the clock when the deletion was due.",
    "the source measures from entering the Failed state to the beginning of the deletion",
)
A10: Final = Decision(
    "A10",
    "Suspending a Failed AppWrapper may start its delayed deletion at once; it stays Failed.",
    "suspension is respected at any time, and a failed workload is not retried",
)
A11: Final = Decision(
    "A11",
    "The expected number of pods is the sum of all podSet replicas, by default 1 each. An "
    "AppWrapper that expects no pods does not succeed by that alone, and a Job with more "
    "completions than parallelism has not succeeded before its Job says so.",
    "the source does not define the expected number, nor success",
)
A12: Final = Decision(
    "A12",
    "External deletion counts in Resuming and Running, and is ignored once succeeded.",
    "in Resetting the object is being deleted anyway, and in Succeeded the work is done",
)
A13: Final = Decision(
    "A13",
    "A component with a deletion timestamp that its controller did not ask for counts as "
    "externally deleted.",
    "it will not come back, and its pods are being removed",
)
A14: Final = Decision(
    "A14",
    "Failed pods that a Job's own retry left behind count only while the Job has no replacement "
    "for them: a Job that completes makes the AppWrapper succeed.",
    "a Job's own retries leave failed pods behind, and such a Job may still complete",
)
A15: Final = Decision(
    "A15",
    "The retry counter belongs to the AppWrapper's lifetime: suspension keeps it.",
    "the source tracks how often the AppWrapper is reset, without an exception",
)
A16: Final = Decision(
    "A16",
    "One episode counts once: each entry into Resetting adds exactly 1, or 0 for Autopilot.",
    "a count that crashes, conflicts and replays can change does not bound the retries",
)
A17: Final = Decision(
    "A17",
    "An object that this AppWrapper's uid does not own is never adopted, changed or deleted. What "
    "was created for it stays its own when a deletion of the AppWrapper orphans it: that is "
    "removed all the same before the quota is released, unless another controller has taken it.",
    "a collision of names is a failure to create, and nothing else; and the source promises that "
    "all resources are removed which the workload created, whoever is named as their owner",
)
A18: Final = Decision(
    "A18",
    "A name or id that no label can hold is cut to 63 characters, others than letters, digits, "
    "-, _ and . become _, and these three are trimmed off its ends.",
    "the source promises the labels for every submitting user, and identity providers give names "
    "and ids with other characters",
)
A19: Final = Decision(
    "A19",
    "A pod that a controller of Kubernetes makes for an owner that is gone decides nothing for a "
    "claim that cites this, if it comes after ResourcesDeployed turned False and the owner was "
    "gone by then, or within the time of one request before the write that it would contradict. "
    "An operator that was started again has looked since.",
    "a ReplicaSet's controller that lags makes such pods when nothing is left to be seen, and no "
    "operator can wait for what may come",
)
A20: Final = Decision(
    "A20",
    "Where two operators act at once that nothing elects between, a component that one had under "
    "way while the other ended the attempt, and what is made for it, contradict no claim that "
    "cites this. What is left of it still has to go.",
    "a create knows no revision: one that is under way can be neither refused nor called back",
)
A21: Final = Decision(
    "A21",
    "Each step of a deletion follows its cause within one reaction, which is what the history's "
    "header grants for one: the latency, the polling interval, and how slow requests were. The "
    "cause of the first delete of each component is the phase, the suspension or the deletion "
    "timestamp that calls for it, or the end of the delay that a parameter sets; a refused "
    "delete is sent again once a client that backs off as client-go does would, forced ones "
    "follow the end of the grace period, and the conditions and the finalizer the last object.",
    "the source promises that the process always makes progress, and has no other delays in it",
)
A22: Final = Decision(
    "A22",
    "A workload whose controllers are done and all of whose expected pods completed becomes "
    "Succeeded. A pod whose deletion began before its containers ended has not completed, whatever "
    "they exit with, where another takes its place; one that had ended before its deletion has.",
    "the source speaks of AppWrappers that successfully completed, and does not say when",
)
A23: Final = Decision(
    "A23",
    "A creation that the API server refuses counts as missing pods from then on: noticed as "
    "Unhealthy, tried again as any failure is, and given up at the limit. What the user wrote in "
    "a template stays beside what is injected. The AppWrapper's own finalizer, stripped while "
    "resources are deployed, is put back within one reaction.",
    "the source names no failure to create, and protects what is deployed by the finalizer alone",
)
A24: Final = Decision(
    "A24",
    "An AppWrapper is refused when it is submitted if it wraps an AppWrapper, has a component in "
    "another namespace, has no pod set or more than eight, or has a pod set, declared or inferred, "
    "that leads to no pod template or says otherwise than its template. A change to its "
    "components' templates or pod sets, or to who manages it, is refused as well.",
    "the source promises a number of checks and does not list them; these are the released "
    "operator's, Kueue takes eight pod sets, and labels reach pods by way of pod sets alone",
)
A25: Final = Decision(
    "A25",
    "What podSetInfos say of a pod set when its quota is reserved is added to its pods beside what "
    "their template says: labels, annotations, node selector, tolerations, scheduling gates.",
    "the source lets Kueue reserve quota, and the quota is for the nodes that are named there",
)
A26: Final = Decision(
    "A26",
    "A mark whose effect is PreferNoSchedule is avoided by a preferred node affinity, with the "
    "weight that is configured; it never keeps a pod off a node.",
    "the source calls the marks taints, and such a taint is a preference",
)
