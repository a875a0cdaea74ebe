"""Seeds: the number that decides every random choice of a run."""

from __future__ import annotations

from typing import Final

MAX_SEED: Final = 2**63 - 1
"""Readers of plans and histories may store a seed in 64 bits."""
