"""A Workload as controllers read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from reference_controller.kueue.amounts import FlavorResource, amount
from reference_controller.kueue.names import GROUP_NAME, IN_USE, Condition
from reference_controller.runtime.controller import Key, key_of
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    controller_of,
    finalizers_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    namespace_of,
    uid_of,
)

Usage: TypeAlias = Mapping[FlavorResource, int]


@dataclass(frozen=True, eq=False)
class Workload:
    """One state of a Workload; no two that are read are the same."""

    object: Object

    @cached_property
    def key(self) -> Key:
        return key_of(self.object)

    @property
    def uid(self) -> str:
        return uid_of(self.object)

    @cached_property
    def owner(self) -> tuple[str, str, Key] | None:
        """apiVersion, kind and key of the job that it stands for."""
        group = labels_of(self.object).get(GROUP_NAME)
        if group:
            return "v1", "PodGroup", Key(namespace_of(self.object), group)
        found = controller_of(self.object)
        if found is None:
            return None
        job = Key(namespace_of(self.object), str(found["name"]))
        return str(found["apiVersion"]), str(found["kind"]), job

    @property
    def owner_uid(self) -> str:
        return str((controller_of(self.object) or {}).get("uid", ""))

    @property
    def queue(self) -> Key:
        """Its LocalQueue."""
        return Key(namespace_of(self.object), str(get_path(self.object, "spec.queueName", "")))

    @property
    def priority(self) -> int:
        return int(get_path(self.object, "spec.priority", 0) or 0)

    @property
    def pod_sets(self) -> tuple[Object, ...]:
        return tuple(get_path(self.object, "spec.podSets") or ())

    @cached_property
    def needed(self) -> Mapping[str, int]:
        """By pod set: how many of its pods need quota."""
        reclaimable = get_path(self.object, "status.reclaimablePods") or ()
        less = {each["name"]: int(each["count"]) for each in reclaimable}
        return {
            each["name"]: int(each.get("count", 1)) - less.get(each["name"], 0)
            for each in self.pod_sets
        }

    @property
    def is_active(self) -> bool:
        return get_path(self.object, "spec.active", True) is not False

    @property
    def is_terminating(self) -> bool:
        return is_terminating(self.object)

    @property
    def created_at_us(self) -> Micros:
        return parse_rfc3339(meta(self.object)["creationTimestamp"])

    @property
    def has_quota(self) -> bool:
        """True while it holds quota: until it has finished, or is let go, be it that others keep
        it."""
        is_let_go = self.is_terminating and IN_USE not in finalizers_of(self.object)
        return self.is_(Condition.QUOTA_RESERVED) and not (self.is_finished or is_let_go)

    @property
    def is_admitted(self) -> bool:
        return self.is_(Condition.ADMITTED)

    @property
    def is_evicted(self) -> bool:
        return self.is_(Condition.EVICTED)

    @property
    def is_leaving(self) -> bool:
        """True if it is about to give its quota back."""
        return self.is_evicted or self.is_terminating

    @property
    def is_finished(self) -> bool:
        return self.is_(Condition.FINISHED)

    @property
    def times_requeued(self) -> int:
        return int(get_path(self.object, "status.requeueState.count", 0) or 0)

    @property
    def requeue_at_us(self) -> Micros:
        """The end of its latest back-off; 0 if it has had none."""
        at = get_path(self.object, "status.requeueState.requeueAt")
        return parse_rfc3339(at) if at else 0

    @property
    def admission(self) -> Object:
        found: Object = get_path(self.object, "status.admission") or {}
        return found

    @cached_property
    def cluster_queue(self) -> str:
        """The ClusterQueue whose quota it holds."""
        return str(self.admission.get("clusterQueue", ""))

    @cached_property
    def usage(self) -> Usage:
        """The quota that it holds."""
        total: dict[FlavorResource, int] = {}
        for each in self.admission.get("podSetAssignments", ()):
            flavors, assigned = each.get("flavors", {}), int(each.get("count", 1))
            needed = min(self.needed.get(each["name"], assigned), assigned)
            for resource, quantity in (each.get("resourceUsage") or {}).items():
                if resource in flavors and amount(quantity):
                    what = FlavorResource(flavors[resource], resource)
                    of_needed = amount(quantity) * needed // max(1, assigned)
                    total[what] = total.get(what, 0) + of_needed
        return total

    def is_(self, type_: str) -> bool:
        """True if the condition of that type is True."""
        return condition_status(self.object, type_) == "True"

    def reason(self, type_: str) -> str:
        """The reason of a condition; empty if there is none."""
        return str((condition(self.object, type_) or {}).get("reason", ""))

    def since_us(self, type_: str) -> Micros:
        """When a condition last changed its status; 0 if there is none."""
        found = condition(self.object, type_)
        return parse_rfc3339(found["lastTransitionTime"]) if found else 0
