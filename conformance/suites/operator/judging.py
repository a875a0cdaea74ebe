"""The decorator that declares a claim about an operator: about one run as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Unpack

from conformance.norm import ClaimDetails, Judging, Obligations
from conformance.norm.claim import Source
from conformance.suites.operator.view import OperatorHistory

DOCUMENT: Final = "any-operator"
_JUDGING: Final = Judging(OperatorHistory, OperatorHistory)

Checker = Callable[[OperatorHistory], Obligations]


def claim(
    number: int, *, armed_by: str, **details: Unpack[ClaimDetails]
) -> Callable[[Checker], Checker]:
    """Declare the claim of that number by its checker, a generator that looks at a whole run."""
    return _JUDGING.claim(
        f"OP-{number:03}", Source(DOCUMENT, "Claims", number), armed_by=armed_by, **details
    )
