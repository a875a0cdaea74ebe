"""Validation and defaulting rules of admission. `admission.admit` applies them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from reference_controller.appwrapper.names import QUEUE_LABEL, USER_ID_LABEL, USER_LABEL

_NOT_IN_LABELS: Final = re.compile(r"[^-_.\w]", re.ASCII)
MAX_LABEL_LENGTH: Final = 63
MAX_POD_SETS: Final = 8
"""Kueue refuses a workload with more."""


class AdmissionRules:
    """MLB-020, 021, 074, 075."""

    def queue_label(self, labels: Mapping[str, str], default: str) -> Mapping[str, str]:
        """The labels with the default queue, unless the user named one."""
        if not default or QUEUE_LABEL in labels:
            return labels
        return {**labels, QUEUE_LABEL: default}

    def user_labels(self, labels: Mapping[str, str], username: str, uid: str) -> Mapping[str, str]:
        """The labels with who submitted it; what the user wrote there himself is overwritten."""
        return {**labels, USER_LABEL: label_value(username), USER_ID_LABEL: label_value(uid)}

    def lasting_labels(self) -> tuple[str, ...]:
        """The immutable labels."""
        return (USER_LABEL, USER_ID_LABEL)

    def lasting_fields(self) -> tuple[str, ...]:
        """The immutable fields of a component."""
        return ("template", "podSets")

    def max_pod_sets(self) -> int:
        return MAX_POD_SETS


def label_value(text: str) -> str:
    """The text as a label's value: at most 63 characters, alphanumeric at both ends."""
    return _NOT_IN_LABELS.sub("_", text[:MAX_LABEL_LENGTH]).strip("-_.")
