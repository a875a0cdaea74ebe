"""Checks before a write is processed: does it refer to this object?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clusters.simulated.builtin.conforming import misfit
from clusters.simulated.builtin.decoding import conversion_error, converted
from clusters.simulated.builtin.known_fields import drop_unknown
from clusters.simulated.builtin.wire_form import drop_optional_zeros
from clusters.simulated.field_errors import invalid, value_invalid
from clusters.simulated.patches.go_text import go_text
from clusters.simulated.strategy import Strategy
from vocabulary.canonical import encode
from vocabulary.errors import ApiError, conflict
from vocabulary.kinds import Kind
from vocabulary.messages import tables
from vocabulary.objects import Object
from vocabulary.requests import Patch, Request, Update

_MODIFIED: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def other_namespace() -> ApiError:
    """The 400 for an object whose namespace is not that of the URL."""
    return ApiError(
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    )


def check_type(
    obj: dict[str, Any],
    kind: Kind,
    strategy: Strategy,
    known: Mapping[str, Kind],
    request: Request,
    old: Object | None = None,
) -> None:
    """The kind in the body has to be the kind in the URL.

    Fields of built-in kinds have to be of their types; those that the API lacks, and the zeros that
    a patch gives optional ones, are dropped from an object whose top level is the caller's own.
    """
    if strategy.is_built_in:
        _complete_type(obj, kind, request)
        because = misfit(obj, kind, old)
        if because and isinstance(request, Patch) and request.patch_type == "strategic":
            message = tables().kinds[kind.api_version, kind.kind]
            because = conversion_error(obj, message)
            if not because:
                obj |= converted(obj, message)
                drop_unknown(obj, kind, old)
        because = because or strategy.unconverted(obj)
        if because:
            raise unreadable(obj, kind.version, kind.kind, kind, because, request)
        if isinstance(request, Patch):
            drop_optional_zeros(obj, kind, old)
    if obj.get("apiVersion") == kind.api_version and obj.get("kind") == kind.kind:
        return
    api_version = obj.setdefault("apiVersion", kind.api_version)
    if not strategy.is_built_in and not obj.get("kind"):
        raise ApiError(
            400,
            "BadRequest",
            f"the object provided is unrecognized (must be of type {kind.kind}): Object "
            "'Kind' is missing",
        )
    named = obj.setdefault("kind", kind.kind)
    if strategy.is_built_in and (api_version, named) != (kind.api_version, kind.kind):
        raise _unfit(obj, api_version, named, kind, known, request)
    if api_version != kind.api_version:
        raise ApiError(
            400,
            "BadRequest",
            f"the API version in the data ({api_version}) does not match the expected API "
            f"version ({kind.api_version})",
        )


def _complete_type(obj: dict[str, Any], kind: Kind, request: Request) -> None:
    """Fill in an empty kind and version. A strategic merge patch changes a typed object, of which
    neither is a part; what other patches leave without a version is read as no object at all."""
    is_strategic = isinstance(request, Patch) and request.patch_type == "strategic"
    if isinstance(request, Patch) and not is_strategic and obj.get("apiVersion") in (None, ""):
        raise unnamed(request.name)
    for field, value in (("apiVersion", kind.api_version), ("kind", kind.kind)):
        given = obj.get(field)
        if given == "" or (is_strategic and isinstance(given, str)):
            obj[field] = value


def unnamed(name: str) -> ApiError:
    """The 400 for an object without a name."""
    return ApiError(
        400,
        "BadRequest",
        f"the name of the object ({name} based on URL) was undeterminable: name must be provided",
    )


def check_preconditions(
    request: Update | Patch, strategy: Strategy, old: Object, given: Object
) -> None:
    """The uid and resourceVersion that the writer gives have to be the stored ones."""
    kind, name = request.kind, request.name
    if isinstance(request, Patch) and not given.get("name"):
        raise unnamed(name)
    uid = given.get("uid")
    if uid and uid != old["uid"] and isinstance(request, Update):
        raise uid_conflict(request, strategy, uid, old["uid"])
    is_elsewhere = given.get("namespace", request.namespace) != request.namespace
    if is_elsewhere and request.kind.namespaced:
        raise other_namespace()
    if given.get("name") not in (None, "", name):
        raise ApiError(
            400,
            "BadRequest",
            f"the name of the object ({given['name']}) does not match the name on the URL ({name})",
        )
    claimed = given.get("resourceVersion")
    if claimed not in (None, "", "0"):
        if not str(claimed).isdecimal():
            because = f'strconv.ParseUint: parsing "{claimed}": invalid syntax'
            raise ApiError(500, "", because)
        if claimed != old["resourceVersion"]:
            raise conflict(kind, name, _MODIFIED)
    elif not strategy.unconditional_update:
        error = value_invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(f"{kind.plural}.{kind.group}".rstrip("."), name, [error])


def uid_conflict(request: Update | Patch, strategy: Strategy, given: str, stored: str) -> ApiError:
    """The 409 for a writer that means an object of another uid."""
    return conflict(
        request.kind,
        request.name,
        f"StorageError: invalid object, Code: 4, Key: {_storage_key(request, strategy)}, "
        "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: "
        f"{given}, UID in object meta: {stored}",
    )


def _storage_key(request: Update | Patch, strategy: Strategy) -> str:
    """Where a real server keeps the object, as its messages betray."""
    group = f"{request.kind.group}/" if not strategy.is_built_in else ""
    namespace = f"{request.namespace}/" if request.namespace else ""
    return f"/registry/{group}{request.kind.plural}/{namespace}{request.name}"


def _unfit(
    obj: Object,
    api_version: str,
    named: str,
    kind: Kind,
    known: Mapping[str, Kind],
    request: Request,
) -> ApiError:
    """The 400 for a body that is not of the built-in kind which the URL names."""
    version = api_version.rpartition("/")[2]
    if any(other.api_version == api_version and other.kind == named for other in known.values()):
        group = api_version.rpartition("/")[0] or "core"
        because = f"converting ({version}.{named}) to ({group}.{kind.kind}): unknown conversion"
    else:
        because = (
            f'no kind "{named}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    return unreadable(obj, version, named, kind, because, request)


def unreadable(
    obj: Object, version: str, named: str, kind: Kind, because: str, request: Request
) -> ApiError:
    """The 400 for a body that cannot be read; 422 if a patch has made the object so."""
    if isinstance(request, Patch):
        is_strategic = request.patch_type == "strategic"
        shown = go_text(request.body) if is_strategic else encode(obj).decode()
        error = value_invalid("patch", shown, because)
        return ApiError(
            422,
            "Invalid",
            f' "" is invalid: {error}',
            {"causes": [{"reason": error.type, "message": error.body, "field": error.field}]},
        )
    return ApiError(
        400,
        "BadRequest",
        f'{named} in version "{version}" cannot be handled as a {kind.kind}: {because}',
    )


def said_kind(kind: Kind, obj: Object) -> str:
    """An object that says it is of another kind is refused under that name."""
    said = str(obj.get("kind") or kind.kind)
    return f"{said}.{kind.group}" if kind.group else said
