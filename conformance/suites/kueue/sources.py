"""The documents that claims come from, and how a claim cites one."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

KEP: Final = "kueue-pods-ready-requeue"
GUIDE: Final = "mlbatch-guide"
RELEASE_KEP: Final = "kueue-quota-release-strategy"
"""KEP-10076, alpha in v0.20."""
API: Final = "kueue-api"
"""The comments on the API's fields, at v0.6.2 and v0.19.2."""


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


def alternative(sentence: int) -> Source:
    """A sentence on a timeout instead of a number of requeues."""
    return Source(KEP, "Alternatives, Make knob to be possible to set timeout", sentence)


def story(number: int, sentence: int) -> Source:
    return Source(KEP, f"User Stories, Story {number}", sentence)


def release(sentence: int) -> Source:
    """A sentence on `quotaReleaseStrategy`."""
    return Source(RELEASE_KEP, "Design Details", sentence)


def guide(section: str, sentence: int) -> Source:
    return Source(GUIDE, section, sentence)


def api(section: str, sentence: int) -> Source:
    return Source(API, section, sentence)
