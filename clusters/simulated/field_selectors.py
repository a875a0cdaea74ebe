"""Field selectors in the API's text form: `status.phase!=Running,spec.nodeName=n0`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.objects import Object

Selects = Callable[[Object], bool]


def field_selector(text: str, strategy: Strategy) -> Selects | None:
    """A function from an object to whether the selector chooses it; None where all are chosen.

    Raises a 400 for text that is no selector, and for fields that the kind does not offer.
    """
    if not text:
        return None
    terms = []
    for field, equal, value in parse_field_selector(text):
        if not field and not value:
            continue
        field_of = strategy.selectable.get(field)
        if field_of is None:
            raise ApiError(400, "BadRequest", _unknown(field, strategy))
        terms.append((field_of, equal, value))
    return lambda obj: all((of(obj) == value) is equal for of, equal, value in terms)


@lru_cache(maxsize=1024)
def parse_field_selector(text: str) -> tuple[tuple[str, bool, str], ...]:
    """The terms (field, whether it must be equal, value) of a selector; a 400 if malformed."""
    terms = []
    for part in _split(text):
        field, operator, value = _term(part)
        if not operator:
            raise ApiError(
                400,
                "BadRequest",
                f"invalid selector: '{text}'; can't understand '{part}'",
            )
        terms.append((field, operator != "!=", _unescape(value)))
    return tuple(terms)


def _split(text: str) -> list[str]:
    """The parts between commas; a backslash takes a comma's meaning away."""
    parts, current, escaped = [], "", False
    for character in text:
        if character == "," and not escaped:
            parts.append(current)
            current = ""
        else:
            current += character
        escaped = character == "\\" and not escaped
    return [part for part in [*parts, current] if part]


def _term(part: str) -> tuple[str, str, str]:
    """The leftmost operator decides; of two that begin there, the longer."""
    for position in range(len(part)):
        for operator in ("!=", "==", "="):
            if part.startswith(operator, position):
                return part[:position], operator, part[position + len(operator) :]
    return part, "", ""


def _unescape(value: str) -> str:
    return re.sub(r"\\(.?)|=", _meant, value, flags=re.DOTALL)


def _meant(found: re.Match[str]) -> str:
    """The character for which an escape sequence stands; a 400 for others, and for a bare `=`."""
    if found[1] and found[1] in "\\,=":
        return found[1]
    because = f"invalid escape sequence: {found[0]}"
    if found[0] == "=":
        because = f"unescaped character in value: {ord('=')}"
    raise ApiError(400, "BadRequest", f"invalid field selector: {because}")


def _unknown(field: str, strategy: Strategy) -> str:
    if strategy.lists_selectable:
        known: Mapping[str, object] = strategy.selectable
        quoted = ", ".join(f'"{name}"' for name in known)
        return f'"{field}" is not a known field selector: only {quoted}'
    return f"field label not supported: {field}"
