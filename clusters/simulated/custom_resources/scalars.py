"""Checks of single values: types, strings, numbers, enums, formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clusters.simulated.custom_resources.flaws import NONE, PATH, Check, Flaw, invalid_value
from clusters.simulated.custom_resources.formats import named
from vocabulary.patterns import compile_pattern

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list, tuple),
}
_MIN_INT32: Final = -(2**31)
_MAX_INT32: Final = 2**31 - 1


def type_check(schema: Mapping[str, Any]) -> Check:
    """The check of the value's type; one that accepts all where the schema names no type."""
    if schema.get("x-kubernetes-int-or-string"):
        names: tuple[str, ...] = ("integer", "string")
    elif schema.get("type"):
        names = (schema["type"],)
    else:
        return _accept
    expected = ",".join(names)
    wants_integer = "integer" in names
    accepted = frozenset(type_ for name in names for type_ in _TYPES[name])

    def check(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
        is_large = wants_integer and isinstance(value, int) and not -(2**63) <= value < 2**63
        if type(value) in accepted and not is_large:
            return NONE
        if wants_integer and isinstance(value, float) and value.is_integer():
            return NONE
        # Go reads an integer of more than 64 bits as a number.
        found = "number" if is_large else type_name(value)
        body = f'Invalid value: "{found}": {PATH} in body must be of type {expected}: "{found}"'
        flaws = [Flaw("", "FieldValueTypeInvalid", body)]
        if names == ("integer",) and found == "number":
            flaws.append(_wrong_format("integer (default format)"))
        return flaws

    return check


def _accept(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
    return NONE


def type_name(value: Any) -> str:
    """JSON Schema's name for the type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return next(name for name, types in _TYPES.items() if isinstance(value, types))


def _test(fails: Callable[[Any], bool], complaint: str) -> Check:
    """A check of numbers, with one complaint for all."""

    def check(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
        if isinstance(value, int | float) and not isinstance(value, bool) and fails(value):
            return invalid_value(value, complaint)
        return NONE

    return check


def string_checks(schema: Mapping[str, Any]) -> list[Check]:
    """Length and pattern of strings (only the first violation is reported), and their format."""
    checks: list[Check] = []
    longest, shortest = schema.get("maxLength"), schema.get("minLength") or 0
    pattern = compile_pattern(schema["pattern"]) if schema.get("pattern") else None

    def check_text(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
        if not isinstance(value, str):
            return NONE
        if longest is not None and len(value) > longest:
            unit = "byte" if longest == 1 else "bytes"
            body = f"Too long: may not be more than {longest} {unit}"
            return [Flaw("", "FieldValueTooLong", body)]
        if len(value) < shortest:
            return invalid_value(value, f"should be at least {shortest} chars long")
        if pattern is not None and pattern.search(value) is None:
            return invalid_value(value, f"should match '{pattern.pattern}'")
        return NONE

    if longest is not None or shortest or pattern is not None:
        checks.append(check_text)
    name = schema.get("format", "")
    well_formed = named(name)
    if well_formed is not None:

        def check_format(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
            if not isinstance(value, str) or well_formed(value):
                return NONE
            shown = json.dumps(value, ensure_ascii=False)
            body = f"Invalid value: {shown}: {PATH} in body must be of type {name}: {shown}"
            return [Flaw("", "FieldValueTypeInvalid", body)]

        checks.append(check_format)
    return checks


def number_checks(schema: Mapping[str, Any]) -> list[Check]:
    """Bounds of numbers, first those of their format."""
    checks: list[Check] = []
    if schema.get("type") == "integer" and schema.get("format") == "int32":
        checks.append(_check_int32)
    least, most, factor = (schema.get(key) for key in ("minimum", "maximum", "multipleOf"))
    if least is not None and schema.get("exclusiveMinimum"):
        complaint = f"should be greater than {least}"
        checks.append(_test(lambda value: value <= least, complaint))
    elif least is not None:
        complaint = f"should be greater than or equal to {least}"
        checks.append(_test(lambda value: value < least, complaint))
    if most is not None and schema.get("exclusiveMaximum"):
        checks.append(_test(lambda value: value >= most, f"should be less than {most}"))
    elif most is not None:
        complaint = f"should be less than or equal to {most}"
        checks.append(_test(lambda value: value > most, complaint))
    if factor:
        complaint = f"should be a multiple of {factor}"
        checks.append(_test(lambda value: value % factor != 0, complaint))
    return checks


def _check_int32(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
    if not isinstance(value, int) or _MIN_INT32 <= value <= _MAX_INT32:
        return NONE
    return [_wrong_format("integer with format int32")]


def _wrong_format(expected: str) -> Flaw:
    body = f'Invalid value: "": Checked value must be of type {expected} in {PATH}'
    return Flaw("", "FieldValueInvalid", body, homeless=True)


def enum_check(allowed: Sequence[Any]) -> Check:
    """Check that the value is one of those allowed."""
    choices = ", ".join(
        _quoted(choice if isinstance(choice, str) else _quoted(choice)) for choice in allowed
    )

    def check(value: Any, stored: Any) -> Sequence[Flaw]:  # noqa: ARG001
        if value in allowed:
            return NONE
        body = f"Unsupported value: {_quoted(value)}: supported values: {choices}"
        return [Flaw("", "FieldValueNotSupported", body)]

    return check


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
