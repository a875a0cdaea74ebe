"""The versions v1beta1, which is stored, and v1beta2: conversion of objects, and of definitions.

One table of differences serves both. A v1beta1 Workload with the name of a priority class but
without its source has no class in v1beta2, as in the released controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from reference_controller.kueue.names import CLUSTER_QUEUE, GROUP, PRIORITY_CLASS, VERSION, WORKLOAD
from reference_controller.runtime.conversion_review import ConversionError
from vocabulary import kinds
from vocabulary.objects import Object, get_path, with_path, without_path

NEWER: Final = "v1beta2"


class _Field(NamedTuple):
    """A field that has another name in v1beta2."""

    parent: str
    name: str
    newer: str


_FIELDS: Final = {
    "ClusterQueue": _Field("spec", "cohort", "cohortName"),
    "LocalQueue": _Field("status", "flavorUsage", "flavorsUsage"),
}
_STOPS: Final = "MayStopSearch"
_STOPPING: Final = {
    "spec.flavorFungibility.whenCanBorrow": "Borrow",
    "spec.flavorFungibility.whenCanPreempt": "Preempt",
}
"""Fields of a ClusterQueue, and the value that v1beta2 calls MayStopSearch; v1beta1 has both."""
_SOURCES: Final = {
    f"{kind.group}/{kind.kind.lower()}": {"group": kind.group, "kind": kind.kind}
    for kind in (PRIORITY_CLASS, kinds.PRIORITY_CLASS)
}
"""The priorityClassSource of a Workload: what v1beta2 has of it in priorityClassRef."""


def converted(obj: Object, api_version: str) -> Object:
    """The object in another version; raises ConversionError."""
    group, _, version = api_version.partition("/")
    if group != GROUP or version not in (VERSION, NEWER):
        raise ConversionError(f"{api_version} is not served; there are {VERSION} and {NEWER}")
    if obj["apiVersion"] == api_version:
        return obj
    made: Object = {**obj, "apiVersion": api_version}
    if field := _FIELDS.get(obj["kind"]):
        made = _renamed(made, field.parent, *_names(field, version))
    if obj["kind"] == CLUSTER_QUEUE.kind and version == NEWER:
        for path, value in _STOPPING.items():
            if get_path(made, path) == value:
                made = with_path(made, path, _STOPS)
    if obj["kind"] == WORKLOAD.kind:
        made = _with_reference(made) if version == NEWER else _with_source(made)
    return made


def in_both_versions(definition: Object, conversion: Object) -> Object:
    """The definition of a kind, which has v1beta1 alone, with v1beta2 and a conversion."""
    spec = definition["spec"]
    (stored,) = spec["versions"]
    kind = spec["names"]["kind"]
    newer = {
        **stored,
        "name": NEWER,
        "storage": False,
        "schema": {"openAPIV3Schema": _schema(kind, stored["schema"]["openAPIV3Schema"])},
    }
    if field := _FIELDS.get(kind):
        shown = f".{field.parent}.{field.name}"
        newer["additionalPrinterColumns"] = [
            {**each, "jsonPath": f".{field.parent}.{field.newer}"}
            if each["jsonPath"] == shown
            else each
            for each in stored["additionalPrinterColumns"]
        ]
    return {**definition, "spec": {**spec, "conversion": conversion, "versions": [newer, stored]}}


def _schema(kind: str, schema: Object) -> Object:
    """The schema of v1beta2, from that of v1beta1."""
    if field := _FIELDS.get(kind):
        schema = _renamed(schema, f"{_at(field.parent)}.properties", field.name, field.newer)
        path = f"{_at(field.parent)}.x-kubernetes-validations"
        before, after = (f"self.{name}" for name in (field.name, field.newer))
        rules = [
            {**each, "rule": each["rule"].replace(before, after)}
            for each in get_path(schema, path) or ()
        ]
        schema = with_path(schema, path, rules) if rules else schema
    if kind == CLUSTER_QUEUE.kind:
        for path, value in _STOPPING.items():
            its = get_path(schema, _at(path))
            values = [each for each in its["enum"] if each != value]
            default = _STOPS if its["default"] == value else its["default"]
            schema = with_path(schema, _at(path), {**its, "enum": values, "default": default})
    if kind == WORKLOAD.kind:
        for name in ("priorityClassName", "priorityClassSource"):
            schema = without_path(schema, _at(f"spec.{name}"))
        schema = with_path(schema, _at("spec.priorityClassRef"), _REFERENCE)
    return schema


def _names(field: _Field, version: str) -> tuple[str, str]:
    """The name that a field has, and the one that it gets."""
    return (field.name, field.newer) if version == NEWER else (field.newer, field.name)


def _renamed(obj: Object, parent: str, name: str, other: str) -> Object:
    """A copy in which a field of the mapping at a path has another name, at the same place."""
    found = get_path(obj, parent)
    if not isinstance(found, Mapping) or name not in found:
        return obj
    renamed = {other if key == name else key: value for key, value in found.items()}
    return with_path(obj, parent, renamed)


def _with_reference(workload: Object) -> Object:
    spec: Object = workload.get("spec") or {}
    made: Object = workload
    for name in ("priorityClassName", "priorityClassSource"):
        made = without_path(made, f"spec.{name}")
    source = _SOURCES.get(spec.get("priorityClassSource", ""))
    if source is None:
        return made
    reference = {**source, "name": spec.get("priorityClassName", "")}
    return with_path(made, "spec.priorityClassRef", reference)


def _with_source(workload: Object) -> Object:
    reference = get_path(workload, "spec.priorityClassRef")
    if reference is None:
        return workload
    group_kind = {key: reference.get(key) for key in ("group", "kind")}
    source = next((name for name, its in _SOURCES.items() if its == group_kind), None)
    if source is None:
        known = " and ".join(f"{its['kind']} of {its['group']}" for its in _SOURCES.values())
        raise ConversionError(
            f"spec.priorityClassRef: {group_kind['kind']} of {group_kind['group']} is no kind of "
            f"priority classes; there are {known}"
        )
    made: Object = without_path(workload, "spec.priorityClassRef")
    made = with_path(made, "spec.priorityClassName", reference.get("name", ""))
    return with_path(made, "spec.priorityClassSource", source)


def _at(path: str) -> str:
    """The path of a field's schema."""
    return "properties." + path.replace(".", ".properties.")


_REFERENCE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "group": {"type": "string", "enum": [each["group"] for each in _SOURCES.values()]},
        "kind": {"type": "string", "enum": [each["kind"] for each in _SOURCES.values()]},
        "name": {"type": "string", "minLength": 1, "maxLength": 253},
    },
    "required": ["group", "kind", "name"],
    "x-kubernetes-validations": [
        {
            "rule": f"(self.group == '{GROUP}') == (self.kind == '{PRIORITY_CLASS.kind}')",
            "message": "group and kind must belong together",
        }
    ],
}
