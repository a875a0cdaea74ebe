"""The mutants of the Kueue controller, by what they get wrong."""

from __future__ import annotations

from reference_controller.kueue.mutants import (
    order,
    pods,
    preemption,
    queues,
    quota,
    release,
    requeuing,
)
from reference_controller.kueue.mutants.registry import MUTANTS

__all__ = ["MUTANTS", "order", "pods", "preemption", "queues", "quota", "release", "requeuing"]
