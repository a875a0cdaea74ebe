"""Known limits: differences between real clusters and the simulation, each with its reason.

These differences are known and accepted: the table of agreement ends with them.
A difference that is neither here nor explained by a scenario's own `only_simulated` is a bug.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limit:
    """One named difference."""

    name: str
    text: str
    reason: str
    where: tuple[str, ...] = ("control-plane", "kind")


LIMITS: Final = (
    Limit(
        "measured-slack",
        "Upper bounds allow for how slow the machine was during the run (`slack_us` in the "
        "history's header).",
        "Real time goes on while somebody else has the cores. The harness measures how long a "
        "row of requests takes all the while, and a busy machine has longer durations. A short "
        "situation may end before it arms a claim all the same: a scenario that is meant to arm "
        "it is then run again with longer ones, any other shows as armed on one only.",
    ),
    Limit(
        "shortened-durations",
        "Grace periods last seconds, not minutes: they are configured, so nothing shows what the "
        "operator's own defaults are, and no scenario waits for one of a day.",
        "The scenarios are the same; their parameters are those of the operator's configuration.",
    ),
    Limit(
        "one-controller-manager",
        "Pausing one of Kubernetes' controllers pauses all that live in the controller manager.",
        "They share a process; the simulation can stop each by itself.",
    ),
    Limit(
        "no-faults-at-deliveries",
        "Faults strike at writes, at their commits and at their replies; none strikes when an "
        "event is delivered to the operator.",
        "What a client has done with a line that it has been sent is not visible from outside.",
    ),
    Limit(
        "frozen-cache-after-gone",
        "While caches are frozen, an informer that starts lists the past, but one that was "
        "told 410 Gone lists the present.",
        "Its list is then the same request as a read that bypasses the cache.",
    ),
    Limit(
        "webhooks-in-the-harness",
        "Admission webhooks are served by the harness, and stay up while the operator is down.",
        "A deployment has several replicas of them. The fault that takes them down does so.",
    ),
    Limit(
        "fake-kubelets",
        "Pods run on KWOK's nodes: no containers, no network, no logs.",
        "Real containers are what a kind cluster adds.",
        where=("control-plane",),
    ),
    Limit(
        "not-ready-is-silent",
        "The kubelet of a node that is to be not ready is stopped; it stops no pods meanwhile.",
        "Nothing makes a healthy kubelet say that it is not. To everybody else the two differ in "
        "one word: the Ready condition is Unknown, not False.",
        where=("kind",),
    ),
    Limit(
        "real-containers-take-time",
        "Durations are longer, by what pods of this cluster take to start and to end.",
        "A kubelet works through its pods, pulls, mounts, starts and probes; fake ones write a "
        "status.",
        where=("kind",),
    ),
)
