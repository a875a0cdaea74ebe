"""Label selectors: the text form of the API (`a=b,c!=d,e in (x,y),!f`) and the object form."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from vocabulary.integers import int64_of
from vocabulary.objects import Object

Labels: TypeAlias = Mapping[str, str]
Matcher: TypeAlias = Callable[[Labels], bool]

_TOKEN: Final = re.compile(r"==|!=|[=!<>(),]|[^\s=!<>(),]+")
_SPECIAL: Final = frozenset({"==", "!=", "=", "!", "<", ">", "(", ")", ",", ""})
_OPERATORS: Final = {
    "=": "In",
    "==": "In",
    "in": "In",
    "!=": "NotIn",
    "notin": "NotIn",
    ">": "Gt",
    "<": "Lt",
}
Requirement: TypeAlias = tuple[str, str, frozenset[str]]
"""A key, an operator as in the object form, and its values."""


@lru_cache(maxsize=1024)
def parse_selector(text: str) -> Matcher:
    """Compile a selector in text form to a predicate on labels.

    Raises ValueError if it is malformed, with the API server's message.
    """
    return _matcher(requirements(text))


def requirements(text: str) -> tuple[Requirement, ...]:
    """Parse a selector in text form to its requirements. Raises ValueError if it is malformed."""
    return tuple(_Parser(text).requirements())


class _Parser:
    """Parse token by token, as the API server's own parser does; "" is the end."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self._next():
            if self._next() in _SPECIAL and self._next() != "!":
                raise ValueError(
                    f"found '{self._next()}', expected: !, identifier, or 'end of string'"
                )
            try:
                found.append(self._requirement())
            except ValueError as error:
                raise ValueError(f"unable to parse requirement: {error}") from None
            after = self._take()
            if after not in (",", ""):
                raise ValueError(f"found '{after}', expected: ',' or 'end of string'")
            if after == "," and self._next() in _SPECIAL and self._next() != "!":
                raise ValueError(f"found '{self._next()}', expected: identifier after ','")
            if not after:
                break
        return found

    def _requirement(self) -> Requirement:
        absent = self._next() == "!"
        if absent:
            self._take()
        key = self._identifier()
        if self._next() in (",", "") or absent:
            return key, "DoesNotExist" if absent else "Exists", frozenset()
        operator = self._take()
        if operator not in _OPERATORS:
            known = "in, notin, =, ==, !=, gt, lt"
            raise ValueError(f"found '{operator}', expected: {known}")
        if operator in ("in", "notin"):
            return key, _OPERATORS[operator], self._values()
        value = "" if self._next() in (",", "") else self._identifier()
        return key, _OPERATORS[operator], frozenset((value,))

    def _values(self) -> frozenset[str]:
        opening = self._take()
        if opening != "(":
            raise ValueError(f"found '{opening}' expected: '('")
        values: set[str] = set()
        while True:
            values.add("" if self._next() in (",", ")") else self._identifier())
            after = self._take()
            if after == ")":
                return frozenset(values)
            if after != ",":
                raise ValueError(f"found '{after}', expected: ',' or ')'")

    def _identifier(self) -> str:
        token = self._take()
        if token in _SPECIAL:
            raise ValueError(f"found '{token}', expected: identifier")
        return token

    def _next(self) -> str:
        return self._tokens[self._position]

    def _take(self) -> str:
        token = self._tokens[self._position]
        self._position += 1
        return token


def matches(selector: Object | None, labels: Labels) -> bool:
    """True if a `metav1.LabelSelector` matches the labels; None matches nothing, {} everything."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(
        holds(entry["key"], entry["operator"], entry.get("values") or (), labels)
        for entry in selector.get("matchExpressions") or ()
    )


def to_text(labels: Labels) -> str:
    """Format labels as a selector in text form that requires each of them."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _matcher(requirements: tuple[tuple[str, str, frozenset[str]], ...]) -> Matcher:
    return lambda labels: all(holds(*requirement, labels) for requirement in requirements)


def holds(key: str, operator: str, values: Collection[str], labels: Labels) -> bool:
    """True if labels meet one requirement of a label selector or a node selector.

    Raises ValueError for an unknown operator; Gt and Lt exist in node selectors and in text.
    """
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt" | "Lt":
            return _is_beyond(labels.get(key, ""), operator, values)
    raise ValueError(
        f"unknown selector operator {operator!r}; use In, NotIn, Exists, DoesNotExist, Gt or Lt"
    )


def _is_beyond(label: str, operator: str, values: Collection[str]) -> bool:
    # False if the label is not an integer.
    number, bound = int64_of(label), int64_of(next(iter(values), ""))
    if number is None or bound is None:
        return False
    return number > bound if operator == "Gt" else number < bound
