"""Validation and defaults."""

from __future__ import annotations

from typing import Final

from reference_controller.jobset.names import ACTIONS

FAILURE_REASONS: Final = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)
_LASTING: Final = (
    "failurePolicy",
    "successPolicy",
    "startupPolicy",
    "network",
    "coordinator",
    "managedBy",
)


class AdmissionRules:
    """JS-004, 006, 007, 009, 046, 096."""

    def known_actions(self) -> tuple[str, ...]:
        return ACTIONS

    def known_reasons(self) -> tuple[str, ...]:
        """The failure reasons of batch/v1 Jobs."""
        return FAILURE_REASONS

    def repeats_are_refused(self) -> bool:
        """True if the reasons and targets of a rule are sets."""
        return True

    def targets_must_exist(self) -> bool:
        return True

    def lasting_fields(self) -> tuple[str, ...]:
        """The fields of the spec that no update changes, adds or removes."""
        return _LASTING
