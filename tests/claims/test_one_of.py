"""Outcomes of a race that the norm leaves open: any of them, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.norm import Fate, exactly, one_of
from tests.report.sample_run import failing_run
from vocabulary.history import Write


class Subject:
    def __str__(self) -> str:
        return "crew/a"


SUBJECT: Any = Subject()
FIRST, SECOND, LAST = [each for each in failing_run().entries if isinstance(each, Write)][:3]
ORDERS = {3: "the pod was lost first", 2: "the user shrank it first"}


def raced(found: int) -> Any:
    return one_of(SUBJECT, "status.ready", ORDERS, found=found, at=LAST, since=FIRST, racing=SECOND)


@pytest.mark.parametrize("found", ORDERS)
def test_either_order_of_a_race_is_right(found: int) -> None:
    obligation = raced(found)
    assert (obligation.fate, obligation.at, obligation.by) == (Fate.MET, FIRST, LAST)


def test_what_no_order_leads_to_is_violated_and_both_events_are_evidence() -> None:
    obligation = raced(4)
    assert obligation.fate is Fate.VIOLATED
    assert obligation.evidence == (FIRST.n, SECOND.n, LAST.n)
    assert obligation.because.endswith(
        "status.ready of crew/a is 4; expected 3 (the pod was lost first), or 2 (the user shrank "
        "it first)."
    )


def test_one_outcome_is_no_race() -> None:
    with pytest.raises(ValueError, match="use exactly"):
        one_of(SUBJECT, "x", {3: "always"}, found=3, at=LAST, since=FIRST, racing=SECOND)


@pytest.mark.parametrize(("found", "fate"), [(3, Fate.MET), (2, Fate.VIOLATED)])
def test_exactly_is_one_value(found: int, fate: Fate) -> None:
    obligation = exactly(SUBJECT, "status.ready", 3, found=found, at=LAST, since=FIRST)
    assert obligation.fate is fate
    if fate is Fate.VIOLATED:
        assert obligation.because.endswith("status.ready of crew/a is 2; expected 3.")
