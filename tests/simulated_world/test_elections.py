"""Operators that elect a leader, and what becomes of a run if one of them does not stand back."""

from __future__ import annotations

import pytest

from conformance.implementations.ours import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.runtime.leader_election import LeaderElection
from vocabulary.clock import Micros
from vocabulary.history import Process

TAKEN = SCENARIOS["appwrapper/operator-faults/lease-is-taken"]


def test_while_somebody_else_holds_the_lease_no_operator_leads_and_one_does_afterwards() -> None:
    run = run_one(TAKEN, implementation("reference", "appwrapper"), 1729)
    assert run.error == ""
    lives = [e.change for e in run.entries if isinstance(e, Process) and e.change != "started"]
    assert lives == ["leading", "following", "leading"]


def test_a_leader_that_goes_on_without_its_lease_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    led: set[str] = set()
    knows = LeaderElection.leads

    def leads(self: LeaderElection, now_us: Micros) -> bool:
        if knows(self, now_us):
            led.add(self.settings.identity)
        return self.settings.identity in led

    monkeypatch.setattr(LeaderElection, "leads", leads)
    run = run_one(TAKEN, implementation("reference", "appwrapper"), 1729)
    assert "not reached: nobody acted while nobody led" in run.error
