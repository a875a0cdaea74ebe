"""Integers in text, as Go's `strconv.ParseInt` reads them."""

from __future__ import annotations

import re
from typing import Final

_INTEGER: Final = re.compile("([+-]?)0*([0-9]{1,19})")


def int64_of(text: str) -> int | None:
    """The integer of 64 bits that a text spells; None if it spells none."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    number = int(found[1] + found[2])
    return number if -(2**63) <= number < 2**63 else None
