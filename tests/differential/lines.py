"""Requirements on a simulated cluster, line by line.

The numbers are those of the list that the simulation was written against: 4 is what all
objects have in common, 5 is the Job controller, 6 is the placement of pods, 7 is what operators
need of an API server beside the objects that they manage. A script says which lines it covers; a
line that no script covers says here why a control plane cannot show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Line:
    """One line of the list, and what of it cannot be shown by asking a control plane."""

    text: str
    not_shown: str = ""


LINES: Final[dict[str, Line]] = {
    "4.1": Line(
        "A deletion's policy is the one in the request, else that of a finalizer on the object,"
        " else the kind's default; the garbage collector's own finalizers are replaced"
        " accordingly, and an object with remaining finalizers stays, terminating."
    ),
    "4.2": Line(
        "The update that removes the last finalizer of a terminating object is not stored: the"
        " version before it, with its finalizers, is deleted."
    ),
    "4.3": Line("A terminating object accepts no new finalizer and cannot be restored."),
    "4.4": Line(
        "Creating an object with the name of a terminating one is rejected, with a prefix in the"
        " message."
    ),
    "4.5": Line(
        "The server sets a new object's uid and creation time; a resourceVersion is rejected;"
        " finalizers are kept, and only both of the garbage collector's together are invalid."
    ),
    "4.6": Line(
        "The garbage collector decides on every dependent by live reads of its owners: an"
        " existing owner keeps it, a waiting owner passes the wait on, and without any it is"
        " deleted, with its uid and version as preconditions.",
        "its cache lag and its two steps for each object cannot be controlled from outside; the"
        " simulation's own tests interleave them",
    ),
    "4.7": Line(
        "A repeated foreground deletion restores the finalizer that the garbage collector had"
        " removed."
    ),
    "4.8": Line(
        "A foreground deletion waits for the dependents it knows of; one created at the same"
        " moment can be missed.",
        "the race itself cannot be forced; the scripts show the wait",
    ),
    "4.9": Line("A background deletion ends the wait of a foreground one immediately."),
    "4.10": Line("An orphaning deletion removes the owner references, then the owner."),
    "4.11": Line("A dependent with its own finalizer keeps its owner waiting indefinitely."),
    "4.12": Line(
        "A pod's deletion shows in steps: deletionTimestamp, a final phase, gone; a lost node"
        " leaves it terminating."
    ),
    "4.13": Line(
        "The events of one kind are in order and complete, and a watch can start from any"
        " retained revision; there is no order between kinds.",
        "other kinds' events may come earlier or later, so there is no order to test",
    ),
    "4.14": Line(
        "With OwnerReferencesPermissionEnforcement, a blocking owner reference requires"
        " permission to update the owner's finalizers."
    ),
    "4.15": Line(
        "Requirements of Kubernetes' own conformance tests on the garbage collector: keep an"
        " owner until its pods are gone, keep dependents of another owner, do not block on cycles,"
        " orphan, cascade through Deployments and custom resources."
    ),
    "4.16": Line(
        "Preconditions of the races: a PUT keeps the uid, a POST of an existing name is rejected,"
        " resourceVersions and generations increase correctly, and no-op writes change neither.",
        "schedules, restarts and lost responses exist in the simulation only",
    ),
    "5.1": Line("A Job's defaults, validation, and mutable fields."),
    "5.2": Line("A Job ends in two steps: an interim condition, and the final one after the pods."),
    "5.3": Line(
        "If a Job has several reasons to fail, the failure policy takes precedence over the limits."
    ),
    "5.4": Line("Which pods count as failed, when they are replaced, and how often."),
    "5.5": Line("The rules of a pod failure policy: first match, by exit code or condition."),
    "5.6": Line("Indexed Jobs: one pod for each index, failures for each index, success policies."),
    "5.7": Line("Suspending, resuming, and Jobs managed by other controllers."),
    "5.8": Line(
        "The tracking finalizer, and the pods of a deleted Job.",
        "a crash between two of the accounting steps: restarts exist in the simulation only",
    ),
    "5.9": Line("Validation of a Job's status in writes by other clients."),
    "6.1": Line(
        "Placement by nodes: node selector, required node affinity with terms of which one must"
        " match, and taints with their tolerations."
    ),
    "6.2": Line(
        "Placement by pods: required affinity and anti-affinity within a topology, the namespaces"
        " they mean, the first pod of a series, and the anti-affinity of pods already bound."
    ),
    "6.3": Line(
        "A NoExecute taint evicts pods that do not tolerate it, immediately or after the shortest"
        " of their tolerationSeconds."
    ),
    "6.4": Line(
        "Preemption: the least important pods that make room are pushed out, on the node where"
        " that matters least."
    ),
    "7.1": Line("Reviews of tokens, of users and of their rights; they are not stored."),
    "7.2": Line("Tokens of service accounts: for whom, for how long, bound to what."),
    "7.4": Line("Discovery: groups, versions, resources and subresources, plain or aggregated."),
    "7.5": Line(
        "EndpointSlices: defaults, validation and immutable fields.",
        "slices of Services: the simulation has no controller that writes them",
    ),
    "7.6": Line("Admission webhooks: which requests are reviewed, and what is sent and done."),
    "7.7": Line(
        "APIServices: local ones are available, others say what they lack, and are not reached.",
        "an APIService whose Service has endpoints: the simulation proxies to no other server",
    ),
    "7.8": Line(
        "Objects are converted between the versions of a definition, by its webhook if it has one."
    ),
    "7.9": Line("Impersonation: who may act as whom, for which requests, and with which rights."),
    "7.3": Line("Rights by roles and bindings, in a namespace or in all, and refusals without."),
}
