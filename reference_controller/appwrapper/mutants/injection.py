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
    Rules.pod_spec_avoiding_bad_nodes,
    "No pod is kept off unhealthy nodes.",
    "AW-001",
    "AW-087",
    "AW-089",
    "AW-093",
)
def no_anti_affinity(
    self: Rules,
    spec: Object,
    autopilot: Autopilot | None,
    pod_set: int,
) -> Object:
    return spec


@mutant(
    Rules.pod_spec_avoiding_bad_nodes,
    "Only the first pod set of a component gets the stanza: a master does, its workers do not.",
    "AW-087",
    "AW-089",
    "AW-001",
)
def anti_affinity_for_the_first_pod_set(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    if pod_set:
        return spec
    return Rules.pod_spec_avoiding_bad_nodes(self, spec, autopilot, pod_set)


@mutant(
    Rules.resources_to_avoid_for,
    "Every pod gets the stanza, though it asks for no monitored resource.",
    "AW-088",
)
def anti_affinity_for_all(self: Rules, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
    return tuple(autopilot.resource_taints)


@mutant(Rules.resources_to_avoid_for, "A request of 0 counts as a request.", "AW-088")
def zero_is_a_request(self: Rules, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
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
    Rules.resources_to_avoid_for,
    "A pod that names a resource among its limits alone does not count as asking for it.",
    "AW-087",
    "AW-089",
    "AW-001",
)
def limits_are_no_requests(self: Rules, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
    return _asked_for(spec, "requests", autopilot)


@mutant(
    Rules.resources_to_avoid_for,
    "What only an init container asks for does not count.",
    "AW-087",
    "AW-089",
)
def init_containers_not_asked(self: Rules, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
    return Rules.resources_to_avoid_for(self, {**spec, "initContainers": ()}, autopilot)


@mutant(
    Rules.resources_to_avoid_for,
    "What a pod's second container asks for does not count.",
    "AW-087",
    "AW-089",
    "AW-001",
)
def only_the_first_container_is_asked(
    self: Rules, spec: Object, autopilot: Autopilot
) -> tuple[str, ...]:
    first = {**spec, "containers": spec["containers"][:1]}
    return Rules.resources_to_avoid_for(self, first, autopilot)


@mutant(
    Rules.resources_to_avoid_for,
    "Resources that the administrator added to the configuration are not monitored.",
    "AW-085",
)
def knows_only_nvidia(self: Rules, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
    right = Rules.resources_to_avoid_for(self, spec, autopilot)
    return tuple(resource for resource in right if resource == "nvidia.com/gpu")


@mutant(
    Rules.avoided_effects,
    "Only values with NoExecute are avoided; ERR is not.",
    "AW-086",
    "AW-089",
    "AW-001",
)
def avoids_only_noexecute(self: Rules) -> tuple[str, ...]:
    return ("NoExecute",)


@mutant(
    Rules.avoided_effects,
    "Only values with NoSchedule are avoided; EVICT is not.",
    "AW-086",
    "AW-089",
    "AW-093",
)
def avoids_only_noschedule(self: Rules) -> tuple[str, ...]:
    return ("NoSchedule",)


@mutant(
    Rules.pod_spec_avoiding_bad_nodes,
    "The stanza is added as one more node selector term, an alternative to the user's.",
    "AW-089",
)
def anti_affinity_as_alternative(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    terms = get_path(spec, f"{path}.nodeSelectorTerms")
    if autopilot is None or not terms:
        return Rules.pod_spec_avoiding_bad_nodes(self, spec, autopilot, pod_set)
    added = [
        {"matchExpressions": expressions(autopilot.resource_taints[resource], AVOIDED_EFFECTS)}
        for resource in self.resources_to_avoid_for(spec, autopilot)
    ]
    affinity = dict(spec["affinity"])
    node_affinity = dict(affinity["nodeAffinity"])
    node_affinity[path.rpartition(".")[2]] = {"nodeSelectorTerms": [*terms, *added]}
    return {**spec, "affinity": {**affinity, "nodeAffinity": node_affinity}}


@mutant(
    Rules.pod_spec_avoiding_bad_nodes,
    "Unhealthy nodes are avoided where possible, not strictly.",
    "AW-089",
    "AW-001",
)
def anti_affinity_preferred(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    strict = Rules.pod_spec_avoiding_bad_nodes(self, spec, autopilot, pod_set)
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
    Rules.pod_labels,
    "Only the pods of the first component get the label by which pods are found.",
    "AW-020",
)
def labels_only_the_first_component(self: Rules, labels: Mapping[str, str]) -> Mapping[str, str]:
    if labels[COMPONENT_LABEL] == "0":
        return labels
    return {key: value for key, value in labels.items() if key != APPWRAPPER_LABEL}


@mutant(
    Rules.scheduler_name,
    "The configured scheduler replaces the one that the user chose.",
    "MLB-022",
)
def scheduler_overridden(self: Rules, own: str, configured: str) -> str:
    return configured or own


@mutant(Rules.scheduler_name, "The configured scheduler is not written into the pods.", "MLB-022")
def scheduler_not_injected(self: Rules, own: str, configured: str) -> str:
    return own


@mutant(
    Rules.user_labels,
    "Labels that name the submitting user are kept if the user wrote them himself.",
    "MLB-020",
)
def user_labels_can_be_forged(
    self: Rules, labels: Mapping[str, str], username: str, uid: str
) -> Mapping[str, str]:
    if USER_LABEL in labels:
        return labels
    return Rules.user_labels(self, labels, username, uid)


@mutant(Rules.user_labels, "The AppWrapper does not tell who submitted it.", "MLB-020")
def user_labels_missing(
    self: Rules, labels: Mapping[str, str], username: str, uid: str
) -> Mapping[str, str]:
    return labels


@mutant(
    Rules.user_labels,
    "The id of the submitting user becomes a label's value, whatever is in it.",
    "MLB-020",
)
def user_ids_are_labels_as_they_are(
    self: Rules, labels: Mapping[str, str], username: str, uid: str
) -> Mapping[str, str]:
    return {**Rules.user_labels(self, labels, username, uid), USER_ID_LABEL: uid}


@mutant(Rules.user_labels, "What a service account says of the user is believed.", "MLB-020")
def service_accounts_are_believed(
    self: Rules, labels: Mapping[str, str], username: str, uid: str
) -> Mapping[str, str]:
    if username.startswith("system:serviceaccount:") and USER_LABEL in labels:
        return labels
    return Rules.user_labels(self, labels, username, uid)


@mutant(Rules.lasting_labels, "Who submitted an AppWrapper can be written over later.", "MLB-020")
def user_labels_can_be_changed(self: Rules) -> tuple[str, ...]:
    return ()


@mutant(Rules.queue_label, "An AppWrapper without a queue does not get the default one.", "MLB-021")
def no_default_queue(self: Rules, labels: Mapping[str, str], default: str) -> Mapping[str, str]:
    return labels


@mutant(Rules.queue_label, "The default queue replaces the one that the user named.", "MLB-021")
def default_queue_for_all(
    self: Rules, labels: Mapping[str, str], default: str
) -> Mapping[str, str]:
    return {**labels, QUEUE_LABEL: default} if default else labels


@mutant(
    Rules.pod_labels, "A label value of 63 characters, which is allowed, is cut to 62.", "AW-020"
)
def label_values_are_shortened(self: Rules, labels: Mapping[str, str]) -> Mapping[str, str]:
    return {key: value[:62] for key, value in Rules.pod_labels(self, labels).items()}


@mutant(Rules.pod_labels, "Dots in label values, which are allowed, are replaced.", "AW-020")
def label_values_without_dots(self: Rules, labels: Mapping[str, str]) -> Mapping[str, str]:
    return {key: value.replace(".", "-") for key, value in Rules.pod_labels(self, labels).items()}


@mutant(
    Rules.resources_to_avoid_for,
    "A request for less than a whole one counts as none.",
    "AW-087",
    "AW-089",
)
def fractions_are_nothing(self: Rules, spec: Object, autopilot: Autopilot) -> tuple[str, ...]:
    return tuple(
        resource
        for resource in Rules.resources_to_avoid_for(self, spec, autopilot)
        if any(amount >= 1 for amount in _amounts(spec, resource))
    )


@mutant(
    Rules.resources_to_avoid_for,
    "A quantity with a suffix or an exponent is not read, and counts as no request.",
    "AW-087",
    "AW-089",
)
def quantities_are_plain_numbers(
    self: Rules, spec: Object, autopilot: Autopilot
) -> tuple[str, ...]:
    return tuple(
        resource
        for resource in Rules.resources_to_avoid_for(self, spec, autopilot)
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
    Rules.pod_spec_avoiding_bad_nodes,
    "The stanza is injected by default, though Autopilot is switched off.",
    "AW-110",
)
def anti_affinity_though_it_is_off(
    self: Rules, spec: Object, autopilot: Autopilot | None, pod_set: int
) -> Object:
    return Rules.pod_spec_avoiding_bad_nodes(self, spec, autopilot or Autopilot(), pod_set)


@mutant(
    Rules.avoided_effects, "Nodes with a mark that only discourages are avoided strictly.", "AW-111"
)
def discouraged_nodes_are_forbidden(self: Rules) -> tuple[str, ...]:
    return (*Rules.avoided_effects(self), "PreferNoSchedule")
