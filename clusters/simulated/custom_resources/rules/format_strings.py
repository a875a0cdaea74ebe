"""Format strings, `'%d of %s'.format([1, 'a'])`: they are checked with their expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from clusters.simulated.custom_resources.rules.trees import Tree

_CLAUSE: Final = re.compile(r"%(?:%|(?P<precision>\.[0-9]*)?(?P<letter>[\s\S])?)")
_INTEGERS: Final = ("int", "uint")
_ALLOWED: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "s": (
        (
            *("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes"),
            *("duration", "type", "null"),
        ),
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
        "types, durations, and timestamps",
    ),
    "d": (_INTEGERS, "decimal clause can only be used on integers"),
    "f": (("double", "string"), "fixed-point clause can only be used on doubles"),
    "e": (("double", "string"), "scientific clause can only be used on doubles"),
    "b": ((*_INTEGERS, "bool"), "only integers and bools can be formatted as binary"),
    "x": (
        (*_INTEGERS, "string", "bytes"),
        "only integers, byte buffers, and strings can be formatted as hex",
    ),
    "o": (_INTEGERS, "octal clause can only be used on integers"),
}
"""Of each clause, the types that it takes, and the complaint about others."""


def flaws(tree: Tree, every: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """The parts that are wrong, and why: of each call one at most."""
    for part in every:
        call = part.call
        if call.function != "format" or not call.target.constant.HasField("string"):
            continue
        if len(call.args) == 1 and call.args[0].HasField("list"):
            found = _flaw(tree, call.target.constant.string, call.args[0].list.elements)
            if found is not None:
                at, reason = found
                yield at or part.id, reason


def _flaw(tree: Tree, text: str, arguments: Any) -> tuple[int, str] | None:
    """The first mistake, and the id of the argument that it is about; 0 for the call."""
    clauses = [found for found in _CLAUSE.finditer(text) if found[0] != "%%"]
    for position, clause in enumerate(clauses):
        if clause.end() == clause.start() + 1:
            return 0, "unexpected end of string"
        if position >= len(arguments):
            return 0, f"index {position} out of range"
        reason = _unreadable(clause)
        if reason:
            return 0, f"could not parse formatting clause: {reason}"
        types, complaint = _ALLOWED[clause["letter"].replace("X", "x")]
        wrong = _other(tree, arguments[position], types, inside=clause["letter"] == "s")
        if wrong is not None:
            at, type_ = wrong
            return at, f"error during formatting: {complaint}, was given {type_}"
    if len(arguments) > len(clauses):
        counted = f"expected {len(clauses)}, got {len(arguments)}"
        return 0, f"too many arguments supplied to string.format ({counted})"
    return None


def _unreadable(clause: re.Match[str]) -> str:
    if clause["precision"] == "." and clause["letter"]:
        return (
            "error while parsing precision: error while converting precision to integer: "
            'strconv.Atoi: parsing "": invalid syntax'
        )
    if not clause["letter"]:
        return "error while parsing precision: could not find end of precision specifier"
    known = clause["letter"].replace("X", "x") in _ALLOWED
    return "" if known else f'unrecognized formatting clause "{clause["letter"]}"'


def _other(
    tree: Tree, argument: Any, types: tuple[str, ...], *, inside: bool
) -> tuple[int, str] | None:
    """The id and the type of an argument that has none of these types, or of a part of it."""
    type_ = tree.type_of(argument).partition("(")[0]
    if type_ != "dyn" and type_ not in types:
        return argument.id, type_
    if inside:
        entries = argument.struct.entries
        for part in (*argument.list.elements, *(it for e in entries for it in (e.key, e.value))):
            found = _other(tree, part, types, inside=True)
            if found is not None:
                return found
    return None
