"""Translate HTTP requests to `vocabulary.requests`, and results to response bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from clusters.simulated.api_server import Outcome, SingleWrite
from clusters.simulated.builtin.conforming import undecoded_of
from clusters.simulated.builtin.mistyped import json_type
from clusters.simulated.builtin.wire_form import without_optional_zeros
from clusters.simulated.deletion import require_policy
from clusters.simulated.field_errors import (
    forbidden,
    invalid,
    not_supported,
    too_long,
    value_invalid,
)
from clusters.simulated.list_options import check_list_options, check_watch_options
from clusters.simulated.patches.patching import MEDIA_TYPES, unsupported_media_type
from clusters.simulated.request_checks import other_namespace, unnamed
from clusters.simulated.request_timeout import REQUEST_TIMEOUT_US
from clusters.simulated.serve.protobuf import decoding as protobuf
from clusters.simulated.serve.routing import Route
from clusters.simulated.strategy import Strategy
from clusters.simulated.watches import WatchRequest
from vocabulary import requests as rq
from vocabulary.clock import Micros
from vocabulary.durations import parse_duration
from vocabulary.errors import ApiError
from vocabulary.messages import tables
from vocabulary.objects import Object, meta, name_of, uid_of
from vocabulary.safe_yaml import YamlError, load_yaml

_PATCH_TYPES: Final = {media_type: name for name, media_type in MEDIA_TYPES.items()}
_OPTIONS: Final = {"POST": "Create", "PUT": "Update", "PATCH": "Patch"}
_BODIES: Final = {
    "binding": ("v1", "Binding"),
    "eviction": ("policy/v1", "Eviction"),
    "scale": ("autoscaling/v1", "Scale"),
    "token": ("authentication.k8s.io/v1", "TokenRequest"),
}
"""The kinds of bodies of subresources that are not the object's own."""
_FORMS: Final = ("application/json", "yaml", "protobuf", "cbor")
"""Parts of the content types of objects; CBOR is refused when it is decoded."""
_NO_JSON: Final = "couldn't get version/kind; json parse error: unexpected end of JSON input"
_INTEGER: Final = re.compile("[+-]?[0-9]+", re.ASCII)
_MAX_DIGITS: Final = 100
_MAX_MANAGER_BYTES: Final = 128
MAX_BODY_BYTES: Final = 3 * 1024 * 1024
"""The limit of a real server."""
_TRUE: Final = frozenset({"true", "1", "t", "True", ""})


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request, split into its parts."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    warnings: list[str] = field(default_factory=list)
    """Warnings for the response."""
    of_events_group: bool = False
    """True for a request of `events.k8s.io/v1`, rewritten to one of `v1`."""

    def flag(self, name: str) -> bool:
        """True if a boolean query parameter is present and not false."""
        return name in self.query and self.query[name] in _TRUE

    def integer(self, name: str) -> int:
        """An integer query parameter; 0 if absent, 400 if malformed."""
        if name not in self.query:
            return 0
        text = self.query[name]
        if not _INTEGER.fullmatch(text):
            because = "invalid syntax"
        elif -(2**63) <= int(text[:_MAX_DIGITS]) < 2**63:
            return int(text)
        else:
            because = "value out of range"
        raise ApiError(400, "BadRequest", f'strconv.ParseInt: parsing "{text}": {because}')

    def content_type(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0].strip()


def require_small(size_bytes: int) -> None:
    """413 for a body that is too large."""
    if size_bytes > MAX_BODY_BYTES:
        because = f"Request entity too large: limit is {MAX_BODY_BYTES}"
        raise ApiError(413, "RequestEntityTooLarge", because)


