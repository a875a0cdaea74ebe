"""The mutants of the JobSet controller, by what they get wrong."""

from __future__ import annotations

from reference_controller.jobset.mutants import (
    admission,
    children,
    endings,
    partial_restarts,
    policy,
    restarts,
    startup,
    success,
    suspension,
)
from reference_controller.jobset.mutants.registry import MUTANTS

__all__ = [
    "MUTANTS",
    "admission",
    "children",
    "endings",
    "partial_restarts",
    "policy",
    "restarts",
    "startup",
    "success",
    "suspension",
]
