"""An AppWrapper's manifest as a plan's variation changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.manifests.pod_templates import with_annotations, with_behaviour
from conformance.suites.appwrapper.api import APPWRAPPER, PARAMETER_PREFIX
from vocabulary.kinds import kind_of
from vocabulary.objects import Object, get_path, name_of, with_path

if TYPE_CHECKING:
    from conformance.suites.appwrapper.faults.variation import Added, AppWrapperVariation

_REPLICAS: Final = {
    "Job": "template.spec.parallelism",
    "Deployment": "template.spec.replicas",
    "StatefulSet": "template.spec.replicas",
}
"""Where the wrapped kinds say how many pods they have at a time."""


def varied(obj: Object, workload: AppWrapperVariation) -> Object:
    """The manifest, changed if it is the AppWrapper that the plan names."""
    if kind_of(obj) != APPWRAPPER or name_of(obj) != workload.appwrapper:
        return obj
    components = [
        *(_component(entry, workload) for entry in get_path(obj, "spec.components", ())),
        *({"template": _template(added)} for added in workload.beside),
    ]
    changed: Object = with_path(obj, "spec.components", components)
    if workload.behaviour:
        changed = with_behaviour(changed, workload.behaviour)
    if workload.parameters:
        annotations = {PARAMETER_PREFIX + key: text for key, text in workload.parameters.items()}
        changed = with_annotations(changed, annotations)
    return with_path(changed, "metadata.name", workload.name) if workload.name else changed


def _component(entry: Object, workload: AppWrapperVariation) -> Object:
    """The component with the numbers of pods and the policies that the plan gives it.

    Declared podSets would contradict other numbers, so a component that has them keeps its own.
    """
    kind = get_path(entry, "template.kind")
    if entry.get("podSets"):
        return entry
    changes: dict[str, Any] = {}
    if workload.replicas is not None and kind in _REPLICAS:
        changes[_REPLICAS[kind]] = workload.replicas
    if kind == "Job":
        if workload.completions is not None:
            changes["template.spec.completions"] = workload.completions
        if workload.backoff is not None:
            changes["template.spec.backoffLimit"] = workload.backoff
        if workload.restart:
            changes["template.spec.template.spec.restartPolicy"] = workload.restart
    for path, value in changes.items():
        entry = with_path(entry, path, value)
    return entry


def _template(added: Added) -> dict[str, Any]:
    """A small object of the kind."""
    labels = {"assay.dev/added": added.kind.lower()}
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "10m"}}}
    pod: dict[str, Any] = {"containers": [container]}
    match added.kind:
        case "ConfigMap":
            body: dict[str, Any] = {"data": {"mode": "train"}}
        case "Service":
            body = {"spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 80}]}}
        case "Pod":
            body = {"spec": {**pod, "restartPolicy": "Never"}}
        case "Job":
            body = {"spec": {"template": {"spec": {**pod, "restartPolicy": "Never"}}}}
        case "Deployment" | "StatefulSet":
            template = {"metadata": {"labels": labels}, "spec": pod}
            body = {"spec": {"selector": {"matchLabels": labels}, "template": template}}
    if added.kind == "StatefulSet":
        body["spec"]["serviceName"] = added.name
    group = {"Job": "batch/v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1"}
    key = "generateName" if added.is_prefix else "name"
    return {
        "apiVersion": group.get(added.kind, "v1"),
        "kind": added.kind,
        "metadata": {key: added.name},
        **body,
    }
