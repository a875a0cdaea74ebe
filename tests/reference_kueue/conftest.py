"""A world with Kueue's reference, in which a test takes the steps of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.implementations.ours import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.scenarios import SCENARIOS
from conformance.worlds.simulated.world import SimulatedWorld


@pytest.fixture
def world() -> Iterator[SimulatedWorld]:
    scenario = SCENARIOS["kueue/kinds/pod-is-never-ready"]
    kueue = implementation("reference", "kueue")
    made = SimulatedWorld(scenario, {"kueue": kueue}, DEFAULT_SEED, None)
    yield made
    made.close()
