"""Resource quantities: `500m`, `2`, `1Gi`, `1e3`.

Compared and summed exactly, as fractions, since a scheduler that rounds admits one pod too many.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

_SUFFIX: Final = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_QUANTITY: Final = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)"
)
_NOTHING: Final = re.compile(r"[+-]\.?|\.")
"""Go reads numbers without a digit as zero."""
_MAX_DIGITS: Final = 9
_MAX_EXPONENT: Final = 1000
"""Exact fractions with larger exponents would take seconds."""


@lru_cache(maxsize=4096)
def parse_quantity(quantity: str | int | float) -> Fraction:
    """Parse a quantity to its exact value. Raises ValueError if it is malformed."""
    if isinstance(quantity, int):
        return Fraction(quantity)
    text = str(quantity)
    match = _QUANTITY.fullmatch(text)
    if match is None and _NOTHING.fullmatch(text):
        return Fraction(0)
    if match is None:
        raise ValueError(f"{text!r} is not a resource quantity; use for example 2, 500m or 1Gi")
    value = Fraction(match[2].rstrip(".") if match[2].endswith(".") else match[2])
    if match[3]:
        exponent = int(match[3][1:][:_MAX_DIGITS])
        value *= Fraction(10) ** max(-_MAX_EXPONENT, min(exponent, _MAX_EXPONENT))
    else:
        value *= _SUFFIX[match[4] or ""]
    return -value if match[1] == "-" else value
