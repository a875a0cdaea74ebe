"""Where the simulation is known to differ, and why that is accepted.

A limit names the scripts and the fields where the difference shows. A difference without a
limit fails the tests, and so does a limit without a difference: what is fixed leaves the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tests.differential.compare import Difference


@dataclass(frozen=True)
class Limit:
    """One accepted difference."""

    id: str
    what: str
    """What differs, as a sentence about the simulation."""
    why: str
    scripts: tuple[str, ...]
    steps: str = ".*"
    """The steps where it shows, as a regular expression over their labels."""
    fields: str = ".*"
    """The fields where it shows, as a regular expression over their paths."""

    def explains(self, difference: Difference) -> bool:
        return (
            difference.script in self.scripts
            and re.fullmatch(self.steps, difference.step) is not None
            and re.fullmatch(self.fields, difference.path) is not None
        )


LIMITS: Final[tuple[Limit, ...]] = ()


def limit_of(difference: Difference) -> Limit | None:
    """The first limit that explains a difference; None if none does."""
    for limit in LIMITS:
        if limit.explains(difference):
            return limit
    return None


def stale(differences: Iterable[Difference]) -> list[tuple[Limit, str]]:
    """The limits, with the script, that explain nothing any more."""
    shown = {
        (limit.id, difference.script)
        for difference in differences
        for limit in [limit_of(difference)]
        if limit is not None
    }
    return [
        (limit, script)
        for limit in LIMITS
        for script in limit.scripts
        if (limit.id, script) not in shown
    ]
