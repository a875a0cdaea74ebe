"""The types that a kind's schema gives the fields of an apply patch.

A real server holds an apply patch to its schema before it merges anything, and says what it finds
in the words of its library for typed values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from clusters.simulated.builtin.decoding import conversion_error, converted
from clusters.simulated.builtin.known_fields import without_unknown
from clusters.simulated.builtin.mistyped import Place, mistyped
from clusters.simulated.patches.field_paths import entry_of, keys_of, shown, undeclared
from clusters.simulated.patches.go_text import go_text
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.messages import entries_of, tables
from vocabulary.objects import Object
from vocabulary.requests import Patch


def require_typed(config: dict[str, Any], request: Patch, strategy: Strategy) -> None:
    """500 for fields that the schema lacks, or whose values are not of its types."""
    if strategy.is_built_in:
        declared = without_unknown(config, request.kind)
    else:
        declared = strategy.shaped(config)
    flaws = [
        f"{shown(path)}: field not declared in schema"
        for path in undeclared(config, declared, strategy)
    ]
    message = tables().kinds.get((request.kind.api_version, request.kind.kind))
    if strategy.is_built_in and message is not None:
        flaws += _mistyped(config, message, strategy)
    if flaws:
        raise untyped(request, config["metadata"], flaws)


def convertible(config: dict[str, Any], request: Patch) -> dict[str, Any]:
    """An apply patch of a built-in kind in the types of Go; 500 if a value is of another one."""
    kind = request.kind
    message = tables().kinds[kind.api_version, kind.kind]
    because = conversion_error(config, message)
    if because:
        whole = f"{kind.group}/{kind.version}, Kind={kind.kind}"
        raise ApiError(
            500,
            "",
            f"failed to convert new object ({_name(config['metadata'])}; {whole}) to proper "
            f"version: unable to convert unstructured object to {whole}: {because}",
        )
    return converted(config, message)


def _name(metadata: Object) -> str:
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"


def untyped(request: Patch, metadata: Object, flaws: Iterable[str]) -> ApiError:
    """The 500 for a patch that the schema does not fit."""
    kind = request.kind
    told = sorted(flaws)
    because = told[0] if len(told) == 1 else "\n  ".join(("errors:", *told))
    return ApiError(
        500,
        "",
        f"failed to create typed patch object ({_name(metadata)}; {kind.group}/{kind.version}, "
        f"Kind={kind.kind}): {because}",
    )


def no_map(path: str, value: Any) -> str:
    """The flaw of a value that should be an object."""
    return f"{path}: expected map, got &{{{go_text(value)}}}"


def no_string(path: str, value: Any) -> str:
    """The flaw of a value that should be a text."""
    return f"{path}: expected string, got &value.valueUnstructured{{Value:{_go_literal(value)}}}"


def _mistyped(config: Object, message: str, strategy: Strategy) -> Iterator[str]:
    for found in mistyped(config, message):
        *outer, last = found.place
        names = tuple(str(step) for step in outer if not isinstance(step, int))
        if isinstance(last, int) and strategy.list_keys(names) and not strategy.is_atomic(names):
            because = "associative list with keys may not have non-map elements"
            yield f"{_path(config, tuple(outer), strategy)}: element {last}: {because}"
        else:
            yield _flaw(_path(config, found.place, strategy), found.value, found.type)


def _flaw(path: str, value: Any, type_: str) -> str:
    """The flaw of a value that is not of its type, in the words of that type."""
    if type_ in ("string", "bytes"):
        return no_string(path, value)
    if type_ in ("int32", "int64", "float64"):
        return f"{path}: expected numeric (int or float), got {_go_type(value)}"
    if type_ in tables().messages or type_.startswith("map:"):
        return no_map(path, value)
    wanted = "boolean" if type_ == "bool" else "list" if entries_of(type_) else "any scalar"
    return f"{path}: expected {wanted}, got &{{{go_text(value)}}}"


def _go_type(value: Any) -> str:
    """The Go type of a value of JSON, as `%T` prints it."""
    if isinstance(value, bool | str):
        return "bool" if isinstance(value, bool) else "string"
    return "map[string]interface {}" if isinstance(value, dict) else "[]interface {}"


def _path(config: Any, place: Place, strategy: Strategy) -> str:
    """A place as messages have it: an entry of a list is named by its keys, if it has some."""
    value, text = config, ""
    names: tuple[str, ...] = ()
    for step in place:
        if isinstance(step, int):
            keys = keys_of(value, strategy, names)
            text += f"[{step}]" if keys is None else shown((entry_of(value[step], keys),))
        else:
            text += f".{step}"
            names = (*names, str(step))
        value = value[step]
    return text


def _go_literal(value: Any) -> str:
    """A value as Go prints it by `%#v`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        inner = (f'"{name}":{_go_literal(value[name])}' for name in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(inner)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_literal, value))}}}"
    if isinstance(value, str):
        return f'"{value}"'
    return "interface {}(nil)" if value is None else str(value)
