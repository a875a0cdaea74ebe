"""Validation of a pod's spec, for common mistakes.

A real server checks far more; these checks concern workloads of batch controllers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from clusters.simulated.builtin.affinity_validation import validate_affinity
from clusters.simulated.builtin.ports import validate_port_number, validate_protocol
from clusters.simulated.builtin.resource_validation import validate_resources
from clusters.simulated.field_errors import (
    FieldError,
    duplicate,
    field_not_found,
    forbidden,
    not_supported,
    required,
    value_invalid,
)
from clusters.simulated.names import dns_label, dns_subdomain, qualified_name
from clusters.simulated.object_meta import validate_annotations, validate_labels
from vocabulary.objects import Object, without_path

MAX_INT32: Final = 2**31 - 1
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_DNS_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_OPERATORS: Final = ("Equal", "Exists")
_MUTABLE: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
    "set to 1 if it was previously negative)"
)


def validate_pod_template(template: Object, path: str) -> list[FieldError]:
    """Validate a pod template: its labels, annotations and spec."""
    metadata: Object = template.get("metadata") or {}
    errors = validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    errors += validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    return errors + validate_pod_spec(template.get("spec") or {}, f"{path}.spec")


def validate_pod_spec(spec: Object, path: str) -> list[FieldError]:
    """Validate a pod's spec at that path."""
    errors, volumes = _validate_volumes(spec.get("volumes") or (), f"{path}.volumes")
    if not spec.get("containers"):
        errors.append(required(f"{path}.containers"))
    names: set[str] = set()
    for field in ("containers", "initContainers"):
        for position, container in enumerate(spec.get(field) or ()):
            at = f"{path}.{field}[{position}]"
            errors += _validate_container(container, at, volumes)
            name = container.get("name") or ""
            if name in names:
                errors.append(duplicate(f"{at}.name", name))
            elif name or field == "containers":
                names.add(name)
    if spec.get("restartPolicy") not in _RESTART_POLICIES:
        errors.append(
            not_supported(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES)
        )
    policy = spec.get("dnsPolicy")
    if policy and policy not in _DNS_POLICIES:
        errors.append(not_supported(f"{path}.dnsPolicy", policy, _DNS_POLICIES))
    errors += validate_labels(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    if spec.get("affinity"):
        errors += validate_affinity(spec["affinity"], f"{path}.affinity")
    errors += _validate_names(spec, ("serviceAccountName", "nodeName"), path)
    errors += _validate_times(spec, path)
    for position, toleration in enumerate(spec.get("tolerations") or ()):
        errors += validate_toleration(toleration, f"{path}.tolerations[{position}]")
    errors += _validate_names(spec, ("priorityClassName", "runtimeClassName"), path)
    if spec.get("overhead"):
        errors += validate_resources({"limits": spec["overhead"]}, f"{path}.overhead")
    gates = [gate.get("name", "") for gate in spec.get("schedulingGates") or ()]
    for position, gate in enumerate(gates):
        at = f"{path}.schedulingGates[{position}]"
        errors += [value_invalid(at, gate, text) for text in qualified_name(gate)]
        if gate in gates[:position]:
            errors.append(duplicate(at, gate))
    return errors


def _validate_names(spec: Object, fields: Sequence[str], path: str) -> list[FieldError]:
    return [
        value_invalid(f"{path}.{field}", spec[field], text)
        for field in fields
        if spec.get(field)
        for text in dns_subdomain(spec[field])
    ]


def validate_new_pod_spec(spec: Object) -> list[FieldError]:
    """Validate the spec of a new pod, of which more is required than of a template's."""
    errors = validate_pod_spec(spec, "spec")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        because = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", because))
    return errors


def validate_pod_spec_update(new: Object, old: Object) -> list[FieldError]:
    """Validate an update of a pod's spec, most of which is immutable."""
    if new == old:
        return []
    errors = validate_pod_spec(new, "spec")
    for field in ("containers", "initContainers"):
        if len(new.get(field) or ()) != len(old.get(field) or ()):
            because = "pod updates may not add or remove containers"
            return [*errors, forbidden(f"spec.{field}", because)]
    # A real server looks at images once more, since they are what an update may change.
    errors += [
        required(f"spec.{field}[{position}].image")
        for field in ("containers", "initContainers")
        for position, container in enumerate(new.get(field) or ())
        if not container.get("image")
    ]
    tolerations = [_without_time(item) for item in new.get("tolerations") or ()]
    if any(_without_time(item) not in tolerations for item in old.get("tolerations") or ()):
        errors.append(
            forbidden(
                "spec.tolerations",
                "existing toleration can not be modified except its tolerationSeconds",
            )
        )
    before, after = old.get("activeDeadlineSeconds"), new.get("activeDeadlineSeconds")
    if before is not None and (after is None or after > before):
        errors.append(
            value_invalid(
                "spec.activeDeadlineSeconds",
                after,
                "must be less than or equal to previous value"
                if after is not None
                else "must not update from a positive integer to nil value",
            )
        )
    gates_before = [gate.get("name", "") for gate in old.get("schedulingGates") or ()]
    errors += [
        forbidden(
            f"spec.schedulingGates[{position}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
        )
        for position, gate in enumerate(new.get("schedulingGates") or ())
        if gate.get("name", "") not in gates_before
    ]
    if gates_before and new.get("nodeSelector") != old.get("nodeSelector"):
        errors += _validate_added_selectors(new, old)
        new = {**new, "nodeSelector": old.get("nodeSelector")}
        old = {**old, "nodeSelector": old.get("nodeSelector")}
    if _fixed_part(new) != _fixed_part(old):
        errors.append(forbidden("spec", _MUTABLE))
    return errors


def _validate_added_selectors(new: Object, old: Object) -> list[FieldError]:
    """Where a pod may run can be narrowed while it is gated."""
    after = new.get("nodeSelector") or {}
    if all(after.get(key) == value for key, value in (old.get("nodeSelector") or {}).items()):
        return []
    because = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    return [value_invalid("spec.nodeSelector", after, because)]


def _without_time(toleration: Object) -> Object:
    return without_path(toleration, "tolerationSeconds")


def _fixed_part(spec: Object) -> dict[str, Any]:
    """The spec without what an update may change."""
    changeable = ("tolerations", "activeDeadlineSeconds", "schedulingGates")
    fixed = {name: value for name, value in spec.items() if name not in changeable}
    for field in ("containers", "initContainers"):
        if field in fixed:
            fixed[field] = [
                {name: value for name, value in container.items() if name != "image"}
                for container in fixed[field] or ()
            ]
    return fixed


def _validate_container(container: Object, path: str, volumes: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    name = container.get("name")
    if not name:
        errors.append(required(f"{path}.name"))
    else:
        errors += [value_invalid(f"{path}.name", name, text) for text in dns_label(name)]
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy")
    if policy and policy not in _MESSAGE_POLICIES:
        at = f"{path}.terminationMessagePolicy"
        errors.append(not_supported(at, policy, _MESSAGE_POLICIES))
    for position, port in enumerate(container.get("ports") or ()):
        errors += _validate_port(port, f"{path}.ports[{position}]")
    for position, variable in enumerate(container.get("env") or ()):
        if not variable.get("name"):
            errors.append(required(f"{path}.env[{position}].name"))
    mounted: set[str] = set()
    for position, mount in enumerate(container.get("volumeMounts") or ()):
        at = f"{path}.volumeMounts[{position}]"
        name = mount.get("name", "")
        if not name:
            errors.append(required(f"{at}.name"))
        if name not in volumes:
            errors.append(field_not_found(f"{at}.name", name))
        if not mount.get("mountPath"):
            errors.append(required(f"{at}.mountPath"))
        elif mount["mountPath"] in mounted:
            errors.append(value_invalid(f"{at}.mountPath", mount["mountPath"], "must be unique"))
        mounted.add(mount.get("mountPath", ""))
    policy = container.get("imagePullPolicy")
    if policy and policy not in _PULL_POLICIES:
        errors.append(not_supported(f"{path}.imagePullPolicy", policy, _PULL_POLICIES))
    resources = container.get("resources")
    if resources:
        errors += validate_resources(resources, f"{path}.resources")
    return errors


def _validate_port(port: Object, path: str) -> list[FieldError]:
    number, protocol = port.get("containerPort"), port.get("protocol")
    errors = validate_port_number(number, f"{path}.containerPort") if number else []
    if not number:
        errors.append(required(f"{path}.containerPort"))
    if protocol:
        errors += validate_protocol(protocol, f"{path}.protocol")
    return errors


def _validate_times(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MAX_INT32:
        errors.append(
            value_invalid(
                f"{path}.activeDeadlineSeconds",
                deadline,
                f"must be between 1 and {MAX_INT32}, inclusive",
            )
        )
    return errors


def validate_toleration(toleration: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    operator = toleration.get("operator") or "Equal"
    if not toleration.get("key") and operator != "Exists":
        errors.append(
            value_invalid(
                f"{path}.operator",
                toleration.get("operator", ""),
                'operator must be Exists when `key` is empty, which means "match all values and '
                'all keys"',
            )
        )
    if operator == "Exists" and toleration.get("value"):
        errors.append(
            value_invalid(
                f"{path}.operator",
                toleration["value"],
                "value must be empty when `operator` is 'Exists'",
            )
        )
    if operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        errors.append(
            value_invalid(
                f"{path}.effect",
                toleration.get("effect", ""),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            )
        )
    return errors


def _validate_volumes(
    volumes: Sequence[Object], path: str
) -> tuple[list[FieldError], tuple[str, ...]]:
    errors: list[FieldError] = []
    names: list[str] = []
    for position, volume in enumerate(volumes):
        name = volume.get("name")
        if not name:
            errors.append(required(f"{path}[{position}].name"))
            continue
        errors += [
            value_invalid(f"{path}[{position}].name", name, text) for text in dns_label(name)
        ]
        if name in names:
            errors.append(duplicate(f"{path}[{position}].name", name))
        names.append(name)
    return errors, tuple(names)
