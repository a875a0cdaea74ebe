"""Workloads and queues, field by field: as recorded, as stored now, as worlds use them."""

from __future__ import annotations

import re
from typing import Final

from conformance.stored_objects.state import Field, ObjectState, condition, items, number, value
from conformance.suite import KindUse
from conformance.suites.kueue.api import (
    CLUSTER_QUEUE,
    IN_USE,
    LOCAL_QUEUE,
    PRIORITY_CLASS,
    RESOURCE_FLAVOR,
    WORKLOAD,
)
from vocabulary import objects
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.kinds import Kind
from vocabulary.objects import Object, finalizers_of, get_path


class StopPolicy:
    """`stopPolicy` of a queue."""

    NONE: Final = "None"
    HOLD: Final = "Hold"
    HOLD_AND_DRAIN: Final = "HoldAndDrain"


def _reclaimable(workload: Object) -> int:
    found = get_path(workload, "status.reclaimablePods") or ()
    return sum(int(each["count"]) for each in found)


class WorkloadState(ObjectState):
    """One state of a Workload."""

    has_reservation = condition("QuotaReserved")
    is_admitted = condition("Admitted")
    are_pods_ready = condition("PodsReady")
    is_evicted = condition("Evicted")
    is_preempted = condition("Preempted")
    why_evicted = Field(lambda workload: _reason(workload, "Evicted"))
    is_finished = condition("Finished")
    is_active = Field(lambda workload: get_path(workload, "spec.active") is not False)
    priority = number("spec.priority")
    queue = value("spec.queueName")
    cluster_queue = value("status.admission.clusterQueue")
    pod_sets = items("spec.podSets")
    assignments = items("status.admission.podSetAssignments")
    reclaimable = Field(_reclaimable)
    """The number of its pods that need no quota any more."""
    requeue_state = Field(lambda workload: get_path(workload, "status.requeueState") or None)
    """An empty one says as much as none."""
    count = number("status.requeueState.count")
    """How often it was requeued."""

    @property
    def is_leaving(self) -> bool:
        return self.is_evicted or self.is_terminating

    @property
    def has_quota(self) -> bool:
        """True until it has finished, or is let go, be it that another client's finalizer keeps
        it."""
        is_let_go = self.is_terminating and IN_USE not in finalizers_of(self.object)
        return self.has_reservation and not (self.is_finished or is_let_go)

    @property
    def preemptor(self) -> str:
        """The uid of the Workload that it was preempted for, as its condition says; else empty."""
        message = str((objects.condition(self.object, "Evicted") or {}).get("message", ""))
        found = re.search(r"UID: ([-0-9a-f]+)", message)
        return found[1] if found and self.why_evicted == "Preempted" else ""

    @property
    def why_waiting(self) -> str:
        """The message of its condition QuotaReserved while that is False; else empty."""
        found = objects.condition(self.object, "QuotaReserved") or {}
        return str(found.get("message", "")) if found.get("status") == "False" else ""

    @property
    def requeue_at_us(self) -> Micros | None:
        """When it was or will be requeued; None if it was not evicted, or that is over."""
        found = get_path(self.object, "status.requeueState.requeueAt")
        return None if found is None else parse_rfc3339(found)

    def since_us(self, type_: str) -> Micros | None:
        """When a condition last changed its status, in whole seconds; None if there is none."""
        found = objects.condition(self.object, type_)
        return None if found is None else parse_rfc3339(found["lastTransitionTime"])

    @property
    def is_at_rest(self) -> bool:
        """True if it may stay as it is indefinitely: it has finished, is deactivated without
        quota, runs, or waits for quota."""
        if self.is_finished:
            return True
        if not self.has_reservation:
            return not (self.is_active and self.is_evicted and self.requeue_at_us)
        return self.is_active and self.is_admitted and self.are_pods_ready and not self.is_evicted

    @property
    def progress(self) -> object:
        """Its conditions, and how often it was requeued."""
        held = (self.has_reservation, self.is_admitted, self.is_evicted, self.is_finished)
        return (*held, self.are_pods_ready, self.is_active, self.count)


def _reason(obj: Object, type_: str) -> str:
    return str((objects.condition(obj, type_) or {}).get("reason", ""))


def _queue(kind: Kind) -> KindUse:
    """A kind that administrators write, and controllers only read or count."""
    return KindUse(kind, is_at_rest=lambda _: True, pods=lambda _: 0)


KINDS: Final = (
    KindUse(
        WORKLOAD,
        is_at_rest=lambda workload: WorkloadState(workload).is_at_rest,
        progress=lambda workload: WorkloadState(workload).progress,
        pods=lambda _: 0,
    ),
    _queue(LOCAL_QUEUE),
    _queue(CLUSTER_QUEUE),
    _queue(RESOURCE_FLAVOR),
    _queue(PRIORITY_CLASS),
)
