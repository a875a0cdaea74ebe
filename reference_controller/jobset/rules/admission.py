"""Validation and defaults. The CustomResourceDefinition decides which actions there are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from reference_controller.jobset.known_fields import Cause
from vocabulary.objects import Object

FAILURE_REASONS: Final = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


PLACEMENT: Final = (
    "metadata.labels",
    "metadata.annotations",
    "spec.nodeSelector",
    "spec.tolerations",
    "spec.schedulingGates",
)
"""The fields of a pod template by which queues say where the pods are to run."""


class AdmissionRules:
    """JS-006, 007, 009, 011, 046, 075, 096, 109."""

    def refuses(self, cause: Cause) -> bool:
        """True if a flaw that was found has the JobSet refused."""
        del cause
        return True

    def is_failure_reason(self, reason: str) -> bool:
        """True for the failure reasons of batch/v1 Jobs."""
        return reason in FAILURE_REASONS

    def reasons_are_unique(self) -> bool:
        return True

    def targets_are_unique(self) -> bool:
        return True

    def targets_must_exist(self) -> bool:
        return True

    def max_restarts(self, policy: Object) -> Any:
        """The limit of a policy that may have been written without one; the schema judges it."""
        return policy.get("maxRestarts", 0)

    def default_rule_name(self, index: int) -> str:
        """The name of a rule that was written without one."""
        return f"failurePolicyRule{index}"

    def may_become(self, standing: Any, asked: Any) -> bool:
        """True if an update may set a lasting field of the spec to that; None: it is absent."""
        return bool(standing == asked)

    def open_fields(self, is_suspended: bool) -> Collection[str]:
        """The fields of a replicated job that an update may change."""
        return [f"template.spec.template.{each}" for each in PLACEMENT] if is_suspended else ()
