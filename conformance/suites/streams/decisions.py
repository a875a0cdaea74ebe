"""The suite's decisions where the norm is silent or contradicts itself, each in one place."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

ATTEMPTS: Final = Decision(
    "S1",
    "An attempt to submit a Job ends when the process ends that has begun it, or the Job does.",
    "the norm speaks of a failure of the operator during a submission, and names no attempts",
)
