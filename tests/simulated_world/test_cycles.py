"""The end of a run leaves nothing to the cycle collector."""

from __future__ import annotations

import gc

import pytest

from conformance.implementations.ours import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS


@pytest.mark.parametrize(
    "scenario",
    [
        "appwrapper/deletion-steps/refused-delete-is-sent-again/throttled",
        "appwrapper/interruptions/deleted-in-every-phase/failed",
        "appwrapper/operator-restarts/within-the-deletion-delay/recreated",
        "appwrapper/submission-checks/what-cannot-work-is-refused/path-that-stops-short",
    ],
)
def test_reference_counts_free_a_run(scenario: str) -> None:
    reference = implementation("reference", "appwrapper")
    run_one(SCENARIOS[scenario], reference, DEFAULT_SEED)  # loads what stays loaded
    gc.collect()
    gc.disable()
    try:
        run_one(SCENARIOS[scenario], reference, DEFAULT_SEED)
        assert gc.collect() == 0
    finally:
        gc.enable()
