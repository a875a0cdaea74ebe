"""Quantities: each the number of its billionths, as a text."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final

from cel_expr_python import cel

from clusters.simulated.builtin.quantities import no_quantity
from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    STRING,
    Overload,
    Types,
    function,
    method,
    plain,
    succeeds,
)
from vocabulary.quantities import parse_quantity

_PLACES: Final = 9
_BILLION: Final = 10**_PLACES
_MAX_INT64: Final = 2**63 - 1


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The library `kubernetes.quantity`, but for what it shares with that of versions."""
    it = types.quantity
    return [
        plain("quantity", it, [STRING], _quantity),
        plain("isQuantity", BOOL, [STRING], succeeds(_quantity)),
        plain("sign", INT, [it], lambda text: compared(text, "0")),
        method("isInteger", BOOL, [it], lambda text: _whole(text) is not None),
        method("asInteger", INT, [it], _as_integer),
        method("asApproximateFloat", cel.Type.DOUBLE, [it], _as_float),
        *(
            function(
                name, *(Overload(it, [it, other], partial(_added, sign)) for other in (it, INT))
            )
            for name, sign in (("add", 1), ("sub", -1))
        ),
    ]


def compared(one: str, other: str) -> int:
    return (int(one) > int(other)) - (int(one) < int(other))


def _quantity(text: str) -> str:
    complaint = no_quantity(text)
    if complaint:
        raise ValueError(complaint)
    billionths = parse_quantity(text) * _BILLION
    # A real server rounds up what is finer, away from zero.
    whole = -(-abs(billionths).numerator // billionths.denominator)
    return str(whole if billionths >= 0 else -whole)


def _whole(billionths: str) -> int | None:
    value = Fraction(int(billionths), _BILLION)
    return int(value) if value.denominator == 1 and abs(value) <= _MAX_INT64 else None


def _as_integer(billionths: str) -> int:
    value = _whole(billionths)
    if value is None:
        raise ValueError("cannot convert value to integer")
    return value


def _as_float(billionths: str) -> float:
    """The number, rounded as Go rounds it: digits times a power of ten."""
    digits, places = int(billionths), _PLACES
    while places and digits % 10 == 0:
        digits, places = digits // 10, places - 1
    return digits * float(f"1e-{places}")


def _added(sign: int, one: str, other: str | int) -> str:
    more = other * _BILLION if isinstance(other, int) else int(other)
    return str(int(one) + sign * more)
