"""The wrong controllers: rejected designs, and single decisions made wrongly."""

from __future__ import annotations

from reference_controller.streams.mutants import decisions, designs
from reference_controller.streams.mutants.registry import MUTANTS

__all__ = ["MUTANTS", "decisions", "designs"]
