"""One look at a Job and its pods: who is active, who has ended, what is not yet counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clusters.simulated.controllers.workloads.job.backoff import BackoffRecord, finished_us
from clusters.simulated.controllers.workloads.job.failure_policy import match_policy
from clusters.simulated.controllers.workloads.job.indexes import (
    IGNORED_FAILURE_COUNT,
    failure_count,
    index_of,
    parse_indexes,
)
from clusters.simulated.controllers.workloads.job.pods import has_failed, is_tracked
from clusters.simulated.controllers.workloads.pods import is_active, is_ready, is_stopping, phase_of
from vocabulary.clock import Micros
from vocabulary.objects import Object, uid_of


@dataclass(slots=True)
class Tally:
    """The working state of one sync. `status` is this sync's own copy and may be changed."""

    job: Object
    spec: Object
    status: dict[str, Any]
    pods: list[Object]
    now_us: Micros
    now: str
    active_pods: list[Object] = field(default_factory=list)
    active: int = 0
    ready: int = 0
    stopping: int = 0
    """Pods being deleted that have not ended."""
    succeeded: int = 0
    failed: int = 0
    """Both with what is not yet in the status."""
    backoff: BackoffRecord = field(default_factory=BackoffRecord)
    finish: dict[str, Any] | None = None
    """The condition in which the Job is to end, once that is decided."""
    counted_indexes: frozenset[int] = frozenset()
    """Succeeded indexes that the status already names."""
    succeeded_indexes: frozenset[int] = frozenset()
    failed_indexes: frozenset[int] | None = None
    """None without a back-off limit per index."""
    replaceable: dict[int, Object] = field(default_factory=dict)
    """By index, the failed pod whose failure count its replacement has yet to carry on."""

    @property
    def is_indexed(self) -> bool:
        return self.spec.get("completionMode") == "Indexed"

    @property
    def is_per_index(self) -> bool:
        return self.spec.get("backoffLimitPerIndex") is not None

    @property
    def completions(self) -> int | None:
        found: int | None = self.spec.get("completions")
        return found

    def has_valid_index(self, pod: Object) -> bool:
        """True if a pod's completion index is valid for this Job, or not required."""
        if not self.is_indexed:
            return True
        index = index_of(pod)
        return index is not None and index < (self.completions or 0)


def take(
    job: Object, pods: list[Object], backoff: BackoffRecord, now_us: Micros, now: str
) -> Tally:
    """Count a Job's pods, as they are now."""
    spec = job["spec"]
    status = dict(job.get("status") or {})
    uncounted = status.get("uncountedTerminatedPods") or {}
    status["uncountedTerminatedPods"] = uncounted
    tally = Tally(job, spec, status, pods, now_us, now)
    tally.active_pods = [pod for pod in pods if is_active(pod)]
    tally.active = len(tally.active_pods)
    tally.ready = sum(is_ready(pod) for pod in tally.active_pods)
    tally.stopping = sum(is_stopping(pod) for pod in pods)

    waiting_succeeded = uncounted.get("succeeded") or ()
    waiting_failed = uncounted.get("failed") or ()
    new_succeeded: list[Object] = []
    new_failed: list[Object] = []
    for pod in pods:
        if not is_tracked(pod) or not tally.has_valid_index(pod):
            continue
        uid = uid_of(pod)
        if phase_of(pod) == "Succeeded" and uid not in waiting_succeeded:
            new_succeeded.append(pod)
        elif has_failed(pod, spec) and uid not in waiting_failed:
            new_failed.append(pod)
    policy = spec.get("podFailurePolicy")
    tally.succeeded = status.get("succeeded", 0) + len(new_succeeded) + len(waiting_succeeded)
    tally.failed = (
        status.get("failed", 0)
        + sum(match_policy(policy, pod).counts for pod in new_failed)
        + len(waiting_failed)
    )
    tally.backoff = backoff.after(new_succeeded, new_failed)
    if tally.is_indexed:
        _take_indexes(tally)
    return tally


def _take_indexes(tally: Tally) -> None:
    completions = tally.completions or 0
    tally.counted_indexes = parse_indexes(tally.status.get("completedIndexes", ""), completions)
    tracked = [pod for pod in tally.pods if is_tracked(pod) and tally.has_valid_index(pod)]
    fresh = [pod for pod in tracked if phase_of(pod) == "Succeeded"]
    tally.succeeded_indexes = tally.counted_indexes | _indexes_of(fresh)
    tally.succeeded = len(tally.succeeded_indexes)
    if not tally.is_per_index:
        return
    lost = [pod for pod in tracked if _index_is_lost(pod, tally.spec)]
    tally.failed_indexes = parse_indexes(
        tally.status.get("failedIndexes", ""), completions
    ) | _indexes_of(lost)
    settled = tally.succeeded_indexes | tally.failed_indexes | _indexes_of(tally.active_pods)
    for pod in tracked:
        index = index_of(pod)
        if index is None or index in settled or not has_failed(pod, tally.spec):
            continue
        standing = tally.replaceable.get(index)
        if standing is None or (
            total_failures(standing) <= total_failures(pod)
            and finished_us(standing) <= finished_us(pod)
        ):
            tally.replaceable[index] = pod


def _indexes_of(pods: list[Object]) -> frozenset[int]:
    return frozenset(index for pod in pods if (index := index_of(pod)) is not None)


def _index_is_lost(pod: Object, spec: Object) -> bool:
    """True if this pod's failure fails its index permanently."""
    if not has_failed(pod, spec):
        return False
    match = match_policy(spec.get("podFailurePolicy"), pod)
    if match.action == "FailIndex":
        return True
    limit: int = spec["backoffLimitPerIndex"]
    return match.counts and failure_count(pod) >= limit


def total_failures(pod: Object) -> int:
    """The failures of a pod's index before it, those that do not count among them."""
    return failure_count(pod) + failure_count(pod, IGNORED_FAILURE_COUNT)
