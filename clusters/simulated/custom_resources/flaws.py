"""Schema violations: relative to a value, and as errors about a field."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from clusters.simulated.field_errors import FieldError

PATH: Final = "\0"
"""Stands for the whole path in the body of a flaw. No value is shown with such a character."""


class Flaw(NamedTuple):
    """A flaw at a path relative to the value.

    A `homeless` flaw is reported without its path: a real server loses it for oneOf and the
    like, and prints `<nil>` instead.
    """

    path: str
    type: str
    body: str
    homeless: bool = False


Check = Callable[[Any, Any], Sequence[Flaw]]
"""(value, stored value or ABSENT) → flaws."""

ABSENT: Final = object()
_NOWHERE: Final = "<nil>"
_BLOCKING: Final = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)
_UNCHECKED: Final = FieldError(
    "FieldValueInvalid",
    _NOWHERE,
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)
NONE: Final[tuple[Flaw, ...]] = ()


def field_errors(flaws: Sequence[Flaw], root: str, *, rules: bool) -> tuple[list[FieldError], bool]:
    """The flaws of a value at `root`, with their whole paths; and whether they are blocking.

    Messages say the path below the root only; so does a real server. `rules` says that the
    schema has rules beyond its structure: those are not looked at where the structure is
    wrong, which is then said too.
    """
    errors = [
        FieldError(
            flaw.type,
            _NOWHERE if flaw.homeless else _join(root, flaw.path),
            flaw.body.replace(PATH, flaw.path),
        )
        for flaw in flaws
    ]
    are_blocking = any(flaw.type in _BLOCKING for flaw in flaws)
    if rules and are_blocking:
        errors.append(_UNCHECKED)
    return errors, are_blocking


def below(step: str, flaws: Sequence[Flaw]) -> list[Flaw]:
    """The flaws of a child, relative to its parent."""
    return [flaw._replace(path=_join(step, flaw.path)) for flaw in flaws]


def invalid_value(value: Any, complaint: str) -> list[Flaw]:
    """The one flaw of a value of the right type that breaks a rule."""
    shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return [Flaw("", "FieldValueInvalid", f"Invalid value: {shown}: {PATH} in body {complaint}")]


def _join(parent: str, child: str) -> str:
    if not parent or not child or child[0] == "[":
        return f"{parent}{child}"
    return f"{parent}.{child}"
