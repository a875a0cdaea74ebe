"""The part of a stored object that histories of real clusters hold."""

from __future__ import annotations

from typing import Any

from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION
from vocabulary.objects import Object, get_path, meta


def recorded(obj: Object) -> dict[str, Any]:
    """The object without its field managers, which double its size, and a definition of a kind
    without its schemas, which are larger than all else in a history. No claim reads them."""
    metadata = {key: value for key, value in meta(obj).items() if key != "managedFields"}
    found = {**obj, "metadata": metadata}
    versions = get_path(obj, "spec.versions")
    if obj.get("kind") == CUSTOM_RESOURCE_DEFINITION.kind and versions:
        told = [{key: v for key, v in each.items() if key != "schema"} for each in versions]
        found["spec"] = {**obj["spec"], "versions": told}
    return found
