"""The OpenAPI documents that kubectl needs: to leave the validation of patches to the server, and
for `kubectl explain`.

Schemas of built-in kinds come from the table of their types, which has no descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from clusters.simulated.serve.discovery import KUBERNETES_VERSION, group_versions
from clusters.simulated.strategy import Strategy
from vocabulary.messages import entries_of, fields_of, tables

_METADATA: Final = "meta/v1.ObjectMeta"
_SCALARS: Final[Mapping[str, Any]] = {
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "duration": {"type": "string"},
    "float64": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "microtime": {"type": "string", "format": "date-time"},
    "string": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
}
_MACHINERY: Final = "io.k8s.apimachinery.pkg"
_NAMED: Final = {
    "intorstring": f"{_MACHINERY}.util.intstr.IntOrString",
    "quantity": f"{_MACHINERY}.api.resource.Quantity",
}
"""Types of two forms, which messages refer to by name."""


def index(strategies: Mapping[str, Strategy]) -> dict[str, Any]:
    """`/openapi/v3`: the path of each group and version's document."""
    paths = {}
    for group, version in group_versions(strategies):
        path = f"apis/{group}/{version}" if group else f"api/{version}"
        paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}"}
    return {"paths": paths}


def document(path: str, strategies: Mapping[str, Strategy]) -> dict[str, Any] | None:
    """The document of `api/v1` or `apis/<group>/<version>`; None if it is not served."""
    parts = path.split("/")
    group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[-1])
    paths = {}
    schemas = dict(_messages_below(_METADATA))
    schemas[_NAMED["intorstring"]] = {"oneOf": [{"type": "integer"}, {"type": "string"}]}
    schemas[_NAMED["quantity"]] = {"oneOf": [{"type": "string"}, {"type": "number"}]}
    for strategy in strategies.values():
        kind = strategy.kind
        if kind.group != group or version not in strategy.versions:
            continue
        named = {"group": group, "version": version, "kind": kind.kind}
        collection = f"/{path}/" + ("namespaces/{namespace}/" if kind.namespaced else "")
        reverse = ".".join(reversed(group.split("."))) or "io.k8s.api.core"
        message = tables().kinds.get((kind.api_version, kind.kind))
        if message is None:
            name, schema = f"{reverse}.{version}.{kind.kind}", _published(strategy, version)
        else:
            schemas |= _messages_below(message)
            name, schema = _name(message), _schema(message)
        schemas[name] = {**schema, "x-kubernetes-group-version-kind": [named]}
        paths[f"{collection}{kind.plural}/{{name}}"] = {
            "patch": {
                "x-kubernetes-action": "patch",
                "x-kubernetes-group-version-kind": named,
                "parameters": [
                    {"name": name, "in": "query", "schema": {"type": "string"}}
                    for name in ("dryRun", "fieldManager", "fieldValidation", "force")
                ],
                "responses": {"200": {"description": "OK"}},
            }
        }
    if not paths:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Assay", "version": KUBERNETES_VERSION},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _published(strategy: Strategy, version: str) -> dict[str, Any]:
    """The schema of a kind's objects, including the fields common to all objects."""
    schema = strategy.published.get(version, {})
    of_every_object = {
        "apiVersion": {"type": "string", "description": "The group and version of this form."},
        "kind": {"type": "string", "description": "What the object is."},
        "metadata": {
            **_type(_METADATA),
            "description": "Name, namespace, labels, owners, and so on.",
        },
    }
    properties = {**(schema.get("properties") or {}), **of_every_object}
    return {"type": "object", **schema, "properties": properties}


def _messages_below(message: str) -> Mapping[str, Any]:
    """The schemas of a message and of all that it refers to, by name."""
    found: dict[str, Any] = {}
    left = [message]
    while left:
        each = left.pop()
        if _name(each) not in found:
            found[_name(each)] = _schema(each)
            left += _referred_to(each)
    return found


def _referred_to(message: str) -> Iterator[str]:
    for field in fields_of(message):
        type_ = field.type
        while entries_of(type_):
            type_ = entries_of(type_)
        if type_ in tables().messages:
            yield type_


def _schema(message: str) -> dict[str, Any]:
    fields = fields_of(message)
    schema = {"type": "object", "properties": {each.name: _type(each.type) for each in fields}}
    required = [each.name for each in fields if not (each.omits_empty or each.omits_zero)]
    return {**schema, "required": required} if required else schema


def _type(type_: str) -> dict[str, Any]:
    entries = entries_of(type_)
    if type_.startswith("map:"):
        return {"type": "object", "additionalProperties": _type(entries)}
    if entries:
        return {"type": "array", "items": _type(entries)}
    name = _name(type_) if type_ in tables().messages else _NAMED.get(type_)
    if name is not None:
        return {"allOf": [{"$ref": f"#/components/schemas/{name}"}]}
    return {**_SCALARS.get(type_, {"type": "object"})}


def _name(message: str) -> str:
    """The name of a message's schema."""
    package, _, rest = message.partition("/")
    room = f"{_MACHINERY}.apis" if package == "meta" else "io.k8s.api"
    return f"{room}.{package}.{rest}"
