"""OP-001: an operator that is kept from seeing what it writes about cannot come to rest."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, update, verdict_on
from vocabulary.clock import SECOND, Micros
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import OPERATOR, Entry, Fault, Mark


def fault(action: Any, t: Micros) -> Fault:
    effect = FaultEffect(hinders=OPERATOR, costs_us=60 * SECOND)
    broken = {"break_watch": {"kind": "v1/Pod", "gap": "60s"}}
    return Fault(n=0, t=t, action=action, fault=broken, text="break the watch", effect=effect)


@pytest.mark.parametrize(
    ("until", "reverted", "outcome"),
    [
        (40 * SECOND, (), Outcome.INCONCLUSIVE),
        (40 * SECOND, (fault("reverted", 10 * SECOND),), Outcome.FAILED),
        (90 * SECOND, (), Outcome.FAILED),
    ],
    ids=["in-force", "reverted", "over"],
)
def test_a_run_that_is_ended_while_a_fault_is_in_force_decides_nothing(
    until: Micros, reverted: tuple[Fault, ...], outcome: Outcome
) -> None:
    writes = [update(until - n * SECOND, "ConfigMap", 409) for n in (3, 2, 1)]
    ended = Mark(n=0, t=until, mark="not-stable", text="the same call again and again")
    entries: list[Entry] = [fault("injected", 0), *reverted, *writes, ended, END]
    assert verdict_on("OP-001", *entries).outcome is outcome
