"""The retry loop's parameters of one AppWrapper: annotations over the operator's configuration.

Annotations are read again at every reconcile, so editing one moves a timer that is running.
What is malformed counts as absent: a typing error in an annotation must not stop a workload.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from reference_controller.appwrapper.config import FaultTolerance
from reference_controller.appwrapper.names import ANNOTATION_PREFIX
from vocabulary.clock import Micros
from vocabulary.durations import parse_duration

ADMISSION_GRACE: Final = f"{ANNOTATION_PREFIX}admissionGracePeriodDuration"
WARMUP_GRACE: Final = f"{ANNOTATION_PREFIX}warmupGracePeriodDuration"
FAILURE_GRACE: Final = f"{ANNOTATION_PREFIX}failureGracePeriodDuration"
RETRY_PAUSE: Final = f"{ANNOTATION_PREFIX}retryPausePeriodDuration"
RETRY_LIMIT: Final = f"{ANNOTATION_PREFIX}retryLimit"
DELETION_ON_FAILURE_GRACE: Final = f"{ANNOTATION_PREFIX}deletionOnFailureGracePeriodDuration"
FORCEFUL_DELETION_GRACE: Final = f"{ANNOTATION_PREFIX}forcefulDeletionGracePeriodDuration"
SUCCESS_TTL: Final = f"{ANNOTATION_PREFIX}successTTLDuration"

_GO_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_INT64_MAX: Final = 2**63 - 1
_MAX_DIGITS: Final = 1_000


class Parameters(msgspec.Struct, frozen=True):
    """The effective parameters of one AppWrapper."""

    admission_grace_us: Micros
    warmup_grace_us: Micros
    failure_grace_us: Micros
    retry_pause_us: Micros
    retry_limit: int
    deletion_on_failure_grace_us: Micros
    forceful_deletion_grace_us: Micros
    success_ttl_us: Micros


def span_of(annotations: Mapping[str, str], key: str, default_us: Micros) -> Micros:
    """The span that an annotation names; the default where it is absent or malformed."""
    text = annotations.get(key)
    if text is None:
        return default_us
    try:
        return parse_duration(text)
    except ValueError:
        return default_us


def retry_limit_of(annotations: Mapping[str, str], operator: FaultTolerance) -> int:
    """The limit that the annotation names, read as the released operator does: an int32.

    `strconv.Atoi` refuses blanks, fractions and what overflows 64 bits; what fits 64 bits
    but not 32 wraps around.
    """
    number = atoi(annotations.get(RETRY_LIMIT))
    if number is None:
        return operator.retry_limit
    return (number + 2**31) % 2**32 - 2**31


def atoi(text: str | None) -> int | None:
    """Go's `strconv.Atoi`; None for what it refuses, and for None."""
    if text is None or not _GO_INTEGER.fullmatch(text) or len(text) > _MAX_DIGITS:
        return None
    number = int(text)
    return number if -_INT64_MAX - 1 <= number <= _INT64_MAX else None
