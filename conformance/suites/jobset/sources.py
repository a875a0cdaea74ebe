"""The documents that claims come from, and how a claim cites one."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

KEP: Final = "jobset-failure-policy"
API: Final = "jobset-api"
"""The comments of the API that the proposal extends: jobset.x-k8s.io/v1alpha2."""


def api(sentence: int) -> Source:
    """A sentence of the proposed API."""
    return Source(KEP, "Proposed Failure Policy API", sentence)


def constraints(sentence: int) -> Source:
    return Source(KEP, "Constraints", sentence)


def implementation(sentence: int) -> Source:
    return Source(KEP, "Implementation", sentence)


def story(number: int, sentence: int) -> Source:
    return Source(KEP, f"User Stories, Story {number}", sentence)


def motivation(sentence: int) -> Source:
    return Source(KEP, "Motivation", sentence)


def test_plan(sentence: int) -> Source:
    return Source(KEP, "Test Plan", sentence)


def future_work(sentence: int) -> Source:
    """A sentence of that section before its stories."""
    return Source(KEP, "Future Work", sentence)


def future_story(number: int, sentence: int) -> Source:
    return Source(KEP, f"Future Work, Story {number}", sentence)


def field(name: str, sentence: int) -> Source:
    """A sentence of the comment on a field or constant: `JobSetSpec.suspend`."""
    return Source(API, name, sentence)
