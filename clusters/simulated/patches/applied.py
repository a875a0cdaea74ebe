"""The checks of an apply patch before anything is applied."""

from __future__ import annotations

from typing import Any

from clusters.simulated.builtin.mistyped import json_type
from clusters.simulated.field_errors import invalid, required
from clusters.simulated.patches.typed_patch import no_map, no_string, untyped
from vocabulary.errors import ApiError
from vocabulary.requests import Patch


def applied_object(request: Patch) -> dict[str, Any]:
    """The object that the patch describes; ApiError unless it is the one of the URL."""
    if not request.field_manager:
        error = required("fieldManager", "is required for apply patch")
        raise invalid("PatchOptions.meta.k8s.io", "", [error])
    body, kind = {} if request.body is None else request.body, request.kind
    if not isinstance(body, dict):
        raise _refused(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot "
            f"unmarshal {json_type(body)} into Go value of type map[string]interface {{}}"
        )
    group, _, version = str(body.get("apiVersion", "")).rpartition("/")
    named = str(body.get("kind", ""))
    if (group, version, named) != (kind.group, kind.version, kind.kind):
        raise _refused(f"invalid object type: {group}/{version}, Kind={named}")
    metadata = body.get("metadata")
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict):
        raise untyped(request, {}, [no_map(".metadata", metadata)])
    if metadata.get("managedFields") is not None:
        raise _refused("metadata.managedFields must be nil")
    name = metadata.get("name")
    if not isinstance(name, str | None):
        raise untyped(request, {}, [no_string(".metadata.name", name)])
    name = name or request.name
    if name != request.name:
        raise _refused(
            f"the name of the object ({name}) does not match the name on the URL ({request.name})"
        )
    return {**body, "metadata": {**metadata, "name": name}}


def _refused(because: str) -> ApiError:
    return ApiError(400, "BadRequest", because)
