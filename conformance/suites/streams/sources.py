"""The document that claims come from, and how a claim cites it."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

SEED: Final = "streams-failure-handling"


def text(section: str, sentence: int) -> Source:
    return Source(SEED, section, sentence)
