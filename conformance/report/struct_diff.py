"""Where two parts of a report differ, field by field, by the names that the file has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from conformance.report.untrusted import printable

_MOST_CHARACTERS: Final = 120


class Finding(msgspec.Struct, frozen=True):
    """Something in a report that does not hold."""

    where: str
    """The field: `claims[AW-015].tests[toy/crews, seed 1729].armed`."""
    what: str


def differences(told: Any, made: Any, where: str, says: str) -> Iterator[Finding]:
    """A finding for each field of `told` in which `made` differs; `says` is the origin of `made`.

    Structs are gone through field by field; anything else, a list too, is compared as a whole.
    """
    if type(told) is type(made) and isinstance(told, msgspec.Struct):
        for field in msgspec.structs.fields(told):
            yield from differences(
                getattr(told, field.name),
                getattr(made, field.name),
                f"{where}.{field.encode_name}",
                says,
            )
    elif told != made:
        yield Finding(where, f"is {_shown(told)}, {says} {_shown(made)}")


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    text = value if isinstance(value, str) and value else msgspec.json.encode(value).decode()
    return printable(text, _MOST_CHARACTERS)
