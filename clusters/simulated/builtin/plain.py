"""The kinds that need few rules of their own."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.builtin.pod_validation import validate_toleration
from clusters.simulated.builtin.quantities import canonical_quantities
from clusters.simulated.builtin.resource_validation import (
    complaints_about_quota,
    is_of_quotas,
    validate_resources,
)
from clusters.simulated.builtin.wire_form import without_zeros
from clusters.simulated.field_errors import (
    IMMUTABLE,
    FieldError,
    forbidden,
    not_supported,
    required,
    too_long,
    value_invalid,
)
from clusters.simulated.names import data_key, dns_label, dns_subdomain
from clusters.simulated.object_meta import validate_labels
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, Strategy, path_field
from vocabulary.clock import Micros
from vocabulary.objects import Object, get_path, name_of
from vocabulary.quantities import parse_quantity

_MAX_DATA_BYTES: Final = 1024 * 1024
"""As much as a ConfigMap or a Secret may hold; keys do not count."""


class ConfigMapStrategy(Strategy):
    short_names = ("cm",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        _drop_empty(obj, ("data", "binaryData"))

    def validate(self, obj: Object) -> list[FieldError]:
        plain, encoded = obj.get("data") or {}, obj.get("binaryData") or {}
        size_bytes = sum(len((text or "").encode()) for text in plain.values())
        size_bytes += sum(map(_decoded_bytes, encoded.values()))
        errors = _validate_data_keys(obj)
        errors += [
            value_invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
            for key in plain
            if key in encoded
        ]
        if size_bytes > _MAX_DATA_BYTES:
            # The whole is too long, which has no path: servers print it as they do an index.
            errors.append(too_long("[]", _MAX_DATA_BYTES))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return _validate_frozen_data(new, old) + self.validate(new)


class SecretStrategy(Strategy):
    lists_selectable: ClassVar = False
    selectable: Mapping[str, FieldOf] = {**METADATA_FIELDS, "type": path_field("type")}

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        if not obj.get("type"):
            obj["type"] = "Opaque"
        plain = obj.pop("stringData", None)
        if plain:
            encoded = {key: base64.b64encode(text.encode()).decode() for key, text in plain.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}
        _drop_empty(obj, ("data",))

    def validate(self, obj: Object) -> list[FieldError]:
        errors = _validate_data_keys(obj)
        if sum(map(_decoded_bytes, (obj.get("data") or {}).values())) > _MAX_DATA_BYTES:
            errors.append(too_long("data", _MAX_DATA_BYTES))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = _validate_frozen_data(new, old) + self.validate(new)
        if new.get("type") != old.get("type"):
            errors.append(value_invalid("type", new.get("type"), IMMUTABLE))
        return errors


def _drop_empty(obj: dict[str, Any], fields: Iterable[str]) -> None:
    """A field that holds nothing is not there: JSON of Go leaves it out."""
    for field in fields:
        if field in obj and not obj[field]:
            del obj[field]


def _decoded_bytes(encoded: str | None) -> int:
    """How many bytes a text in base64 stands for."""
    if not encoded:
        return 0
    return len(encoded) * 3 // 4 - encoded.count("=", -2)


def _validate_data_keys(obj: Object) -> list[FieldError]:
    return [
        value_invalid(f"{field}[{key}]", key, text)
        for field in ("data", "binaryData")
        for key in obj.get(field) or ()
        for text in data_key(key)
    ]


def _validate_frozen_data(new: Object, old: Object) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    because = "field is immutable when `immutable` is set"
    errors = [] if new.get("immutable") else [forbidden("immutable", because)]
    return errors + [
        forbidden(field, because)
        for field in ("data", "binaryData")
        if new.get(field) != old.get(field)
    ]


class ServiceAccountStrategy(Strategy):
    subresources = frozenset({"token"})
    returns_deleted = True
    short_names = ("sa",)


_SCOPES: Final = frozenset(
    {
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
        "VolumeAttributesClass",
    }
)


def _scope_errors(quota: Object) -> Iterator[FieldError]:
    """Those of the scopes of a quota: most resources are of no scope."""
    scopes = get_path(quota, "spec.scopes") or ()
    hard = get_path(quota, "spec.hard") or {}
    for scope in scopes:
        if scope not in _SCOPES:
            yield value_invalid("spec.scopes", scopes, "unsupported scope")
        if scope not in _SCOPES_OF_PODS:
            continue
        allowed = _OF_BEST_EFFORT if scope == "BestEffort" else _OF_PODS
        for name in hard:
            if is_of_quotas(name) and name not in allowed:
                because = "unsupported scope applied to resource"
                yield value_invalid("spec.scopes", scopes, because)
    if any(pair <= set(scopes) for pair in _CONFLICTING):
        yield value_invalid("spec.scopes", scopes, "conflicting scopes")


_SCOPES_OF_PODS: Final = _SCOPES - {"VolumeAttributesClass"}
_OF_BEST_EFFORT: Final = frozenset({"pods"})
_OF_PODS: Final = _OF_BEST_EFFORT | {
    f"{kind}{name}" for kind in ("", "limits.", "requests.") for name in ("cpu", "memory")
}
_CONFLICTING: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})


class ResourceQuotaStrategy(Strategy):
    subresources = frozenset({"status"})
    returns_deleted = True
    short_names = ("quota",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        obj.setdefault("spec", {})
        hard = get_path(obj, "spec.hard")
        if hard and (old is None or hard is not get_path(old, "spec.hard")):
            obj["spec"] = {**obj["spec"], "hard": canonical_quantities(hard)}

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = {}

    def validate(self, obj: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        for name, amount in (get_path(obj, "spec.hard") or {}).items():
            at = f"spec.hard[{name}]"
            errors += [value_invalid(at, name, text) for text in complaints_about_quota(name)]
            if parse_quantity(amount) < 0:
                errors.append(value_invalid(at, amount, "must be greater than or equal to 0"))
        return errors + list(_scope_errors(obj))

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate(new)
        scopes = get_path(new, "spec.scopes") or ()
        if sorted(scopes) != sorted(get_path(old, "spec.scopes") or ()):
            errors.append(value_invalid("spec.scopes", scopes or None, IMMUTABLE))
        return errors


class ControllerRevisionStrategy(Strategy):
    def validate(self, obj: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        if not isinstance(obj.get("data", {}), Mapping):
            errors.append(required("data", "data must be a valid JSON object"))
        revision = obj.get("revision") or 0
        if revision < 0:
            because = "must be greater than or equal to 0"
            errors.append(value_invalid("revision", revision, because))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate(new)
        if new.get("data") != old.get("data"):
            errors.append(value_invalid("data", new.get("data"), IMMUTABLE))
        return errors


_MAX_USER_PRIORITY: Final = 1_000_000_000
_PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")


class PriorityClassStrategy(Strategy):
    has_generation = True
    short_names = ("pc",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")
        obj.setdefault("value", 0)

    def validate(self, obj: Object) -> list[FieldError]:
        if name_of(obj).startswith("system-"):
            because = (
                "priority class names with 'system-' prefix are reserved for system use only. "
                "error: "
            )
            return [
                forbidden(
                    "metadata.name", f"{because}{name_of(obj)} is not a known system priority class"
                )
            ]
        if obj["value"] > _MAX_USER_PRIORITY:
            because = f"maximum allowed value of a user defined priority is {_MAX_USER_PRIORITY}"
            return [forbidden("value", because)]
        policy = obj["preemptionPolicy"]
        if policy not in _PREEMPTION_POLICIES:
            return [not_supported("preemptionPolicy", policy, _PREEMPTION_POLICIES)]
        return []

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = []
        if new.get("value") != old.get("value"):
            errors.append(forbidden("value", "may not be changed in an update."))
        policy = new.get("preemptionPolicy")
        if policy != old.get("preemptionPolicy"):
            errors.append(value_invalid("preemptionPolicy", policy, IMMUTABLE))
        return errors

    def desires_other(self, new: Object, old: Object) -> bool:
        return False


class RuntimeClassStrategy(Strategy):
    creates_on_update = True
    unconditional_update = False

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        fixed = get_path(obj, "overhead.podFixed")
        if fixed:
            obj["overhead"] = {**obj["overhead"], "podFixed": canonical_quantities(fixed)}

    def validate(self, obj: Object) -> list[FieldError]:
        handler = obj.get("handler")
        if handler:
            errors = [value_invalid("handler", handler, text) for text in dns_label(handler)]
        else:
            errors = [required("handler")]
        errors += validate_resources({"limits": get_path(obj, "overhead.podFixed")}, "overhead")
        scheduling: Object = obj.get("scheduling") or {}
        errors += validate_labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
        tolerations = scheduling.get("tolerations") or ()
        for position, toleration in enumerate(tolerations):
            path = f"scheduling.tolerations[{position}]"
            errors += validate_toleration(toleration, path)
        return errors + [
            _repeated(f"scheduling.tolerations[{position}]", toleration)
            for position, toleration in enumerate(tolerations)
            if toleration in tolerations[:position]
        ]

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        if new.get("handler") == old.get("handler"):
            return self.validate(new)
        return [*self.validate(new), value_invalid("handler", new.get("handler", ""), IMMUTABLE)]


def _repeated(path: str, toleration: Object) -> FieldError:
    """A real server prints the fields as Go's struct has them."""
    names = ("key", "operator", "value", "effect")
    shown = {name.capitalize(): toleration.get(name, "") for name in names}
    shown["TolerationSeconds"] = toleration.get("tolerationSeconds")
    return FieldError("FieldValueDuplicate", path, f"Duplicate value: {_compact(shown)}")


