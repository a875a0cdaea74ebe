"""The documents that claims come from, and how a claim cites one."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

KEP: Final = "kueue-pods-ready-requeue"


def config(sentence: int) -> Source:
    """A sentence of the comments on the configuration."""
    return Source(KEP, "KueueConfig", sentence)


def workload(sentence: int) -> Source:
    """A sentence of the comments on the Workload's status."""
    return Source(KEP, "Workload", sentence)


def sorting(sentence: int) -> Source:
    return Source(KEP, "Changes to Queue Sorting", sentence)


def mechanism(sentence: int) -> Source:
    return Source(KEP, "Exponential Backoff Mechanism", sentence)


def evaluation(sentence: int) -> Source:
    return Source(KEP, "Exponential Backoff Mechanism, Evaluation", sentence)


def story(number: int, sentence: int) -> Source:
    return Source(KEP, f"User Stories, Story {number}", sentence)
