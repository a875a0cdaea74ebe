"""The suite's decisions where the norm is silent or contradicts itself, each in one place."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

ATTEMPTS: Final = Decision(
    "S1",
    "An attempt to submit a Job ends when the process ends that has begun it, or when the Job is "
    "deleted.",
    "the norm speaks of failures of the operator during a submission, and names no attempts",
)
FRESH: Final = Decision(
    "S2",
    "A Job without spec.id was not begun. It is submitted as a new one, and keeps its uid.",
    "the norm speaks of submissions that are in progress; nothing depends on such a Job",
)
USERS_WISH: Final = Decision(
    "S3",
    "A Job that its user has deleted does not come back, also during its recovery. Once the "
    "operator has asked for the deletion, another request to delete the Job changes nothing that "
    "could be noticed.",
    "the norm does not speak of users; an operator that only sees that a Job is being deleted "
    "cannot tell who wants so",
)
DURABLE: Final = Decision(
    "S4",
    "In the edition strict a Job survives a crash at each moment of its recovery. In the edition "
    "seed it may be lost if the operator ends between the deletion and the creation.",
    "the norm's mechanism has the intent to create the Job in the operator's memory alone",
)
VERIFIED: Final = Decision(
    "S5",
    "The operator has to see that nothing is left of the interrupted Job; that its deletion has "
    "ended is not enough.",
    "the norm says that all dependents are guaranteed to be deleted then; Kubernetes guarantees it "
    "for those that block, and exist when it looks",
)
ONE_AT_A_TIME: Final = Decision(
    "S7",
    "Nothing is asked of two processes that act at once, without an election.",
    "the norm has one operator, whose replacement starts when it has failed",
)
HEALED: Final = Decision(
    "S6",
    "What is missing of a Submitted Job is restored, also if it went while the operator was down.",
    "the norm restores pods that users delete, and does not say when they do",
)
