"""The claims: normative sentences with their sources, each with the checker that judges it.

A claim is one `Claim` literal followed by its checker, in a file by subject; adding one is
adding a file. `appwrapper` holds those of the AppWrapper fault tolerance document and the
invariants that follow from it, `mlbatch` those of the MLBatch guide. Beside them:

- `sources`, `decisions`: what claims cite, and what the suite decided where sources are silent.
- `templates`: whether a created object is an instance of a template.

`judge` applies all of them to one history.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Final

from conformance.claim import CLAIMS, Claim
from conformance.history_view import History
from conformance.verdict import Outcome, Verdict

_SUITES: Final = ("AW", "INV", "MLB")


@cache
def load() -> tuple[Claim, ...]:
    """Import every claim; all of them in order of suite and number."""
    for module in sorted(
        info.name for info in pkgutil.walk_packages(__path__, prefix=f"{__name__}.")
    ):
        importlib.import_module(module)
    return tuple(sorted(CLAIMS.values(), key=_order))


def judge(history: History) -> list[Verdict]:
    """The verdict of every claim that any cluster can judge, in the order of `load`.

    What the implementation lacks, or was run without, is not judged; the header has the reason.
    """
    left_out = {
        claim: Verdict(claim=claim, outcome=outcome, because=because)
        for operator in history.header.operators.values()
        for outcome, claims in (
            (Outcome.SKIPPED, operator.facts.skipped),
            (Outcome.UNSUPPORTED, operator.facts.unsupported),
        )
        for claim, because in claims.items()
    }
    return [
        left_out[claim.id] if claim.id in left_out else claim.judge(history)
        for claim in load()
        if claim.judge is not None
    ]


def _order(claim: Claim) -> tuple[int, int]:
    suite, _, number = claim.id.partition("-")
    return _SUITES.index(suite), int(number)