_compact: Final = json.JSONEncoder(separators=(",", ":")).encode
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


_OMITTED_EMPTY: Final = ("taints", "unschedulable")


class NodeStrategy(Strategy):
    lists_selectable: ClassVar = False
    subresources = frozenset({"status"})
    short_names = ("no",)
    selectable: Mapping[str, FieldOf] = {
        "metadata.name": name_of,
        "spec.unschedulable": lambda obj: str(
            bool(get_path(obj, "spec.unschedulable", False))
        ).lower(),
    }

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.setdefault("spec", {})
        if old is None or spec is not old.get("spec"):
            obj["spec"] = without_zeros(spec or {}, _OMITTED_EMPTY)

    def validate(self, obj: Object) -> list[FieldError]:
        return [
            not_supported(f"metadata.taints[{position}].effect", taint.get("effect"), _EFFECTS)
            for position, taint in enumerate(get_path(obj, "spec.taints") or ())
            if taint.get("effect") not in _EFFECTS
        ]

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """A real server looks twice at the taints of an update."""
        return self.validate(new) * 2

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        """A kubelet registers its node together with the status."""
        status = obj.get("status") or {}
        if status.get("capacity") and not status.get("allocatable"):
            status = {**status, "allocatable": status["capacity"]}
        obj["status"] = status


