"""The slack queue: what it lends follows the resources that nodes cannot offer.

Teams have quota for less than the nodes have. The rest is the quota of a queue without jobs, which
lends it. If a part of a resource cannot be used, the queue lends that much less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from reference_controller.appwrapper.autopilot import AVOIDED_EFFECTS, marked_resources
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.rules import Rules
from reference_controller.runtime.controller import Key
from reference_controller.shared.reading import read
from vocabulary.clock import Micros
from vocabulary.kinds import NODE, Kind
from vocabulary.objects import Object, get_path, meta, name_of
from vocabulary.quantities import parse_quantity
from vocabulary.requests import List, ObjectList, Patch, Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

CLUSTER_QUEUE: Final = Kind(
    "kueue.x-k8s.io", "v1beta1", "ClusterQueue", "clusterqueues", namespaced=False
)

_PODS: Final = "pods"


class SlackController:
    """The one slack queue. It remembers nothing."""

    name: Final = "slack-queue"
    watches: Final = (NODE, CLUSTER_QUEUE)

    def __init__(self, config: OperatorConfig, rules: Rules) -> None:
        self._config = config
        self._rules = rules
        self._key = Key("", config.slack_queue_name)

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """It needs none."""

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        del old, caches
        is_other = kind == CLUSTER_QUEUE and name_of(obj) != self._key.name
        return () if is_other else (self._key,)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        queue = yield from read(CLUSTER_QUEUE, *key, live=False)
        if queue is None:
            return None
        nodes: ObjectList = yield List(NODE)
        groups = get_path(queue, "spec.resourceGroups") or ()
        wanted = self._adjusted(groups, self._unusable(nodes.items))
        if wanted != list(groups):
            version = meta(queue)["resourceVersion"]
            body = {"metadata": {"resourceVersion": version}, "spec": {"resourceGroups": wanted}}
            yield Patch(CLUSTER_QUEUE, *key, body)
        return None

    def _unusable(self, nodes: Iterable[Object]) -> dict[str, Fraction]:
        """How much of each resource stands on nodes that new pods do not get."""
        total: dict[str, Fraction] = {}
        for node in nodes:
            capacity: Mapping[str, Any] = get_path(node, "status.capacity") or {}
            marked = self._marked(node)
            for name, value in capacity.items():
                if name == _PODS:  # the quota of pods is no count of what nodes have
                    continue
                if self._rules.is_unusable(_is_closed(node), name in marked):
                    total[name] = total.get(name, Fraction(0)) + parse_quantity(value)
        return total

    def _marked(self, node: Object) -> frozenset[str]:
        autopilot = self._config.autopilot
        if autopilot is None or not autopilot.monitor_nodes:
            return frozenset()
        return marked_resources(node, autopilot, AVOIDED_EFFECTS)

    def _adjusted(self, groups: Iterable[Object], unusable: Mapping[str, Fraction]) -> list[Object]:
        """The groups of resources with new limits in the first flavor of each: a resource that can
        all be used has none."""
        adjusted: list[Object] = []
        for group in groups:
            first, *others = group["flavors"]
            resources = [
                self._limited(each, unusable.get(each["name"], Fraction(0)))
                for each in first["resources"]
            ]
            adjusted.append({**group, "flavors": [{**first, "resources": resources}, *others]})
        return adjusted

    def _limited(self, resource: Object, unusable: Fraction) -> Object:
        limit = self._rules.lending_limit(parse_quantity(resource["nominalQuota"]), unusable)
        known = resource.get("lendingLimit")
        if limit is None:
            return {key: each for key, each in resource.items() if key != "lendingLimit"}
        if known is not None and parse_quantity(known) == limit:
            return resource
        return {**resource, "lendingLimit": _text_of(limit)}


def _text_of(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{math.floor(value * 1000)}m"


def _is_closed(node: Object) -> bool:
    """True if a node takes no new pods, whatever they ask for."""
    taints = get_path(node, "spec.taints") or ()
    return bool(get_path(node, "spec.unschedulable")) or any(
        taint.get("effect") in AVOIDED_EFFECTS for taint in taints
    )
