"""Fields that the Kubernetes API does not have, or whose values are not of their types.

An API server drops the first without a word, in an AppWrapper's components when it creates them.
"""

from __future__ import annotations

import difflib
from functools import cache
from typing import Any, Final

from mlbatch_tools.pod_sets import pod_sets_in
from mlbatch_tools.problems import ToolError, short
from vocabulary.messages import Field, tables
from vocabulary.objects import Object

_SCALARS: Final = {
    "string": (str, "text, in quotes"),
    "int32": (int, "a whole number"),
    "int64": (int, "a whole number"),
    "bool": (bool, "true or false"),
}
_REQUIRED: Final = {"core/v1.Container": ("name", "image")}


def require_known_fields(obj: Object) -> None:
    """Raise ToolError for the first field that the API would not take as it is.

    Of kinds that are not built in, only the specs of pods are known.
    """
    message = tables().kinds.get((obj["apiVersion"], obj["kind"]))
    if message is not None:
        _require({key: obj[key] for key in obj if key not in ("apiVersion", "kind")}, message, "")
        return
    for each in pod_sets_in(obj):
        path = f"{each.path}.spec".removeprefix("template.")
        _require(each.template["spec"], "core/v1.PodSpec", path)


def _require(value: Any, type_: str, path: str) -> None:
    form, _, inner = type_.partition(":")
    if value is None:
        return
    if form.startswith("[]") or form == "list":
        for index, item in enumerate(_of(value, list, path, "a list")):
            _require(item, inner or form.removeprefix("[]"), f"{path}[{index}]")
    elif form == "map":
        for key, item in _of(value, dict, path, "a mapping").items():
            _require(item, inner, f"{path}[{key}]")
    elif type_ in tables().messages:
        _require_message(_of(value, dict, path, "a mapping"), type_, path)
    elif type_ in _SCALARS:
        scalar, form = _SCALARS[type_]
        _of(value, scalar, path, form)


def _require_message(value: Object, message: str, path: str) -> None:
    known = _fields(message)
    for name, child in value.items():
        at = f"{path}.{name}" if path else str(name)
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            raise ToolError(
                f"{at} is an unknown field; "
                + (
                    f"did you mean {near[0]}?"
                    if near
                    else "remove it, or correct its name or level"
                )
            )
        _require(child, known[name].type, at)
    for name in _REQUIRED.get(message, ()):
        if not value.get(name):
            raise ToolError(f"{path}.{name} is missing; write one")


@cache
def _fields(message: str) -> dict[str, Field]:
    """The fields of a message, by name."""
    found: dict[str, Field] = {}
    for field in tables().messages[message]:
        found |= _fields(field.type) if field.is_inline else {field.name: field}
    return found


def _of(value: Any, type_: type, path: str, form: str) -> Any:
    if not isinstance(value, type_) or (type_ is int and isinstance(value, bool)):
        raise ToolError(f"{path} is {short(value)}; write {form}")
    return value
