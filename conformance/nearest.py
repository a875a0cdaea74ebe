"""What may have been meant by a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Final

MOST: Final = 3
CLOSE: Final = 0.6
"""difflib's ratio from which on a name may be the one that was meant."""


def meant(word: str, names: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """`did you mean A or B?`; where no name is close, `the nearest are A, B, C.`

    Case does not count. `shown` is how a name is written for people. There must be a name.
    """
    by_lower = {name.lower(): name for name in names}

    def near(cutoff: float) -> list[str]:
        found = difflib.get_close_matches(word.lower(), by_lower, n=MOST, cutoff=cutoff)
        return [shown(by_lower[lower]) for lower in found]

    if close := near(CLOSE):
        return f"did you mean {' or '.join(close)}?"
    return f"the nearest are {', '.join(near(0))}."
