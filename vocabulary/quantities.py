"""Resource quantities: `500m`, `2`, `1Gi`, `1e3`.

Compared and summed exactly, as fractions, since a scheduler that rounds admits one pod too many.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from vocabulary.integers import int64_of

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
    r"(?!$)([+-]?)([0-9]*\.?[0-9]*)(?:([eE][+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)"
)
"""Go reads numbers without a digit as zero."""
_MAX_DIGITS: Final = 1000
_MAX_EXPONENT: Final = 1000
"""Exact fractions with more digits or larger exponents would take seconds."""
_MAX_BINARY: Final = Fraction(2**63 - 1)
"""Go caps quantities with binary suffixes, and no others."""


@lru_cache(maxsize=4096)
def parse_quantity(quantity: str | int | float) -> Fraction:
    """Parse a quantity to its exact value. Raises ValueError if it is malformed."""
    if isinstance(quantity, int) and abs(quantity) < 2**63:
        return Fraction(quantity)
    text = str(quantity)
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a resource quantity; use for example 2, 500m or 1Gi")
    whole, _, part = match[2].partition(".")
    digits = f"{whole}{part}".lstrip("0")
    significant = digits.rstrip("0")
    if len(significant) > _MAX_DIGITS:
        raise ValueError(f"a resource quantity has {len(significant)} digits, over {_MAX_DIGITS}")
    exponent = int64_of(match[3][1:]) if match[3] else 0
    if exponent is None:
        raise ValueError(f"the exponent of the resource quantity {text!r} is no int64")
    exponent += len(digits) - len(significant) - len(part)
    power = Fraction(10) ** max(-_MAX_EXPONENT, min(exponent, _MAX_EXPONENT))
    suffix = match[4] or ""
    value = int(significant or "0") * power * _SUFFIX[suffix]
    if suffix.endswith("i"):
        value = min(value, _MAX_BINARY)
    return -value if match[1] == "-" else value
