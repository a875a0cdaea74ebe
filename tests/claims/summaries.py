"""Every verdict on retold histories, summed up: a line for each claim and way of retelling.

A line says how many histories the claim passed and failed on, of how many it says nothing, how many
obligations were decided, and a digest of all that the verdicts say: positions, and the numbers in
their explanations. Other words change no digest.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from conformance import claims
from conformance.history import History
from conformance.norm.verdict import Outcome, Verdict
from tests.claims.recorded import FOLDER, histories
from tests.claims.retold import WAYS, Chance
from tests.claims.watched import Recording
from vocabulary.history import read_history

RETOLD: Final = FOLDER / "retold"
ROUNDS: Final = 2
_NUMBERS: Final = re.compile(r"\d+")


def summary_path(way: str) -> Path:
    return RETOLD / f"{way}.verdicts"


def summarised(way: str) -> str:
    """Evaluate all claims on all stored histories, transformed in that way."""
    outcomes: Counter[tuple[str, Outcome]] = Counter()
    armed: Counter[str] = Counter()
    said: dict[str, list[str]] = {}
    for path in histories():
        for number in range(ROUNDS):
            retold = WAYS[way](_recording(path), Chance(f"{path.name} {way} {number}"))
            for verdict in claims.judge(History(*retold)):
                outcomes[verdict.claim, verdict.outcome] += 1
                armed[verdict.claim] += verdict.armed
                said.setdefault(verdict.claim, []).append(_said(verdict))
    return "".join(
        f"{claim}: {outcomes[claim, Outcome.PASSED]} passed, {outcomes[claim, Outcome.FAILED]} "
        f"failed, {outcomes[claim, Outcome.INCONCLUSIVE]} not, armed {armed[claim]}, "
        f"{hashlib.sha256(' '.join(told).encode()).hexdigest()[:10]}\n"
        for claim, told in sorted(said.items())
    )


@cache
def _recording(path: Path) -> Recording:
    header, entries, _, _ = read_history(path)
    return header, entries


def _said(verdict: Verdict) -> str:
    violations = [
        (found.at, found.evidence, _numbers(found.because)) for found in verdict.violations
    ]
    return f"{verdict.outcome.value} {verdict.kept} {violations} {_numbers(verdict.because)}"


def _numbers(text: str) -> str:
    return " ".join(_NUMBERS.findall(text))
