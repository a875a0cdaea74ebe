"""Counting pods by an index, as for large workloads, changes nothing in what is done."""

from __future__ import annotations

import pytest

from conformance.implementations.ours import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from reference_controller.runtime import cached_list
from vocabulary.history import history_digest


@pytest.mark.parametrize(
    "scenario",
    [
        "appwrapper/autopilot/tagged-node-is-avoided/err",
        "appwrapper/autopilot/eviction-at-the-limit-fails/at-once",
        "appwrapper/job-shapes/one-of-many-pods-is-not-replaced",
        "appwrapper/namesakes/pods-of-a-namesake-stand/not-collected",
        "appwrapper/interruptions/deleted-in-every-phase/failed",
        "appwrapper/deletion/replica-set-goes-last",
    ],
)
def test_histories_are_the_same(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = digest_of(scenario)
    monkeypatch.setattr(cached_list, "FEW", -1)
    assert digest_of(scenario) == one_by_one


def digest_of(scenario: str) -> str:
    result = run_one(SCENARIOS[scenario], implementation("reference", "appwrapper"), DEFAULT_SEED)
    return history_digest(result.header, result.entries)
