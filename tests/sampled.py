"""The scenarios that tests go through one by one: of each function the first case, and of
the ledger's cells, which are one function of four parameters, every ninth.

`assay run` runs all of them. So do these tests where ASSAY_EVERY_CASE is set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS

_CELLS: Final = "quota/cells/"
_STEP: Final = 9
"""No divisor of the number of a kind's cells: the sample has all kinds, causes and ways to stop."""


def _sample() -> dict[str, Scenario]:
    # Those of any operator have no objects of their own.
    with_objects = {id_: each for id_, each in SCENARIOS.items() if not each.of_plans}
    if "ASSAY_EVERY_CASE" in os.environ:
        return with_objects
    cells = [id_ for id_ in SCENARIOS if id_.startswith(_CELLS)]
    kept = {
        *cells[::_STEP],
        *(id_ for id_ in SCENARIOS.keys() - set(cells) if not SCENARIOS[id_].case),
    }
    return {id_: found for id_, found in with_objects.items() if id_ in kept}


SAMPLED: Final[Mapping[str, Scenario]] = _sample()
SUBJECTS: Final = sorted({id_.rpartition("/")[0] for id_ in SAMPLED})
"""Their functions, as ids without the case."""


def of_subject(subject: str) -> list[Scenario]:
    """The cases of a function."""
    return [found for id_, found in SAMPLED.items() if id_.rpartition("/")[0] == subject]
