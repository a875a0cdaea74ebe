"""`fieldValidation`: warn of duplicate and unknown fields, or reject them.

Clients such as kubectl request the latter, so that users learn of fields that would be dropped
silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, Literal

from clusters.simulated.builtin.known_fields import without_unknown
from clusters.simulated.custom_resources.strategy import CustomResourceStrategy
from clusters.simulated.field_errors import invalid, not_supported
from clusters.simulated.patches.patching import patched
from clusters.simulated.request_checks import unreadable
from clusters.simulated.serve.requests import Call
from clusters.simulated.strategy import Strategy
from vocabulary import requests as rq
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object

_DIRECTIVES: Final = ("", "Ignore", "Strict", "Warn")
_OPTIONS: Final = {"POST": "Create", "PUT": "Update", "PATCH": "Patch"}
_CHECKED_PATCHES: Final = ("json", "merge", "strategic")


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as written: names with values, in order, with duplicates."""


def validation_of(call: Call) -> Literal["Ignore", "Warn", "Strict"]:
    """How a write's unknown and duplicate fields are handled; 422 for an unknown directive."""
    given = call.query.get("fieldValidation", "")
    options = _OPTIONS.get(call.method)
    if options is None:
        return "Ignore"
    if given not in _DIRECTIVES:
        error = not_supported("fieldValidation", given, _DIRECTIVES)
        raise invalid(f"{options}Options.meta.k8s.io", "", [error])
    return "Warn" if given in ("", "Warn") else "Strict" if given == "Strict" else "Ignore"


def require_known_fields(
    call: Call, request: rq.Create | rq.Update | rq.Patch, strategy: Strategy, old: Object | None
) -> None:
    """Reject a write with duplicate or unknown fields (400; a patch: 422)."""
    flaws = list(map(_flawed, _repeated(call)))
    if isinstance(request, rq.Patch):
        if request.patch_type not in _CHECKED_PATCHES or old is None:
            return
        # Duplicates are rejected before the patch is applied.
        wanted: Object = old
        if not flaws:
            wanted = patched(old, request, strategic=strategy.strategic_merge)
    else:
        wanted = request.object
    flaws += _unknown(wanted, request.kind, strategy)
    if flaws:
        because = f"strict decoding error: {', '.join(flaws)}"
        kind = request.kind
        raise unreadable(wanted, kind.version, kind.kind, kind, because, request)


def warn_of_fields(
    call: Call, request: rq.Create | rq.Update | rq.Patch, strategy: Strategy, old: Object | None
) -> None:
    """Warn of duplicate and unknown fields; a patch that does not fit is refused later."""
    wanted: Object = {}
    if not isinstance(request, rq.Patch):
        wanted = request.object
    elif request.patch_type not in _CHECKED_PATCHES or old is None:
        return
    else:
        try:
            wanted = patched(old, request, strategic=strategy.strategic_merge)
        except ApiError:
            return
    call.warnings.extend(map(_flawed, _repeated(call)))
    call.warnings.extend(_unknown(wanted, request.kind, strategy))


def _flawed(path: str) -> str:
    return f'duplicate field "{path}"'


def _repeated(call: Call) -> Iterator[str]:
    """The paths of fields that a JSON body names more than once."""
    if "json" in call.content_type() and call.body and _has_repeated(call.body):
        yield from _repeated_in(json.loads(call.body, object_pairs_hook=_Pairs), "")


def _has_repeated(body: bytes) -> bool:
    """Few bodies have duplicates, and to look for them is less work than to name them."""
    found = False

    def fields_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        fields = dict(pairs)
        found = found or len(fields) < len(pairs)
        return fields

    json.loads(body, object_pairs_hook=fields_of)
    return found


def _repeated_in(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen: dict[str, int] = {}
        for name, child in value:
            at = f"{path}.{name}" if path else name
            seen[name] = seen.get(name, 0) + 1
            if seen[name] == 2:
                yield at
            yield from _repeated_in(child, at)
    elif isinstance(value, list):
        for position, child in enumerate(value):
            yield from _repeated_in(child, f"{path}[{position}]")


def _unknown(obj: Object, kind: Kind, strategy: Strategy) -> list[str]:
    """Name the fields that the server drops, in order."""
    if isinstance(strategy, CustomResourceStrategy):
        kept = strategy.shaped(obj)
    else:
        kept = without_unknown(obj, kind)
    return [f'unknown field "{path}"' for path in sorted(_dropped(obj, kept, ""))]


def _dropped(given: Any, shaped: Any, path: str) -> Iterator[str]:
    if given is shaped:
        return
    if isinstance(given, dict) and isinstance(shaped, dict):
        for name, child in given.items():
            at = f"{path}.{name}" if path else name
            if name in shaped:
                yield from _dropped(child, shaped[name], at)
            elif child is not None:
                yield at
    elif isinstance(given, list) and isinstance(shaped, list):
        for position, (child, kept) in enumerate(zip(given, shaped, strict=True)):
            yield from _dropped(child, kept, f"{path}[{position}]")
