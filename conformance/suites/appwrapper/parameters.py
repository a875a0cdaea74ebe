"""The source's table of the retry loop's parameters."""

from __future__ import annotations

from typing import Final, NamedTuple

from vocabulary.clock import DAY, MINUTE, SECOND

ADMISSION_GRACE: Final = "admissionGracePeriodDuration"
WARMUP_GRACE: Final = "warmupGracePeriodDuration"
FAILURE_GRACE: Final = "failureGracePeriodDuration"
RETRY_PAUSE: Final = "retryPausePeriodDuration"
RETRY_LIMIT: Final = "retryLimit"
DELETION_ON_FAILURE_GRACE: Final = "deletionOnFailureGracePeriodDuration"
FORCEFUL_DELETION_GRACE: Final = "forcefulDeletionGracePeriodDuration"
SUCCESS_TTL: Final = "successTTLDuration"


class Parameter(NamedTuple):
    """A row of the source's table."""

    title: str
    default_text: str
    default: int
    """A span in µs, or a count for the retry limit."""
    annotation: str
    """The key of its annotation, without the prefix that all have."""
    config_key: str = ""
    """Its name in the operator's configuration; empty: the operator has none for it."""


PARAMETERS: Final = {
    row.annotation: row
    for row in (
        Parameter(
            "AdmissionGracePeriod", "1 Minute", MINUTE, ADMISSION_GRACE, "admissionGracePeriod"
        ),
        Parameter("WarmupGracePeriod", "5 Minutes", 5 * MINUTE, WARMUP_GRACE, "warmupGracePeriod"),
        Parameter("FailureGracePeriod", "1 Minute", MINUTE, FAILURE_GRACE, "failureGracePeriod"),
        Parameter("RetryPausePeriod", "90 Seconds", 90 * SECOND, RETRY_PAUSE, "resetPause"),
        Parameter("RetryLimit", "3", 3, RETRY_LIMIT, "retryLimit"),
        Parameter("DeletionOnFailureGracePeriod", "0 Seconds", 0, DELETION_ON_FAILURE_GRACE),
        Parameter(
            "ForcefulDeletionGracePeriod",
            "10 Minutes",
            10 * MINUTE,
            FORCEFUL_DELETION_GRACE,
            "deletionGracePeriod",
        ),
        Parameter("SuccessTTL", "7 Days", 7 * DAY, SUCCESS_TTL, "successTTLCeiling"),
    )
}
"""The table without GracePeriodMaximum, which no annotation changes, by annotation."""
