"""Jobs and their Workloads, where there are too many of either."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.implementation import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.handle import QueuedJob, queue
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller.kueue.names import QUEUE, WORKLOAD
from vocabulary.clock import SECOND
from vocabulary.objects import meta, name_of


@pytest.fixture
def world() -> Iterator[SimulatedWorld]:
    scenario = SCENARIOS["kueue/kinds/pod-is-never-ready"]
    role = {"kueue": implementation("reference", "kueue")}
    made = SimulatedWorld(scenario, role, DEFAULT_SEED, None)
    queue(made)
    yield made
    made.close()


def test_of_two_workloads_of_one_job_one_is_left(world: SimulatedWorld) -> None:
    its = QueuedJob.of(world, "a", "run forever")
    world.until(its.is_ready())
    stored = its.workload
    kept = {key: meta(stored)[key] for key in ("labels", "ownerReferences")}
    world.create({**stored, "metadata": {**kept, "name": "z"}, "status": {}})
    world.wait(5 * SECOND)
    assert [name_of(each) for each in world.list(WORKLOAD)] == [name_of(stored)]
    assert its.state.is_admitted


def test_a_job_that_leaves_its_queue_while_it_waits_has_no_workload(world: SimulatedWorld) -> None:
    first = QueuedJob.of(world, "a", "run forever")
    world.until(first.is_ready())
    its = QueuedJob.of(world, "b", "run forever")
    world.until(its.waits())
    its.patch({"metadata": {"labels": {QUEUE: None}}})
    world.wait(5 * SECOND)
    assert not its.workload
