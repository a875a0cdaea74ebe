"""Comparisons of numbers of different types, which evaluations know and the checker does not."""

from __future__ import annotations

import operator
from itertools import permutations
from typing import Final

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    Overload,
    function,
)

_NUMBERS: Final = (INT, cel.Type.UINT, cel.Type.DOUBLE)
_OPERATORS: Final = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}


def comparisons() -> cel.CelExtension:
    """The comparisons, for a checker."""
    return cel.CelExtension(
        "cross_type_numeric_comparisons",
        [
            function(
                name,
                *(
                    Overload(BOOL, pair, compare, is_member=False)
                    for pair in permutations(_NUMBERS, 2)
                ),
            )
            for name, compare in _OPERATORS.items()
        ],
    )
