"""Checkers do not change unnoticed: every verdict on stored histories is recorded.

A difference is no mistake by itself. If it is meant, record the verdicts anew and have the
difference reviewed: `python -m tests.claims.record`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import claims
from tests.claims.recorded import described, histories, verdicts_path

RECORDED = histories()


@pytest.mark.parametrize("history", RECORDED, ids=lambda path: path.name.partition(".")[0])
def test_every_verdict_is_the_one_that_was_recorded(history: Path) -> None:
    assert described(history) == verdicts_path(history).read_text()


def test_each_claim_is_met_in_a_recording() -> None:
    lines = [line for path in RECORDED for line in verdicts_path(path).read_text().splitlines()]
    met = {line.split()[0] for line in lines if line.split()[1] == "passed,"}
    # Those of suite operator are put to the test by tests/explore.
    judged = {
        claim.id
        for claim in claims.load()
        if claim.judge is not None and not claim.id.startswith("OP-")
    }
    assert sorted(judged - met) == []
