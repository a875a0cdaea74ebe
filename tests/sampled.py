"""The scenarios that tests go through one by one: all of them, and of the ledger's cells a sample.

The cells are one function of four parameters, 448 times. `assay run` runs each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS

_CELLS: Final = "quota/cells/"
_STEP: Final = 9
"""No divisor of the number of a kind's cells: the sample has all kinds, causes and ways to stop."""


def _sample() -> dict[str, Scenario]:
    cells = [id_ for id_ in SCENARIOS if id_.startswith(_CELLS)]
    left_out = set(cells) - set(cells[::_STEP])
    return {id_: found for id_, found in SCENARIOS.items() if id_ not in left_out}


SAMPLED: Final[Mapping[str, Scenario]] = _sample()
SUBJECTS: Final = sorted({id_.rpartition("/")[0] for id_ in SAMPLED})
"""Their functions, as ids without the case."""


def of_subject(subject: str) -> list[Scenario]:
    """The cases of a function."""
    return [found for id_, found in SAMPLED.items() if id_.rpartition("/")[0] == subject]
