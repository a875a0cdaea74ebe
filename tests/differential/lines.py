"""Requirements on a simulated cluster, line by line.

The numbers are those of the list that the simulation was written against: 4 is what all
objects have in common, 5 is the Job controller. A script says which lines it covers; a line
that no script covers says here why a control plane cannot show it.
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
        "A deletion's policy is the one that is given, else what a finalizer on the object says,"
        " else the kind's default; the collector's own finalizers are replaced accordingly, and"
        " what has a finalizer left stays, terminating."
    ),
    "4.2": Line(
        "The update that takes the last finalizer off a terminating object is not stored: the"
        " version before it is what goes, finalizers and all."
    ),
    "4.3": Line("A terminating object gets no new finalizer and cannot be brought back."),
    "4.4": Line("Creating under a terminating object's name is refused, with a prefix that tells."),
    "4.5": Line(
        "The server gives a new object its uid and creation time; a resourceVersion is refused;"
        " finalizers are kept, and only the two of the collector together are invalid."
    ),
    "4.6": Line(
        "The collector judges every dependent by live reads of its owners: one that is there"
        " keeps it, one that waits passes the wait on, none at all deletes it, tied to its uid"
        " and version.",
        "its caches' lag and its two steps for each object cannot be stopped from outside;"
        " the simulation's own tests interleave them",
    ),
    "4.7": Line(
        "A repeated foreground deletion puts the finalizer back that the collector had removed."
    ),
    "4.8": Line(
        "A foreground deletion waits for the dependents it knows of; one made at the same moment"
        " can be missed.",
        "the race itself happens when it pleases; the scripts show the wait",
    ),
    "4.9": Line("A background deletion ends the wait of a foreground one at once."),
    "4.10": Line("An orphaning deletion takes the owner references off, then the owner goes."),
    "4.11": Line("A dependent with a finalizer of its own keeps its owner waiting, without limit."),
    "4.12": Line(
        "A pod's deletion shows in steps: deletionTimestamp, a final phase, gone; a lost node"
        " leaves it terminating."
    ),
    "4.13": Line(
        "The events of one kind are in order and complete, an observer can start from any"
        " revision that is remembered; between kinds there is no order.",
        "that other kinds' events may come earlier or later is a freedom, not something to show",
    ),
    "4.14": Line(
        "Where the plugin for it is on, a blocking owner reference needs the right to update the"
        " owner's finalizers."
    ),
    "4.15": Line(
        "What Kubernetes' own conformance tests ask of the collector: keep an owner until its"
        " pods are gone, keep what another owner needs, do not block on circles, orphan, cascade"
        " through Deployments and custom resources."
    ),
    "4.16": Line(
        "What the races need: a PUT keeps the uid, a POST on a name that exists is refused,"
        " versions and generations count what they should, writes without effect have none.",
        "schedules, restarts and lost answers are the simulation's own: nothing to compare with",
    ),
    "5.1": Line("A Job's defaults, what is refused, and what may be changed later."),
    "5.2": Line("A Job ends in two steps: an interim condition, and the final one after the pods."),
    "5.3": Line("Of several reasons to fail, the failure policy comes first, then the limits."),
    "5.4": Line(
        "Which pods count as failed, when they are replaced, and how often.",
        "how long a replacement waits: the recordings end the wait early to be quick, the"
        " simulation's own tests measure it in virtual time",
    ),
    "5.5": Line("The rules of a pod failure policy: first match, by exit code or condition."),
    "5.6": Line("Indexed Jobs: one pod for each index, failures for each index, success policies."),
    "5.7": Line("Suspending, resuming, and Jobs that others manage."),
    "5.8": Line(
        "The tracking finalizer, and what becomes of a deleted Job's pods.",
        "a crash between two of the accounting steps: restarts are the simulation's own",
    ),
    "5.9": Line("What a Job's status must satisfy when somebody else writes it."),
}
