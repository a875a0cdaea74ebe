"""The document that claims come from, and how a claim cites it."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

DOCUMENT: Final = "streams-failure-handling"


def text(sentence: int) -> Source:
    return Source(DOCUMENT, "Failure Handling", sentence)
