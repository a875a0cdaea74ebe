"""The defaults of a pod's spec, and of the pod templates that workloads hold.

Each function hands back the very dict it was given if nothing was missing, so that pods
made from a stored template cost nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clusters.simulated.builtin.quantities import canonical_quantities

_SPEC_DEFAULTS: Final[Mapping[str, Any]] = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER_DEFAULTS: Final[Mapping[str, Any]] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBE_DEFAULTS: Final[Mapping[str, Any]] = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
_VOLUME_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "configMap": {"defaultMode": 420},
    "secret": {"defaultMode": 420},
    "projected": {"defaultMode": 420},
    "downwardAPI": {"defaultMode": 420},
    "hostPath": {"type": ""},
}
_PORT_DEFAULTS: Final[Mapping[str, Any]] = {"protocol": "TCP"}

Part = Mapping[str, Any]


def default_pod_template(template: Part) -> Part:
    """A pod template with its spec's defaults filled in."""
    spec = template.get("spec") or {}
    filled = default_pod_spec(spec)
    return template if filled is spec else {**template, "spec": filled}


def default_pod_spec(spec: Part) -> Part:
    """A pod's spec with its defaults filled in."""
    if [] in spec.values():
        # The API leaves out lists that are empty.
        spec = {name: value for name, value in spec.items() if value != []}
    spec = _filled(spec, _SPEC_DEFAULTS)
    if "nodeSelector" in spec and not spec["nodeSelector"]:
        spec = {name: value for name, value in spec.items() if name != "nodeSelector"}
    if spec["terminationGracePeriodSeconds"] < 0:
        spec = {**spec, "terminationGracePeriodSeconds": 1}
    spec = _each(spec, "containers", _default_container)
    spec = _each(spec, "initContainers", _default_container)
    spec = _each(spec, "volumes", _default_volume)
    spec = _replaced(spec, "overhead", canonical_quantities)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account and account != spec.get("serviceAccount"):
        spec = {**spec, "serviceAccount": account}
    return (
        spec
        if spec.get("serviceAccountName") == account
        else {**spec, "serviceAccountName": account}
    )


def default_pod(spec: Part) -> Part:
    """The defaults of a pod itself, which templates do not get."""
    spec = default_pod_spec(spec)
    for field in ("containers", "initContainers"):
        spec = _each(spec, field, lambda part: _replaced(part, "resources", _request_limits))
    return spec if "enableServiceLinks" in spec else {**spec, "enableServiceLinks": True}


def _default_variable(variable: Part) -> Part:
    """The version of the fields that a variable takes its value from."""
    source: Part = variable.get("valueFrom") or {}
    reference = source.get("fieldRef")
    if not reference or reference.get("apiVersion"):
        return variable
    return {
        **variable,
        "valueFrom": {**source, "fieldRef": {**reference, "apiVersion": "v1"}},
    }


def _default_container(container: Part) -> Part:
    container = _filled(container, _CONTAINER_DEFAULTS)
    if not container.get("imagePullPolicy"):
        container = {**container, "imagePullPolicy": _pull_policy(container.get("image") or "")}
    resources = container["resources"]
    if resources:
        container = _replaced(container, "resources", _default_resources)
    container = _each(container, "env", _default_variable)
    container = _each(container, "ports", lambda port: _filled(port, _PORT_DEFAULTS))
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            container = _replaced(container, probe, _default_probe)
    return container


def _default_resources(resources: Part) -> Part:
    for kind in ("limits", "requests"):
        resources = _replaced(resources, kind, canonical_quantities)
    return resources


def _request_limits(resources: Part) -> Part:
    """Requests default to limits."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    missing = {name: value for name, value in limits.items() if name not in requests}
    return {**resources, "requests": {**requests, **missing}} if missing else resources


def _default_probe(probe: Part) -> Part:
    probe = _filled(probe, _PROBE_DEFAULTS)
    if "httpGet" in probe:
        probe = _replaced(
            probe, "httpGet", lambda get: _filled(get, {"path": "/", "scheme": "HTTP"})
        )
    return probe


def _default_volume(volume: Part) -> Part:
    for source, defaults in _VOLUME_DEFAULTS.items():
        if source in volume:
            filled = _filled(volume[source], defaults)
            return volume if filled is volume[source] else {**volume, source: filled}
    return {**volume, "emptyDir": {}} if len(volume) == 1 else volume


def _pull_policy(image: str) -> str:
    named, digest, _ = image.partition("@")
    _, colon, tag = named.rpartition("/")[2].partition(":")
    is_latest = tag == "latest" or not (colon or digest)
    return "Always" if image and is_latest else "IfNotPresent"


def _filled(part: Part, defaults: Part) -> Part:
    if all(part.get(name) is not None for name in defaults):
        return part
    missing = {name: value for name, value in defaults.items() if part.get(name) is None}
    return {**part, **missing}


def _replaced(part: Part, name: str, change: Callable[[Part], Part]) -> Part:
    before = part.get(name)
    if not isinstance(before, dict):
        return part
    after = change(before)
    return part if after is before else {**part, name: after}


def _each(part: Part, name: str, change: Callable[[Part], Part]) -> Part:
    before: Sequence[Part] | None = part.get(name)
    if not before:
        return part
    after = [change(item) for item in before]
    same = all(one is other for one, other in zip(after, before, strict=True))
    return part if same else {**part, name: after}
