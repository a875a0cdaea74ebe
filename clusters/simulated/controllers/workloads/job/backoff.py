"""How long a Job waits before it replaces a failed pod.

The count of failures in a row is in the controller's memory and dies with the process, as
in reality. With a back-off limit per index it is on the pods themselves, and survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clusters.simulated.controllers.settings import Settings
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.objects import Object, condition, meta


@dataclass(frozen=True, slots=True)
class BackoffRecord:
    """Failures since the last success, and when the last of them happened."""

    failures: int = 0
    last_failure_us: Micros = 0

    def after(self, succeeded: Sequence[Object], failed: Sequence[Object]) -> BackoffRecord:
        """The record once pods that have newly ended are taken in; a success sets it back."""
        if not succeeded and not failed:
            return self
        failed_us = sorted(finished_us(pod) for pod in failed)
        if not succeeded:
            return BackoffRecord(self.failures + len(failed), failed_us[-1])
        last_success_us = max(finished_us(pod) for pod in succeeded)
        later = [at_us for at_us in failed_us if at_us > last_success_us]
        return BackoffRecord(len(later), later[-1]) if later else BackoffRecord()


def remaining_us(settings: Settings, failures: int, last_us: Micros, now_us: Micros) -> Micros:
    """The remaining back-off after so many failures in a row; 0 if it is over."""
    if failures == 0:
        return 0
    wait_us = settings.job_pod_backoff_us << min(failures - 1, 30)
    return max(0, min(wait_us, settings.job_pod_backoff_limit_us) - (now_us - last_us))


def finished_us(pod: Object) -> Micros:
    """When a pod ended: by its containers, else when it was no longer ready, else deleted.

    API timestamps have whole seconds, so this is up to a second early, as in reality.
    """
    status = pod.get("status") or {}
    by_container = [
        ((container.get("state") or {}).get("terminated") or {}).get("finishedAt")
        for container in status.get("containerStatuses") or ()
    ]
    if by_container and all(by_container):
        return max(parse_rfc3339(moment) for moment in by_container)
    ready = condition(pod, "Ready")
    if ready is not None and ready["status"] == "False" and ready.get("lastTransitionTime"):
        return parse_rfc3339(ready["lastTransitionTime"])
    metadata = meta(pod)
    if "deletionTimestamp" in metadata:
        grace_us = (metadata.get("deletionGracePeriodSeconds") or 0) * SECOND
        return parse_rfc3339(metadata["deletionTimestamp"]) - grace_us
    return parse_rfc3339(metadata["creationTimestamp"])
