"""Correction hints, derived from the type that rejected the data."""

from __future__ import annotations

import difflib
import re
from typing import Any, Final, TypeAlias

from msgspec import inspect

STEP: Final = re.compile(r"\[(\d+|\.\.\.)\]|([^.\[\]]+)")
"""A step of a field's path: an index (`...` if msgspec does not report it), or a key."""
UNKNOWN: Final = re.compile(r"unknown field `([^`]*)`")
_EXPECTED: Final = re.compile(r"^Expected `([^`]*)`, got `")
_Fields: TypeAlias = inspect.StructType | inspect.DataclassType
_SPELLINGS: Final = {
    "str": "text; put it in quotes",
    "array": "a list: [one, another]",
    "object": "a mapping: key: value",
    "bool": "true or false",
    "int": "a whole number",
}
"""YAML spellings by msgspec's name of a type."""


def field_hint(type_: Any, field: str, problem: str) -> str:
    """Return `; ` and a field's expected value, by msgspec's message; empty if the message has it.

    A type's own description, `Meta(description=…)`, is preferred to the YAML spelling.
    """
    node = _node(type_, field)
    if unknown := UNKNOWN.search(problem):
        return _known_fields(node, unknown[1])
    if "enum value" in problem and (words := _words(node)):
        return f"; write {' or '.join(words)}"
    if isinstance(node, inspect.IntType) and node.ge is not None:
        span = f", {node.ge} or more" if node.le is None else f" from {node.ge} to {node.le}"
        return f"; write a whole number{span}"
    if problem.startswith("Expected") and (description := _description(node)):
        return f"; write {description}"
    if expected := _EXPECTED.match(problem):
        spelling = _SPELLINGS.get(expected[1].partition(" ")[0], "")
        return f"; write {spelling}" if spelling else ""
    return ""


def _words(node: Any) -> list[str]:
    """The allowed words; none if other values are allowed, too."""
    alternatives = node.types if isinstance(node, inspect.UnionType) else (node,)
    literals = (each for each in alternatives if isinstance(each, inspect.LiteralType))
    return [str(value) for literal in literals for value in literal.values]


def _known_fields(node: Any, unknown: str) -> str:
    if not isinstance(node, inspect.StructType):
        return ""
    known = [each.encode_name for each in node.fields]
    near = difflib.get_close_matches(unknown, known, n=1)
    return f"; did you mean {near[0]}?" if near else f"; known fields are {', '.join(known)}"


def _description(node: Any) -> str:
    if not isinstance(node, inspect.Metadata):
        return ""
    return str((node.extra_json_schema or {}).get("description", ""))


def _node(type_: Any, field: str) -> Any:
    """msgspec's view of the type at a field's path; of an optional one, without its None."""
    node: Any = _without_none(inspect.type_info(type_))
    for index, key in STEP.findall(field):
        inner = node.type if isinstance(node, inspect.Metadata) else node
        if isinstance(inner, inspect.UnionType):
            inner = next((each for each in inner.types if isinstance(each, _Fields)), inner)
        if index and isinstance(inner, inspect.VarTupleType | inspect.ListType):
            node = inner.item_type
        elif isinstance(inner, _Fields):
            node = {each.encode_name: each.type for each in inner.fields}.get(key, inner)
        node = _without_none(node)
    return node


def _without_none(node: Any) -> Any:
    if isinstance(node, inspect.UnionType):
        others = [each for each in node.types if not isinstance(each, inspect.NoneType)]
        return others[0] if len(others) == 1 else node
    return node
