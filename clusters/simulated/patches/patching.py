"""From a patch request to the object that it asks for, and to the errors a server answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusters.simulated.builtin.decoding import conversion_error, decoding_error
from clusters.simulated.builtin.mistyped import json_type
from clusters.simulated.patches.json_patch import (
    JsonPatchError,
    TooManyOperationsError,
    apply_json_patch,
)
from clusters.simulated.patches.merge_patch import apply_merge_patch
from clusters.simulated.patches.strategic_merge_patch import (
    RetainKeysError,
    StrategicPatchError,
    apply_strategic_merge_patch,
)
from clusters.simulated.request_checks import unreadable
from vocabulary.errors import ApiError
from vocabulary.messages import tables
from vocabulary.objects import Object
from vocabulary.requests import Patch

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
"""The content type of each patch, in the order in which a server lists what it accepts."""


def patched(old: Object, request: Patch, *, strategic: bool) -> dict[str, Any]:
    """The object with the patch laid over it.

    `strategic` says whether the kind takes strategic merge patches; custom resources do
    not. Raises 415 for a patch type that is not served, 422 for a patch that does not fit.
    """
    if request.patch_type == "merge":
        if not isinstance(request.body, dict):
            raise _undecodable(request.body, "map[string]interface {}")
        result = apply_merge_patch(old, request.body)
    elif request.patch_type == "json":
        result = _json(old, request.body)
    elif request.patch_type == "strategic" and strategic:
        result = _strategic(old, request.body)
    else:
        raise unsupported_media_type(strategic=strategic)
    whole: dict[str, Any] = result if isinstance(result, dict) else {}
    metadata = whole.get("metadata")
    if strategic and isinstance(metadata, list | str | int | float):
        raise _without_metadata(whole, request)
    if not isinstance(metadata, dict):
        raise ApiError(400, "BadRequest", "the patch leaves no object with metadata")
    return whole


def _without_metadata(result: dict[str, Any], request: Patch) -> ApiError:
    kind = request.kind
    message = tables().kinds[kind.api_version, kind.kind]
    error_of = conversion_error if request.patch_type == "strategic" else decoding_error
    return unreadable(result, kind.version, kind.kind, kind, error_of(result, message), request)


def unsupported_media_type(*, strategic: bool) -> ApiError:
    """The 415 that lists what the kind takes."""
    accepted = [
        media_type for name, media_type in MEDIA_TYPES.items() if strategic or name != "strategic"
    ]
    return ApiError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted),
    )


def _json(old: Object, body: Any) -> Any:
    if body is None:
        return old
    if not isinstance(body, list | tuple):
        raise _undecodable(body, "[]handlers.jsonPatchOp")
    for operation in body:
        if not isinstance(operation, Mapping | None):
            raise _undecodable(operation, "handlers.jsonPatchOp")
        for field in ("op", "path", "from"):
            value = (operation or {}).get(field)
            if not isinstance(value, str | None):
                found = f"Go struct field jsonPatchOp.{field} of type string"
                because = f"json: cannot unmarshal {json_type(value)} into {found}"
                raise ApiError(400, "BadRequest", f"error decoding patch: {because}")
    try:
        result = apply_json_patch(old, [operation or {} for operation in body])
        if not isinstance(result, Mapping):
            raise JsonPatchError("the patch leaves no object")
        return result
    except TooManyOperationsError as error:
        because = f"Request entity too large: {error}"
        raise ApiError(413, "RequestEntityTooLarge", because) from None
    except JsonPatchError:
        # The server keeps what was wrong to itself.
        raise ApiError(
            422, "Invalid", "the server rejected our request due to an error in our request", {}
        ) from None


def _strategic(old: Object, body: Any) -> Any:
    if body is None:
        return old
    if not isinstance(body, Mapping):
        raise _undecodable(body, "map[string]interface {}")
    try:
        return apply_strategic_merge_patch(old, body)
    except RetainKeysError:
        raise ApiError(400, "BadRequest", "invalid patch format of retainKeys") from None
    except StrategicPatchError as error:
        raise ApiError(500, "", str(error)) from None


def _undecodable(body: Any, wanted: str) -> ApiError:
    """The 400 for a patch document of the wrong shape."""
    return ApiError(
        400,
        "BadRequest",
        f"error decoding patch: json: cannot unmarshal {json_type(body)} into Go value of type "
        f"{wanted}",
    )
