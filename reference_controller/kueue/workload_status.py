"""The next status of a Workload, from its job and its pods: pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.integrations import Integration
from reference_controller.kueue.names import Condition, Reason, Release
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.shared.conditions import with_condition
from vocabulary.canonical import digest
from vocabulary.clock import Micros
from vocabulary.objects import Object


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A Workload with its job, at a point in time."""

    workload: Workload
    integration: Integration
    job: Object
    pods_left: Mapping[str, int]
    """By pod set: its pods that are not terminal."""
    now_us: Micros
    stopped: str = ""
    """The reason to evict it since its queue is drained; empty: there is none."""


@dataclass(slots=True)
class Next:
    """The next writes."""

    status: dict[str, Any] = field(default_factory=dict)
    deactivates: bool = False
    """True if `spec.active` becomes false."""
    wake_at_us: Micros | None = None


def next_status(seen: Seen, config: KueueConfig, rules: Rules) -> Next:
    """The next step of a Workload: at most one of its steps is taken at a time."""
    return _Judge(seen, config, rules).run()


class _Judge:
    def __init__(self, seen: Seen, config: KueueConfig, rules: Rules) -> None:
        self._seen = seen
        self._workload = seen.workload
        self._config = config
        self._rules = rules
        self._next = Next(dict(rules.keeps(seen.workload)))

    def run(self) -> Next:
        workload = self._workload
        if workload.is_finished:
            return self._next
        self._reclaim()
        end = self._seen.integration.end(self._seen.job)
        if end is not None:
            holds = self._config.holds_until_terminal
            if self._rules.has_finished(end.success, holds, self._pods_left):
                self._set(Condition.FINISHED, True, Reason.JOB_FINISHED, end.message)
        elif not workload.has_quota:
            self._reactivate()
        elif workload.is_evicted:
            if not (self._rules.follows_evicted_pods() and self._follow_readiness()):
                self._release()
        elif not workload.is_active:
            self._evict(self._rules.why_inactive(), "The workload is deactivated")
        elif self._seen.stopped:
            self._evict(self._seen.stopped, "The queue is stopped")
        else:
            self._watch()
        return self._next

    @property
    def _pods_left(self) -> int:
        return sum(self._seen.pods_left.values())

    def _reclaim(self) -> None:
        """Say which pods are not needed any more: their quota is for others."""
        if not self._workload.has_quota and self._asks_for_all:
            self._next.status.pop("reclaimablePods", None)
            return
        done = self._seen.integration.done(self._seen.job)
        counts = {
            name: self._rules.reclaimable(
                count,
                done.get(name, 0),
                self._seen.pods_left.get(name, 0),
                count - self._workload.needed[name],
            )
            for each in self._workload.pod_sets
            for name, count in ((each["name"], int(each.get("count", 1))),)
        }
        found = [{"name": name, "count": count} for name, count in counts.items() if count]
        self._next.status.pop("reclaimablePods", None)
        if found:
            self._next.status["reclaimablePods"] = found

    @property
    def _asks_for_all(self) -> bool:
        """True if it waits for quota of all its pods, those that are done included."""
        return self._rules.asks_for_all(self._seen.integration.may_restart(self._seen.job))

    def _reactivate(self) -> None:
        """Let one that was activated again begin anew, where the limit had deactivated it. One that
        lost its quota before the limit could deactivate it is still to be deactivated."""
        workload, why = self._workload, self._rules.why_inactive()
        if (
            workload.is_(Condition.DEACTIVATION_TARGET)
            and workload.reason(Condition.EVICTED) != why
        ):
            if workload.is_active:
                self._next.deactivates = True
            else:
                self._evict(why, "The workload is deactivated")
        elif self._rules.resets_requeue_state(workload):
            self._next.status.pop("requeueState", None)
            self._set(Condition.DEACTIVATION_TARGET, False, "Reactivated", "It was activated again")

    def _release(self) -> None:
        """Give quota back, once its job says so."""
        framework = self._seen.integration.framework
        strategy = self._config.release.get(framework, Release.ON_QUOTA_RELEASED)
        is_active = self._seen.integration.is_active(self._seen.job)
        if not self._rules.is_released(strategy, is_active, self._pods_left):
            return
        self._next.status.pop("admission", None)
        if self._asks_for_all:
            self._next.status.pop("reclaimablePods", None)
        reason = self._workload.reason(Condition.EVICTED)
        for type_ in (Condition.QUOTA_RESERVED, Condition.ADMITTED, Condition.PODS_READY):
            if self._workload.is_(type_) or type_ == Condition.PODS_READY:
                why = Reason.NO_RESERVATION if type_ == Condition.ADMITTED else Reason.PENDING
                self._set(type_, False, why, f"It was evicted: {reason}")

    def _watch(self) -> None:
        """Follow the readiness of an admitted one, and evict it where that does not come."""
        wait = self._config.wait_for_pods_ready
        if wait is None or not self._workload.is_admitted:
            return
        if self._workload.is_(Condition.DEACTIVATION_TARGET):
            self._next.deactivates = True
            return
        if self._follow_readiness():
            return
        due_us = self._rules.ready_by_us(self._workload, wait)
        if due_us is None:
            return
        if self._seen.now_us < due_us:
            self._next.wake_at_us = due_us
            return
        if self._rules.is_at_limit(self._workload.times_requeued, wait.requeuing.limit):
            message = "It was requeued as often as it may be"
            self._set(Condition.DEACTIVATION_TARGET, True, Reason.REQUEUING_LIMIT, message)
            return
        self._evict(Reason.PODS_READY_TIMEOUT, "Its pods were not ready in time")

    def _follow_readiness(self) -> bool:
        """Say that the pods are ready, or not any more; True if there is nothing else to do."""
        is_ready = self._seen.integration.are_pods_ready(self._seen.job)
        if is_ready:
            self._set(Condition.PODS_READY, True, Reason.PODS_READY, "All pods are ready or done")
        elif self._workload.is_(Condition.PODS_READY):
            message = "Not all pods are ready any more"
            self._set(Condition.PODS_READY, False, Reason.WAIT_FOR_RECOVERY, message)
        return is_ready or self._workload.is_(Condition.PODS_READY)

    def _evict(self, reason: str, message: str) -> None:
        if self._rules.counts(reason):
            count, requeuing = self._workload.times_requeued + 1, self._config.requeuing
            jitter = int(digest([self._workload.uid, count])[:8], 16) / 0xFFFFFFFF
            back_off_us = self._rules.back_off_us(count, requeuing, jitter)
            self._next.status["requeueState"] = self._rules.requeued(
                count, self._seen.now_us, back_off_us
            )
        self._set(Condition.EVICTED, True, reason, message)

    def _set(self, type_: str, is_true: bool, reason: str, message: str) -> None:
        new = {
            "type": type_,
            "status": "True" if is_true else "False",
            "reason": reason,
            "message": message,
        }
        entries = self._next.status.get("conditions") or ()
        self._next.status["conditions"] = with_condition(entries, new, self._seen.now_us)
