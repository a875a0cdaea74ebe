"""The documents that claims come from, and how a claim cites one."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

KEP: Final = "jobset-failure-policy"
API: Final = "jobset-api"
"""The comments of the API that the proposal extends: jobset.x-k8s.io/v1alpha2."""


def api(sentence: str) -> Source:
    """A sentence of the proposed API."""
    return Source(KEP, "Proposed Failure Policy API", sentence)


def constraints(sentence: str) -> Source:
    return Source(KEP, "Constraints", sentence)


def implementation(sentence: str) -> Source:
    return Source(KEP, "Implementation", sentence)


def stories(sentence: str) -> Source:
    return Source(KEP, "User Stories", sentence)


def motivation(sentence: str) -> Source:
    return Source(KEP, "Motivation", sentence)


def test_plan(sentence: str) -> Source:
    return Source(KEP, "Test Plan", sentence)


def future_work(sentence: str) -> Source:
    return Source(KEP, "Future Work", sentence)


def field(section: str, sentence: str) -> Source:
    """A sentence of the API, under the type whose field it describes."""
    return Source(API, section, sentence)
