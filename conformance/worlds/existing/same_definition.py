"""Whether a definition of a custom resource that is there already serves a run as well as ours.

What a definition has no field for, the API server drops without a word. An operator whose
timers stand in such a field would seem to do everything wrong. On a cluster of somebody else's
this is told by looking: to have the API server compare would take the right to write
definitions. So what the API server fills in, and what changes nothing that is stored or
refused, is left out on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from vocabulary.objects import Object

_BY_VERSION: Final = ("name", "served", "storage", "subresources")
_WORDS: Final = ("description", "title", "example", "externalDocs")
"""What a schema tells people. A property may have such a name, and is none of these."""


def is_same_definition(ours: Object, found: Object) -> bool:
    """Whether both serve and store the same versions of the same kind, by the same schemas."""
    return _meaning(ours) == _meaning(found)


def _meaning(crd: Object) -> dict[str, Any]:
    spec = crd["spec"]
    return {
        "group": spec["group"],
        "scope": spec["scope"],
        "names": (spec["names"]["plural"], spec["names"]["kind"]),
        "preserveUnknownFields": bool(spec.get("preserveUnknownFields")),
        "versions": {version["name"]: _version(version) for version in spec["versions"]},
    }


def _version(version: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: version.get(name) for name in _BY_VERSION}
    return {**told, "schema": _schema(version.get("schema", {}).get("openAPIV3Schema", {}))}


def _schema(schema: Any) -> Any:
    """A schema without its words, and without keywords that say what holds without them."""
    if not isinstance(schema, Mapping):
        return schema
    return {
        keyword: _of_keyword(keyword, value)
        for keyword, value in schema.items()
        if keyword not in _WORDS and not _says_nothing(keyword, value)
    }


def _of_keyword(keyword: str, value: Any) -> Any:
    if keyword == "properties":
        return {name: _schema(inner) for name, inner in value.items()}
    if keyword in ("allOf", "anyOf", "oneOf"):
        return [_schema(inner) for inner in value]
    if keyword in ("items", "not", "additionalProperties"):
        return _schema(value)
    if keyword == "required":
        return sorted(value)
    return value


def _says_nothing(keyword: str, value: Any) -> bool:
    if keyword in ("default", "additionalProperties"):
        return False
    return value is False or value in (None, "", []) or (keyword == "properties" and not value)
