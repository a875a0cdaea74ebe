"""Validation and defaults. The CustomResourceDefinition decides which actions there are."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from vocabulary.objects import Object

FAILURE_REASONS: Final = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


_LABEL_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DNS_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = re.compile(rf"{_DNS_LABEL}(\.{_DNS_LABEL})*")
_MAX_SUBDOMAIN: Final = 253

PLACEMENT: Final = (
    "metadata.labels",
    "metadata.annotations",
    "spec.nodeSelector",
    "spec.tolerations",
    "spec.schedulingGates",
)
"""The fields of a pod template by which queues say where the pods are to run."""


class AdmissionRules:
    """JS-006, 007, 009, 011, 046, 075, 096, 109, 110."""

    def reasons_are_user_defined(self) -> bool:
        """True if Jobs may define failure reasons (`setConditionReason`), and rules list them."""
        return False

    def is_failure_reason(self, reason: str) -> bool:
        """True for the failure reasons of batch/v1 Jobs."""
        return reason in FAILURE_REASONS

    def reasons_are_unique(self) -> bool:
        return True

    def targets_are_unique(self) -> bool:
        return True

    def targets_must_exist(self) -> bool:
        return True

    def is_topology(self, key: str) -> bool:
        """True for what the key of a node's label may be."""
        prefix, _, name = key.rpartition("/")
        has_prefix = "/" not in key or (
            _SUBDOMAIN.fullmatch(prefix) is not None and len(prefix) <= _MAX_SUBDOMAIN
        )
        return has_prefix and _LABEL_NAME.fullmatch(name) is not None

    def is_resource_of_pods(self, name: str) -> bool:
        """True for what a pod as a whole may ask for, and not its containers alone."""
        return name in ("cpu", "memory") or name.startswith("hugepages-")

    def max_restarts(self, policy: Object) -> Any:
        """The limit of a policy that may have been written without one; the schema judges it."""
        given = policy.get("maxRestarts")
        return 0 if given is None else given

    def default_rule_name(self, index: int) -> str:
        """The name of a rule that was written without one."""
        return f"failurePolicyRule{index}"

    def may_become(self, standing: Any, asked: Any) -> bool:
        """True if an update may set a lasting field of the spec to that; None: it is absent."""
        return bool(standing == asked)

    def open_fields(self, was_suspended: bool, is_suspended: bool) -> Collection[str]:
        """The fields of a replicated job that an update may change."""
        is_open = was_suspended or is_suspended
        return [f"template.spec.template.{each}" for each in PLACEMENT] if is_open else ()
