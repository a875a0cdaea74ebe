"""OP-013: a process may end by itself for a lost lease, and for nothing else."""

from __future__ import annotations

from conformance.norm.verdict import Outcome
from tests.explore.by_hand import END, lease, process, verdict_on
from vocabulary.clock import SECOND


def test_a_process_that_had_led_may_end_when_its_lease_is_lost() -> None:
    entries = (process("started"), lease(1 * SECOND), process("ended", 11 * SECOND), END)
    assert verdict_on("OP-013", *entries).outcome is Outcome.PASSED


def test_the_lease_of_a_process_before_a_restart_excuses_no_end() -> None:
    restarted = (process("killed", 2 * SECOND), process("started", 3 * SECOND))
    entries = (process("started"), lease(1 * SECOND), *restarted, process("ended", 11 * SECOND))
    assert verdict_on("OP-013", *entries, END).outcome is Outcome.FAILED
