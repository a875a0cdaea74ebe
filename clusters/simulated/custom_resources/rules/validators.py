"""Checks of a compiled expression that a real server makes, and the library does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from clusters.simulated.custom_resources.formats import is_date_time
from clusters.simulated.custom_resources.rules import format_strings
from clusters.simulated.custom_resources.rules.trees import Tree, parts, shown
from vocabulary.durations import parse_duration
from vocabulary.patterns import compile_pattern

_Flaw = tuple[int, str]
"""(the id of a part, what is wrong with it)"""


def complaints(tree: Tree, text: str) -> str:
    """The errors about a compiled expression; empty without any."""
    every = list(parts(tree.root))
    # What is formatted may be of several types.
    formatted = {it.id for part in every if part.call.function == "format" for it in parts(part)}
    others = [part for part in every if part.id not in formatted]
    flaws = list(_searches(tree, every)) or [
        *_arguments(every),
        *format_strings.flaws(tree, every),
        *_mixed_lists(tree, others),
        *_mixed_maps(tree, others),
    ]
    places = sorted((tree.positions.get(part, 0), reason) for part, reason in flaws)
    return "\n".join(error_at(text, at, reason) for at, reason in places)


def operand_complaints(tree: Tree, text: str, at: int, types: Iterable[str]) -> str:
    """The errors about operands of the `&&` or `||` at this position that are not bools."""
    for part in parts(tree.root):
        if part.call.function in ("_&&_", "_||_") and tree.positions.get(part.id) == at:
            return "\n".join(
                error_at(
                    text,
                    tree.positions.get(operand.id, 0),
                    f"expected type 'bool' but found '{type_}'",
                )
                for operand, type_ in zip(part.call.args, types, strict=True)
                if type_ not in ("bool", "dyn", "*error*")
            )
    return ""


def error_at(text: str, at: int, reason: str) -> str:
    """An error at a position of an expression, as a compiler shows it."""
    before = text[:at].split("\n")
    line = text.split("\n")[len(before) - 1]
    column = len(before[-1])
    return f"ERROR: <input>:{len(before)}:{column + 1}: {reason}\n | {line}\n | {'.' * column}^"


def _searches(tree: Tree, every: Iterable[Any]) -> Iterator[_Flaw]:
    """Searches of lists for values that these cannot have; the library takes any."""
    for part in every:
        if part.call.function not in ("indexOf", "lastIndexOf") or not part.call.args:
            continue
        searched, sought = (tree.type_of(it) for it in (part.call.target, part.call.args[0]))
        if searched.startswith("list(") and searched not in ("list(dyn)", f"list({sought})"):
            applied = f"'{part.call.function}' applied to '{searched}.({sought})'"
            if sought != "dyn":
                yield part.id, f"found no matching overload for {applied}"


def _arguments(every: Iterable[Any]) -> Iterator[_Flaw]:
    for part in every:
        check = _CHECKED.get(part.call.function)
        if check is None or not part.call.args:
            continue
        argument = part.call.args[0]
        if argument.constant.HasField("string") and not _accepts(check, argument.constant.string):
            yield argument.id, f"invalid {part.call.function} argument"


def _accepts(check: Callable[[str], object], value: str) -> bool:
    try:
        return check(value) is not False
    except ValueError:
        return False


def _mixed_lists(tree: Tree, every: Iterable[Any]) -> Iterator[_Flaw]:
    """Of each list, the first item of another type than the first."""
    for part in every:
        types = [
            (item.id, _type_of(tree, item, is_optional=position in part.list.optional))
            for position, item in enumerate(part.list.elements)
        ]
        yield from list(_others(types))[:1]


def _mixed_maps(tree: Tree, every: Iterable[Any]) -> Iterator[_Flaw]:
    for part in every:
        entries = [entry for entry in part.struct.entries if entry.HasField("key")]
        yield from _others([(entry.key.id, tree.type_of(entry.key)) for entry in entries])
        yield from _others(
            [
                (entry.value.id, _type_of(tree, entry.value, is_optional=entry.is_optional))
                for entry in entries
            ]
        )


def _type_of(tree: Tree, item: Any, *, is_optional: bool) -> str:
    """The type of an item; of an optional one, that of its value."""
    if is_optional:
        return shown(tree.types[item.id].abstract.parameters[0])
    return tree.type_of(item)


def _others(types: list[tuple[int, str]]) -> Iterator[_Flaw]:
    """Those whose type is not that of the first."""
    for part, type_ in types[1:]:
        if type_ != types[0][1]:
            yield part, f"expected type '{types[0][1]}' but found '{type_}'"


_CHECKED: Final[Mapping[str, Callable[[str], object]]] = {
    "duration": parse_duration,
    "timestamp": is_date_time,
    "matches": compile_pattern,
}
"""Functions whose first argument is checked if it is a literal."""
