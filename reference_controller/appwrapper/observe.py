"""Reading what a decision needs, and no more: generators that return an `Observation`.

A read that fails is thrown into the generator and goes on through it: a list that could not
be had is never taken for an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from reference_controller.appwrapper.autopilot import marked_resources
from reference_controller.appwrapper.config import Autopilot, OperatorConfig
from reference_controller.appwrapper.names import APPWRAPPER_LABEL, Phase
from reference_controller.appwrapper.observation import Component, Observation
from reference_controller.appwrapper.parameters import Parameters
from reference_controller.appwrapper.pods import Pods
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import (
    PERHAPS_CREATED,
    component_records,
    creation_state,
    phase_of,
)
from reference_controller.appwrapper.watched_kinds import WATCHED_KINDS
from reference_controller.runtime.cached_list import CachedList, counted
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.reading import Reading, read
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import DEPLOYMENT, NODE, POD, REPLICA_SET, Kind, kind_of
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    get_path,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import List

_MAX_REMEMBERED: Final = 1_000
_WATCHED: Final = frozenset(WATCHED_KINDS)


@dataclass(frozen=True, slots=True)
class Observer:
    """How this operator looks at the world."""

    config: OperatorConfig
    rules: Rules
    clock: Callable[[], Micros]
    known: dict[tuple[tuple[str, str], ...], Parameters] = field(default_factory=dict)
    """Parameters by annotations, which are read at every look and hardly ever change."""
    unmarked: dict[tuple[Kind, Key], Key] = field(default_factory=dict)
    """The AppWrappers of components that name theirs neither by label nor as owner."""

    def glance(self, aw: Object) -> Observation:
        """The AppWrapper alone: enough where a decision hangs on its status and the time."""
        now_us = self.clock()
        return Observation(aw, now_us, now_us, self._parameters(aw))

    def look(self, aw: Object, *, live: bool) -> Reading[Observation]:
        """Read the inputs of the phase's decision: components while Resuming, pods and nodes as
        well while Running, nothing more otherwise."""
        phase = phase_of(aw)
        if phase not in (Phase.RESUMING, Phase.RUNNING):
            return self.glance(aw)
        looked_us = self.clock()
        pods: Sequence[Object] = ()
        bad_nodes: dict[str, frozenset[str]] = {}
        if phase == Phase.RUNNING:
            pods = yield from self._pods(aw, live)
            bad_nodes = yield from self._bad_nodes(aw, pods, live)
            if live and bad_nodes:
                # Two reads are no snapshot: a pod may have ended before its node was tagged.
                pods = yield from self._pods(aw, live)
        components = yield from self._components(aw, live, ("True",))
        components = yield from self._with_pods(components, pods, aw, live, ("True",))
        return Observation(
            aw,
            looked_us,
            self.clock(),
            self._parameters(aw),
            components,
            pods,
            bad_nodes,
            live,
        )

    def remains(self, aw: Object, *, live: bool) -> Reading[Observation]:
        """Everything that may be left of the AppWrapper, whatever its status claims."""
        looked_us = self.clock()
        # From what makes to what is made: else a pod could come behind the look at pods.
        components = yield from self._components(aw, live, PERHAPS_CREATED)
        replica_sets: Sequence[Object] = ()
        if any(kind_of(record) == DEPLOYMENT for record in component_records(aw)):
            replica_sets = yield from self._labelled(REPLICA_SET, aw, live)
        pods = yield from self._pods(aw, live)
        components = yield from self._with_pods(components, pods, aw, live, PERHAPS_CREATED)
        return Observation(
            aw,
            looked_us,
            self.clock(),
            self._parameters(aw),
            components,
            pods,
            replica_sets=replica_sets,
            is_live=live,
        )

    def _parameters(self, aw: Object) -> Parameters:
        annotations = annotations_of(aw)
        key = tuple(annotations.items())
        parameters = self.known.get(key)
        if parameters is None:
            if len(self.known) >= _MAX_REMEMBERED:
                self.known.clear()
            parameters = self.rules.parameters(annotations, self.config.fault_tolerance)
            self.known[key] = parameters
        return parameters

    def _components(
        self, aw: Object, live: bool, wanted: tuple[str, ...]
    ) -> Reading[tuple[Component, ...]]:
        """All components; those in a wanted state of creation are looked up, but for pods."""
        components = []
        for index, record in enumerate(component_records(aw)):
            kind, found = kind_of(record), None
            name = _name_if(record, wanted)
            if name and kind != POD:
                found = yield from read(kind, namespace_of(aw), name, live=live)
                self._remember(kind, found, aw)
            components.append(Component(index, kind, record, found, kind in _WATCHED))
        return tuple(components)

    def _with_pods(
        self,
        components: tuple[Component, ...],
        pods: Sequence[Object],
        aw: Object,
        live: bool,
        wanted: tuple[str, ...],
    ) -> Reading[tuple[Component, ...]]:
        """The same with those that are pods, looked up unless they were listed already."""
        if not any(component.kind == POD for component in components):
            return components
        complete = []
        listed = {name_of(pod): pod for pod in pods}
        for component in components:
            name = _name_if(component.record, wanted)
            if name and component.kind == POD:
                found = listed.get(name)
                if found is None:
                    found = yield from read(POD, namespace_of(aw), name, live=live)
                    self._remember(POD, found, aw)
                complete.append(msgspec.structs.replace(component, found=found))
            else:
                complete.append(component)
        return tuple(complete)

    def _remember(self, kind: Kind, found: Object | None, aw: Object) -> None:
        """Note whose a component is that does not say so: other clients may strip it of that."""
        if found is None or labels_of(found).get(APPWRAPPER_LABEL) == name_of(aw):
            return
        if (controller_of(found) or {}).get("uid") == uid_of(aw):
            return
        if len(self.unmarked) >= _MAX_REMEMBERED:
            self.unmarked.clear()
        self.unmarked[kind, key_of(found)] = key_of(aw)

    def _pods(self, aw: Object, live: bool) -> Reading[Sequence[Object]]:
        try:
            return (yield from self._labelled(POD, aw, live))
        except ApiError as error:
            believed = self.rules.pods_when_list_failed(error)
            if believed is None:
                raise
            return believed

    def _labelled(self, kind: Kind, aw: Object, live: bool) -> Reading[Sequence[Object]]:
        """The objects of a kind that carry our label, and were made by this workload."""
        selector = f"{APPWRAPPER_LABEL}={name_of(aw)}"
        listed = yield List(kind, namespace_of(aw), label_selector=selector, live=live)
        is_made_by = self.rules.is_made_by
        if isinstance(listed.items, CachedList) and listed.items.is_long:
            return Pods(listed.items, lambda obj: is_made_by(obj, aw))
        return tuple(obj for obj in listed.items if is_made_by(obj, aw))

    def _bad_nodes(
        self, aw: Object, pods: Sequence[Object], live: bool
    ) -> Reading[dict[str, frozenset[str]]]:
        """The nodes that Autopilot wants these pods off."""
        autopilot = self.config.autopilot
        if autopilot is None or not autopilot.monitor_nodes:
            return {}
        if not live:
            known = yield List(NODE)
            if not any(self._marks(node) for node, _ in counted(known.items, self._marks)):
                return {}
            if isinstance(pods, Pods):
                marked_nodes = [name_of(node) for node in known.items if self._marks(node)]
                pods = yield from self._pods_on(marked_nodes, aw)
        effects = self.rules.migrating_effects()
        resources = [
            resource
            for resource, taints in autopilot.resource_taints.items()
            if any(taint.effect in effects for taint in taints)
        ]
        nodes = {
            str(get_path(pod, "spec.nodeName", "")): None
            for pod in pods
            if any(self.rules.uses(pod, resource) for resource in resources)
        }
        bad: dict[str, frozenset[str]] = {}
        for name in nodes:
            node = (yield from read(NODE, "", name, live=live)) if name else None
            marked = self._marks(node) if node else frozenset[str]()
            if marked:
                bad[name] = marked
        return bad

    def _pods_on(self, nodes: Sequence[str], aw: Object) -> Reading[Sequence[Object]]:
        """The workload's pods on these nodes: fewer to go through than all of its pods."""
        there: list[Object] = []
        for node in nodes:
            listed = yield List(POD, namespace_of(aw), field_selector=f"spec.nodeName={node}")
            there += [
                pod
                for pod in listed.items
                if labels_of(pod).get(APPWRAPPER_LABEL) == name_of(aw)
                and self.rules.is_made_by(pod, aw)
            ]
        return there

    def _marks(self, node: Object) -> frozenset[str]:
        """The resources of a node that Autopilot wants running pods off."""
        autopilot = self.config.autopilot or Autopilot()
        return marked_resources(node, autopilot, self.rules.migrating_effects())


def _name_if(record: Object, wanted: tuple[str, ...]) -> str:
    """The name of a component that is in a wanted state of creation, else nothing."""
    return str(record.get("name", "")) if creation_state(record) in wanted else ""
