"""From a component's template to the object that is created: names, owner, labels, injections.

Pure: the same AppWrapper and attempt always give the same object. That is what makes a
creation whose reply was lost recognisable, for components with a `generateName` too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reference_controller.appwrapper.names import (
    APPWRAPPER,
    APPWRAPPER_LABEL,
    ATTEMPT_LABEL,
    COMPONENT_LABEL,
    OWNER_UID_LABEL,
)
from reference_controller.appwrapper.pod_sets import (
    pod_sets_of,
    pod_template_at,
    with_pod_template,
)
from reference_controller.appwrapper.status import attempt_of
from vocabulary.objects import Object, get_path, meta, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from reference_controller.appwrapper.config import OperatorConfig
    from reference_controller.appwrapper.rules import Rules

_SUFFIX_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH: Final = 5
_NAME_PREFIX_MAX: Final = 58


class TemplateError(ValueError):
    """A component that cannot be created as it is written; trying again will not help."""


def component_name(aw: Object, index: int, attempt: int) -> str:
    """The name of the component in this attempt; raises TemplateError if it has none.

    For a `generateName` we draw the suffix ourselves, from the AppWrapper's uid, so that the
    intent can name the object before it exists.
    """
    metadata = meta(aw["spec"]["components"][index].get("template") or {})
    name = metadata.get("name", "")
    if name:
        return str(name)
    prefix = str(metadata.get("generateName", ""))
    if not prefix:
        raise TemplateError(
            f"spec.components[{index}].template.metadata has neither name nor generateName"
        )
    seed = hashlib.sha256(f"{uid_of(aw)}/{attempt}/{index}".encode()).digest()
    suffix = "".join(_SUFFIX_ALPHABET[byte % len(_SUFFIX_ALPHABET)] for byte in seed)
    return prefix[:_NAME_PREFIX_MAX] + suffix[:_SUFFIX_LENGTH]


def owner_reference(aw: Object) -> dict[str, Any]:
    return {
        "apiVersion": APPWRAPPER.api_version,
        "kind": APPWRAPPER.kind,
        "name": name_of(aw),
        "uid": uid_of(aw),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def build(aw: Object, index: int, name: str, config: OperatorConfig, rules: Rules) -> Object:
    """The object to create for a component; raises TemplateError."""
    component = aw["spec"]["components"][index]
    template = component.get("template") or {}
    infos = component.get("podSetInfos") or ()
    injection = _Injection(aw, index, config, rules)
    try:
        pod_sets = pod_sets_of(component)
        for position, pod_set in enumerate(pod_sets):
            info = rules.info_of(infos, position)
            pod = injection.into(pod_template_at(template, pod_set.path), position, info)
            template = with_pod_template(template, pod_set.path, pod)
    except ValueError as error:
        raise TemplateError(f"spec.components[{index}]: {error}") from error
    metadata = dict(meta(template))
    if name:
        metadata["name"] = name
        metadata.pop("generateName", None)
    metadata["namespace"] = namespace_of(aw)
    metadata["labels"] = {APPWRAPPER_LABEL: name_of(aw), **(metadata.get("labels") or {})}
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        ATTEMPT_LABEL: str(attempt_of(aw)),
    }
    metadata["ownerReferences"] = [owner_reference(aw)]
    return {**template, "metadata": metadata}


@dataclass(frozen=True, slots=True)
class _Injection:
    """The injections into every pod template of one component in the current attempt."""

    aw: Object
    index: int
    config: OperatorConfig
    rules: Rules

    def into(self, pod: Object, pod_set: int, info: Object) -> Object:
        """The template of a pod set with labels, podSetInfos, scheduler and affinity."""
        metadata = dict(meta(pod))
        metadata["labels"] = self._joined(metadata, info, "labels", self._labels())
        annotations = self._joined(metadata, info, "annotations")
        if annotations:
            metadata["annotations"] = annotations
        return {**pod, "metadata": metadata, "spec": self._spec(pod["spec"], pod_set, info)}

    def _labels(self) -> Mapping[str, str]:
        return self.rules.pod_labels(
            {
                APPWRAPPER_LABEL: name_of(self.aw),
                OWNER_UID_LABEL: uid_of(self.aw),
                ATTEMPT_LABEL: str(attempt_of(self.aw)),
                COMPONENT_LABEL: str(self.index),
            }
        )

    def _spec(self, standing: Object, pod_set: int, info: Object) -> Object:
        spec = dict(standing)
        node_selector = self._joined(spec, info, "nodeSelector")
        if node_selector:
            spec["nodeSelector"] = node_selector
        if info.get("tolerations"):
            spec["tolerations"] = [*(spec.get("tolerations") or ()), *info["tolerations"]]
        if info.get("schedulingGates"):
            gates = list(spec.get("schedulingGates") or ())
            names = [gate.get("name") for gate in gates]
            gates += [gate for gate in info["schedulingGates"] if gate.get("name") not in names]
            spec["schedulingGates"] = gates
        own, configured = str(spec.get("schedulerName", "")), self.config.scheduler_name
        scheduler = self.rules.scheduler_name(own, configured)
        if scheduler:
            spec["schedulerName"] = scheduler
        return self.rules.pod_spec_avoiding_bad_nodes(spec, self.config.autopilot, pod_set)

    def _joined(
        self, standing: Object, info: Object, field: str, ours: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """The map of that field: the user's, ours, and Kueue's. A key with two different
        values is a mistake that only people can mend."""
        joined: dict[str, str] = dict(standing.get(field) or {})
        for added in (ours or {}, info.get(field) or {}):
            for key, value in added.items():
                if joined.get(key, value) != value:
                    raise TemplateError(
                        f"spec.components[{self.index}]: {field} of the pod template has "
                        f"{key}={joined[key]!r}, which conflicts with {value!r}"
                    )
                joined[key] = value
        return joined


def initial_record(component: Object) -> Object:
    """A component's first entry of `status.componentStatus`.

    If its podSets cannot be determined the record has none: creating the component will fail
    with the reason.
    """
    template = component.get("template") or {}
    try:
        pod_sets = pod_sets_of(component)
    except ValueError:
        pod_sets = ()
    return {
        "name": str(get_path(template, "metadata.name", "")),
        "kind": str(template.get("kind", "")),
        "apiVersion": str(template.get("apiVersion", "")),
        "podSets": [pod_set.to_data() for pod_set in pod_sets],
        "conditions": [],
    }
