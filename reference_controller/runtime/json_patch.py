"""The JSON Patch (RFC 6902) that turns one object into another, for mutating webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vocabulary.objects import Object


def diff(old: Object, new: Object) -> list[dict[str, Any]]:
    """Operations that make `new` out of `old`; a list that differs is replaced as a whole."""
    return list(_diff(old, new, ""))


def _diff(old: Object, new: Object, path: str) -> Iterator[dict[str, Any]]:
    for key, value in old.items():
        if key not in new:
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        elif isinstance(value, Mapping) and isinstance(new[key], Mapping):
            yield from _diff(value, new[key], f"{path}/{_escaped(key)}")
        elif value != new[key] or type(value) is not type(new[key]):
            yield {"op": "replace", "path": f"{path}/{_escaped(key)}", "value": new[key]}
    for key, value in new.items():
        if key not in old:
            yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}


def _escaped(key: str) -> str:
    """RFC 6901: label and annotation keys contain slashes."""
    return key.replace("~", "~0").replace("/", "~1")
