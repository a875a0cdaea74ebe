"""The mutants of the Kueue controller, by what they get wrong."""

from __future__ import annotations

from reference_controller.kueue.mutants import (
    jobs,
    order,
    pods,
    preemption,
    queues,
    quota,
    release,
    requeuing,
)
from reference_controller.kueue.mutants.registry import MUTANTS

__all__ = [
    "MUTANTS",
    "jobs",
    "order",
    "pods",
    "preemption",
    "queues",
    "quota",
    "release",
    "requeuing",
]