_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_CLAIM_PROTECTION: Final = "kubernetes.io/pvc-protection"
"""Keeps a claim for as long as a pod uses it."""


class PersistentVolumeClaimStrategy(Strategy):
    subresources = frozenset({"status"})
    returns_deleted = True
    short_names = ("pvc",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.get("spec") or {}
        if not spec.get("volumeMode"):
            obj["spec"] = {**spec, "volumeMode": "Filesystem"}

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = {"phase": "Pending"}
        metadata = obj["metadata"]
        finalizers = metadata.get("finalizers") or []
        if _CLAIM_PROTECTION not in finalizers:
            metadata["finalizers"] = [*finalizers, _CLAIM_PROTECTION]

    def validate(self, obj: Object) -> list[FieldError]:
        return validate_claim_spec(obj["spec"], "spec")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        is_bound = get_path(old, "status.phase") == "Bound"
        errors = self.validate(new)
        if _fixed_part(new["spec"], is_bound) != _fixed_part(old["spec"], is_bound):
            because = (
                "spec is immutable after creation except resources.requests and "
                "volumeAttributesClassName for bound claims"
            )
            errors.append(forbidden("spec", because))
        mode = new["spec"]["volumeMode"]
        if mode != old["spec"]["volumeMode"]:
            errors.append(value_invalid("volumeMode", mode, "field is immutable"))
        return errors


def validate_claim_spec(spec: Object, path: str) -> list[FieldError]:
    """Validate the spec of a claim, or of a template for claims."""
    errors: list[FieldError] = []
    if not spec.get("accessModes"):
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    errors += [
        not_supported(f"{path}.accessModes", mode, _ACCESS_MODES)
        for mode in spec.get("accessModes") or ()
        if mode not in _ACCESS_MODES
    ]
    modes = set(spec.get("accessModes") or ())
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        because = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(f"{path}.accessModes", because))
    if not get_path(spec, "resources.requests.storage"):
        errors.append(required(f"{path}.resources[storage]"))
    errors += [
        value_invalid(f"{path}.{field}", spec[field], text)
        for field in ("storageClassName", "volumeAttributesClassName")
        if spec.get(field)
        for text in dns_subdomain(spec[field])
    ]
    mode = spec.get("volumeMode", "Filesystem")
    if mode not in _VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, _VOLUME_MODES))
    return errors


def _fixed_part(spec: Object, is_bound: bool) -> dict[str, Any]:
    """The part of a claim that no update changes; the size of a bound one may change."""
    changeable = ("volumeAttributesClassName", "volumeName", *(("resources",) if is_bound else ()))
    return {name: value for name, value in spec.items() if name not in changeable}
