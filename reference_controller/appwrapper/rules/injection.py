"""Rules for injections into pod templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference_controller.appwrapper.autopilot import (
    AVOIDED_EFFECTS,
    expressions,
    wanted_resources,
    with_anti_affinity,
)
from reference_controller.appwrapper.config import Autopilot
from vocabulary.objects import Object


class InjectionRules:
    """AW-001, 020, 085…089; MLB-022, 076."""

    def pod_labels(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        """The labels of every pod, by which it is found, counted and distinguished."""
        return labels

    def info_of(self, infos: Sequence[Object], pod_set: int) -> Object:
        """Kueue's podSetInfo for a pod set of the component, set with the quota reservation."""
        return infos[pod_set] if pod_set < len(infos) else {}

    def scheduler_name(self, own: str, configured: str) -> str:
        """The user's own choice of scheduler stands."""
        return own or configured

    def pod_spec_avoiding_bad_nodes(
        self,
        spec: Object,
        autopilot: Autopilot | None,
        pod_set: int,  # noqa: ARG002
    ) -> Object:
        """The pod spec with the stanza, "for exactly those Pods that have a non-zero resource
        request" for a monitored resource, whichever of the component's pod sets they are of."""
        if autopilot is None or not autopilot.inject_anti_affinities:
            return spec
        for resource in self.resources_to_avoid_for(spec, autopilot):
            taints = autopilot.resource_taints[resource]
            spec = with_anti_affinity(
                spec,
                expressions(taints, self.avoided_effects()),
                expressions(taints, ("PreferNoSchedule",)),
                autopilot.prefer_no_schedule_weight,
            )
        return spec

    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        """The monitored resources that this pod asks for."""
        return tuple(wanted_resources(spec, autopilot.resource_taints))

    def avoided_effects(self) -> tuple[str, ...]:
        return AVOIDED_EFFECTS
