"""The history of a served cluster: its header, and its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clusters.simulated.cluster import SimulatedCluster
from vocabulary.clock import HOUR
from vocabulary.history import Header, OperatorFacts, OperatorUnderTest

KUBERNETES_VERSION: Final = "v1.36"
IMPLEMENTATION: Final = "program"
"""The name of a program of which nothing is known but what it did."""


def header_of(
    cluster: SimulatedCluster,
    scenario: str,
    roles: Iterable[str],
    facts: OperatorFacts | None = None,
) -> Header:
    """The header of a history in which a program of each role may have taken part."""
    return Header(
        scenario=scenario,
        seed=cluster.loop.seed,
        cluster="simulated",
        clock="virtual",
        began_us=cluster.loop.began_us,
        kubernetes_version=KUBERNETES_VERSION,
        operators={
            role: OperatorUnderTest(
                suite=role, implementation=IMPLEMENTATION, facts=facts or OperatorFacts()
            )
            for role in sorted(roles)
        },
    )


def is_at_rest(cluster: SimulatedCluster) -> bool:
    """True if nothing is left to do within the next hour, but housekeeping."""
    is_up = not cluster.processes.awaits_restart
    return is_up and cluster.is_quiet(cluster.loop.now_us + HOUR)


def end(cluster: SimulatedCluster, why_not: str = "") -> None:
    """Record the end; `why_not` says why the cluster is not at rest, if it is not."""
    recorder = cluster.recorder
    if is_at_rest(cluster):
        recorder.mark("stable")
    else:
        recorder.mark("not-stable", why_not)
    recorder.mark("end")
