"""No stored object is ever changed: the store, caches and the history share each snapshot."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.store import Key, Store
from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.running.run_options import DEFAULT_SEED
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS
from conformance.worlds.simulated.world import SimulatedWorld
from tests.determinism.tripwire import Tripwire

SAMPLE = [found for found in SCENARIOS.values() if not found.of_plans][::6]
"""Of every file of scenarios at least one: they stand in order of their files."""


@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda scenario: scenario.id)
def test_a_run_and_its_checkers_leave_every_stored_object_as_it_was_committed(
    scenario: Scenario,
) -> None:
    world = SimulatedWorld(
        scenario, implementations("reference", scenario.roles), DEFAULT_SEED, None
    )
    tripwire = Tripwire()
    tripwire.watch(world.cluster.store)
    scenario.steps(world)
    world.finish()
    claims.judge(History(*world.history()))
    assert len(tripwire.committed) > 5
    assert tripwire.changed() == []


def test_the_tripwire_tells_which_version_of_an_object_was_changed() -> None:
    store, tripwire = Store(), Tripwire()
    tripwire.watch(store)
    key = Key("Pod", "default", "a")
    first: dict[str, Any] = {"metadata": {"name": "a", "labels": {"app": "x"}}, "status": {}}
    store.put(key, first)
    store.put(key, {**first, "metadata": {"name": "a"}})
    assert tripwire.changed() == []
    first["metadata"]["labels"]["app"] = "y"
    assert tripwire.changed() == ["Pod default/a rv1"]


def test_the_tripwire_watches_what_was_stored_before_it_came() -> None:
    store, tripwire = Store(), Tripwire()
    obj = {"metadata": {"name": "a"}}
    store.put(Key("Pod", "default", "a"), obj)
    tripwire.watch(store)
    obj["metadata"]["name"] = "b"
    assert tripwire.changed() == ["Pod default/a rv1"]
