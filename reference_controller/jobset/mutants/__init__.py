"""The mutants of the JobSet controller, by what they get wrong."""

from __future__ import annotations

from reference_controller.jobset.mutants import (
    admission,
    endings,
    partial_restarts,
    policy,
    restarts,
)
from reference_controller.jobset.mutants.registry import MUTANTS

__all__ = ["MUTANTS", "admission", "endings", "partial_restarts", "policy", "restarts"]
