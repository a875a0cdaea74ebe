"""Pod templates get too little, too much, or the wrong thing; so does the AppWrapper itself."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from reference_controller.appwrapper.autopilot import AVOIDED_EFFECTS, expressions
from reference_controller.appwrapper.config import Autopilot
from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.names import (
    APPWRAPPER_LABEL,
    COMPONENT_LABEL,
    QUEUE_LABEL,
    USER_ID_LABEL,
    USER_LABEL,
)
from reference_controller.appwrapper.rules import Rules
from vocabulary.objects import Object, containers, get_path
from vocabulary.quantities import parse_quantity


@mutant(
    "no-anti-affinity",
    "No pod is kept off unhealthy nodes.",
    "AW-001",
    "AW-087",
    "AW-089",
    "AW-093",
)
class NoAntiAffinity(Rules):
    def pod_spec_avoiding_bad_nodes(
        self,
        spec: Object,
        autopilot: Autopilot | None,  # noqa: ARG002
        pod_set: int,  # noqa: ARG002
    ) -> Object:
        return spec


@mutant(
    "anti-affinity-for-the-first-pod-set",
    "Only the first pod set of a component gets the stanza: a master does, its workers do not.",
    "AW-087",
    "AW-089",
    "AW-001",
)
class AntiAffinityForTheFirstPodSet(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        if pod_set:
            return spec
        return super().pod_spec_avoiding_bad_nodes(spec, autopilot, pod_set)


@mutant(
    "anti-affinity-for-all",
    "Every pod gets the stanza, though it asks for no monitored resource.",
    "AW-088",
)
class AntiAffinityForAll(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:  # noqa: ARG002
        return tuple(autopilot.resource_taints)


@mutant(
    "zero-is-a-request",
    "A request of 0 counts as a request.",
    "AW-088",
)
class ZeroIsARequest(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        return tuple(
            resource
            for resource in autopilot.resource_taints
            if any(
                resource in (get_path(container, f"resources.{field}") or {})
                for container in containers(spec)
                for field in ("requests", "limits")
            )
        )


def _asked_for(spec: Object, field: str, autopilot: Autopilot) -> tuple[str, ...]:
    """The monitored resources that stand, with a non-zero amount, in that field of a container."""
    return tuple(
        resource
        for resource in autopilot.resource_taints
        if any(
            parse_quantity((get_path(container, f"resources.{field}") or {}).get(resource, 0))
            for container in containers(spec)
        )
    )


@mutant(
    "limits-are-no-requests",
    "A pod that names a resource among its limits alone does not count as asking for it.",
    "AW-087",
    "AW-089",
    "AW-001",
)
class LimitsAreNoRequests(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        return _asked_for(spec, "requests", autopilot)


@mutant(
    "init-containers-not-asked",
    "What only an init container asks for does not count.",
    "AW-087",
    "AW-089",
)
class InitContainersNotAsked(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        return super().resources_to_avoid_for({**spec, "initContainers": ()}, autopilot)


@mutant(
    "only-the-first-container-is-asked",
    "What a pod's second container asks for does not count.",
    "AW-087",
    "AW-089",
    "AW-001",
)
class OnlyTheFirstContainerIsAsked(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        first = {**spec, "containers": spec["containers"][:1]}
        return super().resources_to_avoid_for(first, autopilot)


@mutant(
    "knows-only-nvidia",
    "Resources that the administrator added to the configuration are not monitored.",
    "AW-085",
)
class KnowsOnlyNvidia(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        right = super().resources_to_avoid_for(spec, autopilot)
        return tuple(resource for resource in right if resource == "nvidia.com/gpu")


@mutant(
    "avoids-only-noexecute",
    "Only values with NoExecute are avoided; ERR is not.",
    "AW-086",
    "AW-089",
    "AW-001",
)
class AvoidsOnlyNoExecute(Rules):
    def avoided_effects(self) -> tuple[str, ...]:
        return ("NoExecute",)


@mutant(
    "avoids-only-noschedule",
    "Only values with NoSchedule are avoided; EVICT is not.",
    "AW-086",
    "AW-089",
    "AW-093",
)
class AvoidsOnlyNoSchedule(Rules):
    def avoided_effects(self) -> tuple[str, ...]:
        return ("NoSchedule",)


@mutant(
    "anti-affinity-as-alternative",
    "The stanza is added as one more node selector term, an alternative to the user's.",
    "AW-089",
)
class AntiAffinityAsAlternative(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        terms = get_path(spec, f"{path}.nodeSelectorTerms")
        if autopilot is None or not terms:
            return super().pod_spec_avoiding_bad_nodes(spec, autopilot, pod_set)
        added = [
            {"matchExpressions": expressions(autopilot.resource_taints[resource], AVOIDED_EFFECTS)}
            for resource in self.resources_to_avoid_for(spec, autopilot)
        ]
        affinity = dict(spec["affinity"])
        node_affinity = dict(affinity["nodeAffinity"])
        node_affinity[path.rpartition(".")[2]] = {"nodeSelectorTerms": [*terms, *added]}
        return {**spec, "affinity": {**affinity, "nodeAffinity": node_affinity}}


@mutant(
    "anti-affinity-preferred",
    "Unhealthy nodes are avoided where possible, not strictly.",
    "AW-089",
    "AW-001",
)
class AntiAffinityPreferred(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        strict = super().pod_spec_avoiding_bad_nodes(spec, autopilot, pod_set)
        path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        terms = get_path(strict, f"{path}.nodeSelectorTerms")
        if strict is spec or get_path(spec, path) or not terms:
            return strict
        preferred = [{"weight": 50, "preference": term} for term in terms]
        affinity = {
            **strict["affinity"],
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred},
        }
        return {**strict, "affinity": affinity}


@mutant(
    "labels-only-the-first-component",
    "Only the pods of the first component get the label by which pods are found.",
    "AW-020",
)
class LabelsOnlyTheFirstComponent(Rules):
    def pod_labels(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        if labels[COMPONENT_LABEL] == "0":
            return labels
        return {key: value for key, value in labels.items() if key != APPWRAPPER_LABEL}


@mutant(
    "scheduler-overridden",
    "The configured scheduler replaces the one that the user chose.",
    "MLB-022",
)
class SchedulerOverridden(Rules):
    def scheduler_name(self, own: str, configured: str) -> str:
        return configured or own


@mutant(
    "scheduler-not-injected",
    "The configured scheduler is not written into the pods.",
    "MLB-022",
)
class SchedulerNotInjected(Rules):
    def scheduler_name(self, own: str, configured: str) -> str:  # noqa: ARG002
        return own


@mutant(
    "user-labels-can-be-forged",
    "Labels that name the submitting user are kept if the user wrote them himself.",
    "MLB-020",
)
class UserLabelsCanBeForged(Rules):
    def user_labels(self, labels: Mapping[str, str], username: str, uid: str) -> Mapping[str, str]:
        if USER_LABEL in labels:
            return labels
        return super().user_labels(labels, username, uid)


@mutant(
    "user-labels-missing",
    "The AppWrapper does not tell who submitted it.",
    "MLB-020",
)
class UserLabelsMissing(Rules):
    def user_labels(self, labels: Mapping[str, str], username: str, uid: str) -> Mapping[str, str]:  # noqa: ARG002
        return labels


@mutant(
    "user-ids-are-labels-as-they-are",
    "The id of the submitting user becomes a label's value, whatever is in it.",
    "MLB-020",
)
class UserIdsAreLabelsAsTheyAre(Rules):
    def user_labels(self, labels: Mapping[str, str], username: str, uid: str) -> Mapping[str, str]:
        return {**super().user_labels(labels, username, uid), USER_ID_LABEL: uid}


@mutant(
    "user-labels-can-be-changed",
    "Who submitted an AppWrapper can be written over later.",
    "MLB-020",
)
class UserLabelsCanBeChanged(Rules):
    def lasting_labels(self) -> tuple[str, ...]:
        return ()


@mutant(
    "no-default-queue",
    "An AppWrapper without a queue does not get the default one.",
    "MLB-021",
)
class NoDefaultQueue(Rules):
    def queue_label(self, labels: Mapping[str, str], default: str) -> Mapping[str, str]:  # noqa: ARG002
        return labels


@mutant(
    "default-queue-for-all",
    "The default queue replaces the one that the user named.",
    "MLB-021",
)
class DefaultQueueForAll(Rules):
    def queue_label(self, labels: Mapping[str, str], default: str) -> Mapping[str, str]:
        return {**labels, QUEUE_LABEL: default} if default else labels


@mutant(
    "label-values-are-shortened",
    "A label value of 63 characters, which is allowed, is cut to 62.",
    "AW-020",
)
class LabelValuesAreShortened(Rules):
    def pod_labels(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        return {key: value[:62] for key, value in super().pod_labels(labels).items()}


@mutant(
    "label-values-without-dots",
    "Dots in label values, which are allowed, are replaced.",
    "AW-020",
)
class LabelValuesWithoutDots(Rules):
    def pod_labels(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        return {key: value.replace(".", "-") for key, value in super().pod_labels(labels).items()}


@mutant(
    "fractions-are-nothing",
    "A request for less than a whole one counts as none.",
    "AW-087",
    "AW-089",
)
class FractionsAreNothing(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        return tuple(
            resource
            for resource in super().resources_to_avoid_for(spec, autopilot)
            if any(amount >= 1 for amount in _amounts(spec, resource))
        )


@mutant(
    "quantities-are-plain-numbers",
    "A quantity with a suffix or an exponent is not read, and counts as no request.",
    "AW-087",
    "AW-089",
)
class QuantitiesArePlainNumbers(Rules):
    def resources_to_avoid_for(self, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
        return tuple(
            resource
            for resource in super().resources_to_avoid_for(spec, autopilot)
            if any(
                str(get_path(container, "resources.requests", {}).get(resource, "")).isdigit()
                for container in containers(spec)
            )
        )


def _amounts(spec: Object, resource: str) -> list[Fraction]:
    """How much of a resource each container requests or is limited to."""
    return [
        parse_quantity((get_path(container, f"resources.{field}") or {}).get(resource, 0))
        for container in containers(spec)
        for field in ("requests", "limits")
    ]


@mutant(
    "anti-affinity-though-it-is-off",
    "The stanza is injected by default, though Autopilot is switched off.",
    "AW-110",
)
class AntiAffinityThoughItIsOff(Rules):
    def pod_spec_avoiding_bad_nodes(
        self, spec: Object, autopilot: Autopilot | None, pod_set: int
    ) -> Object:
        return super().pod_spec_avoiding_bad_nodes(spec, autopilot or Autopilot(), pod_set)


@mutant(
    "discouraged-nodes-are-forbidden",
    "Nodes with a mark that only discourages are avoided strictly.",
    "AW-111",
)
class DiscouragedNodesAreForbidden(Rules):
    def avoided_effects(self) -> tuple[str, ...]:
        return (*super().avoided_effects(), "PreferNoSchedule")
