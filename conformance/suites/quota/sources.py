"""The documents that claims come from, and how a claim cites one."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

GUIDE: Final = "mlbatch-guide"
RELEASE: Final = "kueue-quota-release"
"""The proposal of a quota release strategy for each kind of jobs (KEP-10076)."""


def quotas(sentence: int) -> Source:
    """A sentence of the guide about cluster queues and their quotas."""
    return Source(GUIDE, "Kueue", sentence)


def states(sentence: int) -> Source:
    """A sentence of the guide about the states of workloads and the quota in each."""
    return Source(GUIDE, "AppWrapper States", sentence)


def reports(sentence: int) -> Source:
    """A sentence on what queues show of their quotas."""
    return Source(GUIDE, "Quota Reporting", sentence)


def preemption(sentence: int) -> Source:
    return Source(GUIDE, "Preemption", sentence)


def release(sentence: int) -> Source:
    return Source(RELEASE, "Summary", sentence)
