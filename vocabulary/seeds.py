"""Seeds: what decides every random choice of a run."""

from __future__ import annotations

from typing import Final

MAX_SEED: Final = 2**63 - 1
"""Whoever reads a plan or a history may keep it in 64 bits."""