def decode(call: Call) -> Any:
    """Decode the JSON body; 400 if it is malformed. See `in_json` for other formats."""
    if not call.body:
        return {}
    require_small(len(call.body))
    if "cbor" in call.content_type():
        raise _unknown_format()
    try:
        return msgspec.json.decode(call.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unrecognized(error) from None


def in_json(call: Call) -> Call:
    """Convert a body in YAML or protobuf, by its content type, to JSON.

    Call it outside of the lock that all requests share, since parsing is slow. 400 for a body that
    is malformed or has aliases: a few of these can expand to gigabytes. 415 for a kind that has no
    form in protobuf, such as custom resources.
    """
    if not call.body:
        return call
    if len(call.body) > MAX_BODY_BYTES:
        return call  # refused when it is decoded
    if "protobuf" in call.content_type():
        return _from_protobuf(call)
    return _from_yaml(call) if "yaml" in call.content_type() else call


def _from_yaml(call: Call) -> Call:
    try:
        msgspec.json.decode(call.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            body = load_yaml(call.body, "body", max_bytes=len(call.body))
        except YamlError as error:
            raise _unrecognized(error) from None
        return replace(call, body=msgspec.json.encode(body))
    return call


def _from_protobuf(call: Call) -> Call:
    try:
        body = msgspec.json.encode(protobuf.decoded(call.body))
    except protobuf.UnknownKindError:
        raise _unknown_format() from None
    except protobuf.UndecodableError as error:
        raise _unrecognized(error) from None
    return replace(call, body=body)


def _unknown_format() -> ApiError:
    return ApiError(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf (of built-in "
        "kinds)",
    )


def _unrecognized(error: Exception) -> ApiError:
    return ApiError(400, "BadRequest", f"the object provided is unrecognized: {error}")


def _object(call: Call, expected: str) -> dict[str, Any]:
    sort = call.content_type()
    if sort and not any(form in sort for form in _FORMS):
        raise _unknown_format()
    if not call.body and "yaml" not in sort:
        because = "empty data" if "protobuf" in sort else _NO_JSON
        raise ApiError(
            400,
            "BadRequest",
            f"the object provided is unrecognized (must be of type {expected}): {because} "
            "(<empty>)",
        )
    body = decode(call)
    if body is None:
        return {}
    if not isinstance(body, dict):
        # A real server's message, down to the bytes in hex.
        raise ApiError(
            400,
            "BadRequest",
            f"the object provided is unrecognized (must be of type {expected}): "
            "couldn't get version/kind; json parse error: json: cannot unmarshal "
            f"{'array' if isinstance(body, list) else 'string'} into Go value of type struct {{ "
            'APIVersion string "json:\\"apiVersion,omitempty\\""; '
            f'Kind string "json:\\"kind,omitempty\\"" }} ({call.body.hex()})',
        )
    return body


def _require_type(obj: Mapping[str, Any], call: Call, route: Route) -> None:
    """400 for an object whose type is no text."""
    for field_name in ("kind", "apiVersion"):
        value = obj.get(field_name)
        if value is not None and not isinstance(value, str):
            raise ApiError(
                400,
                "BadRequest",
                f"the object provided is unrecognized (must be of type {route.kind.kind}): "
                "couldn't get version/kind; json parse error: json: cannot unmarshal "
                f"{json_type(value)} into Go struct field .{field_name} of type string "
                f"({call.body.decode(errors='replace')})",
            )


def _written(call: Call, route: Route) -> dict[str, Any]:
    """The object of a POST or PUT; its metadata, which names it, has to be an object."""
    obj = _object(call, route.kind.kind)
    _require_type(obj, call, route)
    metadata = obj.get("metadata")
    because = ""
    if metadata is not None and not isinstance(metadata, dict):
        because = f"{route.kind.kind}.metadata of type v1.ObjectMeta"
    elif metadata and not isinstance(metadata.get("name", ""), str | None):
        metadata, because = metadata["name"], "ObjectMeta.metadata.name of type string"
    if because:
        kind = route.kind
        raise ApiError(
            400,
            "BadRequest",
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
            f"json: cannot unmarshal {json_type(metadata)} into Go struct field {because}",
        )
    version, named = _BODIES.get(route.subresource, (route.kind.api_version, route.kind.kind))
    # Events by their other API are checked under its names.
    because = "" if call.of_events_group else undecoded_of(obj, version, named)
    if because:
        version = version.rpartition("/")[2]
        text = f'{named} in version "{version}" cannot be handled as a {named}: {because}'
        raise ApiError(400, "BadRequest", text)
    message = tables().kinds.get((version, named))
    return obj if message is None else dict(without_optional_zeros(obj, message))


def request_of(call: Call, route: Route, strategy: Strategy) -> rq.Request:
    """Translate any request but a watch."""
    if call.method == "GET" and route.name:
        return get_request(route)
    if call.method == "GET":
        return list_request(call, route)
    if call.method == "DELETE" and not route.name:
        return delete_collection_request(call, route)
    return write_request(call, route, strategy)


def timeout_us(call: Call) -> Micros:
    """How long a request may take; 400 for what is no duration."""
    text = call.query.get("timeout", "")
    if not text:
        return REQUEST_TIMEOUT_US
    try:
        asked_us = parse_duration(text)
    except ValueError:
        because = f'invalid timeout specified in the request URL - time: invalid duration "{text}"'
        raise ApiError(400, "BadRequest", because) from None
    return min(asked_us, REQUEST_TIMEOUT_US) if asked_us > 0 else REQUEST_TIMEOUT_US


def write_request(call: Call, route: Route, strategy: Strategy) -> SingleWrite:
    """Translate a POST, PUT, PATCH or DELETE of one object."""
    if call.method == "POST":
        return _create(call, route)
    if call.method == "PUT":
        return _update(call, route)
    if call.method == "PATCH":
        return _patch(call, route, strategy)
    return _delete(call, route)


def get_request(route: Route) -> rq.Get:
    """Translate a GET of one object, or of a subresource."""
    return rq.Get(route.kind, route.namespace, route.name, True, route.subresource)


def list_request(call: Call, route: Route) -> rq.List:
    """Translate a GET of a collection."""
    request = rq.List(
        route.kind,
        route.namespace,
        call.query.get("labelSelector", ""),
        call.query.get("fieldSelector", ""),
        live=True,
        limit=call.integer("limit"),
        continue_=call.query.get("continue", ""),
        resource_version=call.query.get("resourceVersion", ""),
        resource_version_match=call.query.get("resourceVersionMatch", ""),
    )
    call.integer("timeoutSeconds")
    if call.query.get("sendInitialEvents"):
        check_list_options(request, chooses_initial_events=True)
    return request


def watch_request(call: Call, route: Route) -> WatchRequest:
    """The watch that a GET request opens; one of a single object selects it by its name."""
    selector = call.query.get("fieldSelector", "")
    initial = call.query.get("sendInitialEvents", "")
    match = call.query.get("resourceVersionMatch", "")
    revision = call.query.get("resourceVersion", "")
    call.integer("limit")
    check_watch_options(bool(initial), match, call.query.get("continue", ""), revision)
    if route.name:
        selector = ",".join(filter(None, (selector, f"metadata.name={route.name}")))
    return WatchRequest(
        route.kind,
        route.namespace,
        call.query.get("labelSelector", ""),
        selector,
        revision,
        initial.lower() not in ("false", "0") if initial else None,
    )


def delete_collection_request(call: Call, route: Route) -> rq.DeleteCollection:
    """Translate a DELETE of a collection."""
    options = _delete_options(call)
    return rq.DeleteCollection(
        route.kind,
        route.namespace,
        call.query.get("labelSelector", ""),
        call.query.get("fieldSelector", ""),
        options["grace_period_seconds"],
        options["propagation_policy"],
    )


def _create(call: Call, route: Route) -> rq.Create:
    obj = _written(call, route)
    if route.subresource in ("binding", "eviction", "token"):
        metadata = {"name": route.name, **(obj.get("metadata") or {})}
        obj = {**obj, "metadata": metadata}
    return rq.Create(
        route.kind,
        obj,
        route.namespace,
        route.name or name_of(obj),
        route.subresource,
        dry_run=_dry_run(call),
        field_manager=_field_manager(call),
    )


def _update(call: Call, route: Route) -> rq.Update:
    dry_run, field_manager = _dry_run(call), _field_manager(call)
    obj = _written(call, route)
    metadata = dict(meta(obj))
    given = metadata.get("name") or ""
    if not given:
        raise unnamed(route.name)
    if given != route.name:
        raise ApiError(
            400,
            "BadRequest",
            f"the name of the object ({given}) does not match the name on the URL ({route.name})",
        )
    given = metadata.get("namespace", "")
    if given and route.namespace and given != route.namespace:
        raise other_namespace()
    metadata["name"] = route.name
    if route.namespace:
        metadata["namespace"] = route.namespace
    else:
        metadata.pop("namespace", None)
    return rq.Update(
        route.kind,
        {**obj, "metadata": metadata},
        route.subresource,
        dry_run=dry_run,
        field_manager=field_manager,
    )


def _patch(call: Call, route: Route, strategy: Strategy) -> rq.Patch:
    patch_type = _PATCH_TYPES.get(call.content_type())
    if patch_type is None and not strategy.is_built_in:
        raise unsupported_media_type(strategic=False)
    if patch_type is None:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if "force" in call.query and patch_type != "apply":
        error = forbidden("force", "may not be specified for non-apply patch")
        raise invalid("PatchOptions.meta.k8s.io", "", [error])
    if not call.body and patch_type != "apply":
        because = "error decoding patch: unexpected end of JSON input"
        raise ApiError(400, "BadRequest", because)
    body = decode(call)
    return rq.Patch(
        route.kind,
        route.namespace,
        route.name,
        body,
        patch_type,  # type: ignore[arg-type]  # the keys of MEDIA_TYPES are the patch types
        route.subresource,
        dry_run=_dry_run(call),
        field_manager=_field_manager(call, applies=patch_type == "apply"),
        force=call.flag("force"),
    )


def _delete(call: Call, route: Route) -> rq.Delete:
    return rq.Delete(route.kind, route.namespace, route.name, **_delete_options(call))


def _delete_options(call: Call) -> dict[str, Any]:
    """Options from the body if there is one, else from the query, as in a real server."""
    options: dict[str, Any] = _object(call, "DeleteOptions") if call.body else dict(call.query)
    if call.body:
        because = undecoded_of(options, "v1", "DeleteOptions")
        named, version = options.get("kind") or "DeleteOptions", options.get("apiVersion")
        if named != "DeleteOptions":
            because = f'no kind "{named}" is registered for version "{version}" in scheme '
            because += '"pkg/runtime/scheme.go:111"'
        if because:
            raise ApiError(400, "BadRequest", because)
    grace = options.get("gracePeriodSeconds")
    policy = options.get("propagationPolicy")
    orphan = options.get("orphanDependents")
    if policy is None and orphan is not None:
        policy = "Orphan" if str(orphan).lower() == "true" else "Background"
    preconditions = options.get("preconditions") or {}
    dry_run = options.get("dryRun")
    if isinstance(dry_run, str):
        dry_run = [dry_run]
    if orphan is not None and options.get("propagationPolicy") is not None:
        because = "orphanDependents and deletionPropagation cannot be both set"
        error = value_invalid("propagationPolicy", policy, because)
        raise invalid("DeleteOptions.meta.k8s.io", "", [error])
    if dry_run and dry_run != ["All"]:
        error = not_supported("dryRun", dry_run, ("All",))
        raise invalid("DeleteOptions.meta.k8s.io", "", [error])
    require_policy(policy)
    return {
        "grace_period_seconds": None if grace is None else _seconds(grace),
        "propagation_policy": policy,
        "uid": preconditions.get("uid"),
        "resource_version": preconditions.get("resourceVersion"),
        "dry_run": bool(dry_run),
    }


def _seconds(grace: Any) -> int:
    try:
        seconds = int(grace)
    except (TypeError, ValueError, OverflowError):
        seconds = None
    if seconds is None or not -(2**63) <= seconds < 2**63:
        because = f"gracePeriodSeconds must be an integer of 64 bits, not {str(grace)[:40]!r}"
        raise ApiError(400, "BadRequest", because)
    return seconds


def cascades(call: Call) -> bool:
    """True if a deletion requests cascading by the old option, `orphanDependents: false`.

    The response is then 202 for as long as the object exists.
    """
    return (
        call.method == "DELETE"
        and bool(call.body)
        and decode(call).get("orphanDependents") is False
    )


def _dry_run(call: Call) -> bool:
    value = call.query.get("dryRun")
    if value not in (None, "All"):
        options = _OPTIONS.get(call.method, "Delete")
        error = not_supported("dryRun", [value], ("All",))
        raise invalid(f"{options}Options.meta.k8s.io", "", [error])
    return value == "All"


def _field_manager(call: Call, *, applies: bool = False) -> str:
    """The name under which a write's fields are managed: as given, or from the user agent."""
    given = call.query.get("fieldManager", "")
    errors = []
    if len(given.encode()) > _MAX_MANAGER_BYTES:
        errors.append(too_long("fieldManager", _MAX_MANAGER_BYTES))
    errors += [
        value_invalid(
            "fieldManager",
            given,
            f"invalid character U+{ord(character):04X} (at position {position})",
        )
        for position, character in enumerate(given)
        if not character.isprintable()
    ]
    if errors:
        raise invalid(f"{_OPTIONS[call.method]}Options.meta.k8s.io", "", errors)
    if given or applies:
        return given
    agent = call.headers.get("User-Agent", "").partition("/")[0]
    return "".join(filter(str.isprintable, agent))[:_MAX_MANAGER_BYTES]


def answer_write(request: SingleWrite, outcome: Outcome, strategy: Strategy) -> tuple[int, Object]:
    """Return status code and body for an executed write."""
    change, answer = outcome
    if isinstance(request, rq.Create) or (change is not None and change.event == "ADDED"):
        return 201, answer
    may_create = request.dry_run and not isinstance(request, rq.Delete)
    if may_create and "resourceVersion" not in meta(answer):
        return 201, answer  # an object that would be new has no version
    if isinstance(request, rq.Delete) and not strategy.returns_deleted:
        removed = change is not None and change.event == "DELETED"
        if removed or (request.dry_run and "deletionTimestamp" not in meta(answer)):
            return 200, _deleted(request, answer)
    return 200, answer


def _deleted(request: rq.Delete, obj: Object) -> Object:
    details: dict[str, Any] = {"name": request.name}
    if request.kind.group:
        details["group"] = request.kind.group
    details |= {"kind": request.kind.plural, "uid": uid_of(obj)}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def list_body(route: Route, listed: rq.ObjectList, *, typed: bool) -> dict[str, Any]:
    """Return a list as JSON; items of `typed` lists (built-in kinds) do not repeat the kind."""
    items: list[Object] = list(listed.items)
    if typed:
        items = [
            {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
            for obj in items
        ]
    metadata = list_metadata(listed)
    if not typed:
        metadata.setdefault("continue", "")
    return {
        "kind": f"{route.kind.kind}List",
        "apiVersion": route.kind.api_version,
        "metadata": metadata,
        "items": items,
    }


def list_metadata(listed: rq.ObjectList) -> dict[str, Any]:
    """Return a list's metadata: its resourceVersion and the next page's token."""
    metadata: dict[str, Any] = {"resourceVersion": listed.resource_version}
    if listed.continue_:
        metadata["continue"] = listed.continue_
    if listed.remaining_item_count is not None:
        metadata["remainingItemCount"] = listed.remaining_item_count
    return metadata
