"""Compare an existing CRD with ours: does it serve a run as well?

The API server silently drops fields that a CRD lacks. An operator whose timers are in such a field
would seem to do everything wrong. On an existing cluster
this is determined by reading: a comparison by the API server would require permission to write
CRDs. So values that the API server defaults, and those that affect neither storage nor
validation, are ignored on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from vocabulary.objects import Object

_BY_VERSION: Final = ("name", "served", "storage", "subresources")
_WORDS: Final = ("description", "title", "example", "externalDocs")
"""Documentation fields of a schema. A property may have such a name, and is none of these."""


def is_same_definition(ours: Object, found: Object) -> bool:
    """True if both serve and store the same versions of the same kind, by the same schemas."""
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
